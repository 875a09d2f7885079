#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All checks that need a GPU, in one command of at most ten minutes; one JSON of what was measured.

    tests/gpu/run.py BUILD [--out FOLDER] [--only NAME,NAME] [--programs FOLDER] [--strict]

BUILD holds proftrace and libproftrace.so. The programs are compiled by nvcc where it is; --programs takes compiled ones.
Writes FOLDER/gpu-baseline.json (commit it as tests/gpu/baselines/DATE-GPU.json) and raw CUPTI buffers. At the end it says of each
sentence that must hold on a GPU (holds.py) whether it does. Exit 1 when a check failed or came too late, 77 where no GPU can be
used; a check that cannot be made here is skipped and says why, with --strict that fails, too.
"""
import argparse
import importlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE)) + os.sep  # a baseline has no paths of one machine
sys.path.insert(0, HERE)
from gpu_case import Context, Late, Skip  # noqa: E402
from holds import judge  # noqa: E402

MODULES = ("amounts", "ends", "clocks", "torch_profiler", "costs", "others", "raw")
# name, source, libcudart, the only check that needs it
PROGRAMS = (("work_shared", "work.cu", "shared", ""), ("work_static", "work.cu", "static", ""),
            ("cupti_alone", "cupti_alone.cu", "shared", "costs.cupti_alone"))
LIMIT_S = 570


def compile_programs(folder, labels):
    """name -> path of what these checks need; empty where there is no nvcc."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    paths = {name: os.path.join(folder, name) for name, _, _, check in PROGRAMS if not check or check in labels}
    compilers = [subprocess.Popen([nvcc, "-O2", "-cudart", cudart, "-o", paths[name], os.path.join(HERE, "programs", source), "-ldl"])
                 for name, source, cudart, _ in PROGRAMS
                 if name in paths and not os.path.exists(paths[name]) and os.path.exists(nvcc)]
    for compiler in compilers:
        compiler.wait()
    return {name: path for name, path in paths.items() if os.path.exists(path)}


def machine():
    told = {"kernel": platform.release(), "python": platform.python_version(), "date": time.strftime("%Y-%m-%d", time.gmtime())}
    smi = shutil.which("nvidia-smi")
    if smi:
        done = subprocess.run([smi, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"],
                              capture_output=True, text=True, timeout=60)
        told["gpus"] = done.stdout.strip().splitlines()
    return told


def why_no_gpu(context):
    """None where CUDA runs; else one line that says what is missing."""
    if "work_shared" in context.programs:
        done = context.bare([context.programs["work_shared"], "plain", "1"], check=False)
        return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it ended early"
    if not importlib.util.find_spec("torch"):
        return "neither nvcc nor torch is installed"
    done = context.bare([sys.executable, "-c", "import torch; torch.zeros(1).cuda()"], check=False)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def run_check(check, context):
    begin = time.monotonic()
    try:
        result = {"status": "ok", "values": check(context)}
    except Skip as why:
        result = {"status": "skipped", "reason": str(why)}
    except Late:
        result = {"status": "failed", "reason": f"no time was left: all checks together have {LIMIT_S} s"}
    except subprocess.TimeoutExpired as why:
        result = {"status": "failed", "reason": f"no end within {why.timeout} s: {why.cmd}"}
    except Exception as why:  # a check that breaks must not take the others along
        result = {"status": "failed", "reason": str(why)[:2000], "trace": traceback.format_exc()[-1500:].replace(ROOT, "")}
    result["seconds"] = round(time.monotonic() - begin, 1)
    return result


def chosen(only):
    """(label, check) of all checks, or of those whose label contains one of the names."""
    for name in MODULES:
        for check in importlib.import_module(f"checks.{name}").CHECKS:
            label = f"{name}.{check.__name__}"
            if not only or any(word in label for word in only.split(",")):
                yield label, check


def say_what_holds(checks, only):
    """The sentences (of a part of the checks those that it can tell of), and how many checks came to what end."""
    for sentence, verdict in judge(checks).items():
        if not only or "was not run" not in verdict:
            print(f"{sentence}: {verdict[:400]}")
    ends = [c["status"] for c in checks.values()]
    print(", ".join(f"{ends.count(status)} {status}" for status in ("ok", "failed", "skipped")), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--out", default="gpu-results")
    parser.add_argument("--only")
    parser.add_argument("--programs")
    parser.add_argument("--strict", action="store_true")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    programs = args.programs or tempfile.mkdtemp(prefix="proftrace-gpu-programs-")
    checks = dict(chosen(args.only))
    if not checks:
        parser.error(f"no check has {args.only} in its name")
    context = Context(os.path.abspath(args.build), compile_programs(programs, checks), os.path.abspath(args.out), LIMIT_S)
    reason = why_no_gpu(context)
    if reason:
        print(f"run.py: no GPU work can be done here: {reason}", file=sys.stderr)
        context.close()
        return 77
    baseline = {"machine": machine(), "checks": {}}
    for label, check in checks.items():
        result = baseline["checks"][label] = run_check(check, context)
        baseline["holds"] = judge(baseline["checks"])
        print(f"{result['status']:8} {label} ({result['seconds']} s) {result.get('reason', '')[:300]}", flush=True)
        with open(os.path.join(args.out, "gpu-baseline.json"), "w", encoding="utf-8") as out:
            json.dump(baseline, out, indent=1, sort_keys=True)
            out.write("\n")
    context.close()
    if not args.programs:
        shutil.rmtree(programs, ignore_errors=True)
    say_what_holds(baseline["checks"], args.only)
    bad = ("failed", "skipped") if args.strict else ("failed",)
    return 1 if any(c["status"] in bad for c in baseline["checks"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
