#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All checks that need a GPU, in one command of at most ten minutes; one JSON of what was measured.

    tests/gpu/run.py BUILD [--out FOLDER] [--only NAME] [--programs FOLDER]

BUILD holds proftrace and libproftrace.so. The programs are compiled by nvcc where it is; --programs takes compiled ones.
Writes FOLDER/gpu-baseline.json (commit it as tests/gpu/baselines/DATE-GPU.json) and raw CUPTI buffers. Exit 1 when a check
failed, 77 where no GPU can be used; a check that cannot be made here is skipped and says why.
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
sys.path.insert(0, HERE)
from gpu_case import Context, Skip  # noqa: E402

MODULES = ("amounts", "clocks", "torch_profiler", "others", "raw", "costs")
LIMIT_S = 540


def compile_programs(folder):
    """name -> path; empty where there is no nvcc."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    made = {}
    for name, cudart in (("work_shared", "shared"), ("work_static", "static")):
        path = os.path.join(folder, name)
        if not os.path.exists(path) and os.path.exists(nvcc):
            subprocess.run([nvcc, "-O2", "-cudart", cudart, "-o", path, os.path.join(HERE, "programs", "work.cu")], check=False)
        if os.path.exists(path):
            made[name] = path
    return made


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
    except subprocess.TimeoutExpired as why:
        result = {"status": "failed", "reason": f"no end within {why.timeout} s: {why.cmd}"}
    except Exception as why:  # a check that breaks must not take the others along
        result = {"status": "failed", "reason": str(why)[:2000], "trace": traceback.format_exc()[-1500:]}
    result["seconds"] = round(time.monotonic() - begin, 1)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--out", default="gpu-results")
    parser.add_argument("--only")
    parser.add_argument("--programs")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    programs = args.programs or tempfile.mkdtemp(prefix="proftrace-gpu-programs-")
    context = Context(os.path.abspath(args.build), compile_programs(programs), os.path.abspath(args.out))
    reason = why_no_gpu(context)
    if reason:
        print(f"run.py: no GPU work can be done here: {reason}", file=sys.stderr)
        context.close()
        return 77
    baseline = {"machine": machine(), "checks": {}}
    begin = time.monotonic()
    for name in MODULES:
        for check in importlib.import_module(f"checks.{name}").CHECKS:
            label = f"{name}.{check.__name__}"
            if args.only and args.only not in label:
                continue
            late = time.monotonic() - begin > LIMIT_S
            result = {"status": "skipped", "reason": "no time left"} if late else run_check(check, context)
            baseline["checks"][label] = result
            print(f"{result['status']:8} {label} ({result.get('seconds', 0)} s) {result.get('reason', '')[:300]}", flush=True)
            with open(os.path.join(args.out, "gpu-baseline.json"), "w", encoding="utf-8") as out:
                json.dump(baseline, out, indent=1, sort_keys=True)
                out.write("\n")
    context.close()
    if not args.programs:
        shutil.rmtree(programs, ignore_errors=True)
    return 1 if any(c["status"] == "failed" for c in baseline["checks"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
