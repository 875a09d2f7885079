#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every code example of the five documents runs, as it stands there: only the names of imports are ours, and what is no program by itself gets what
it leaves out (each such place says so). The commands that the documents start are stand-ins; `uv run X` is X. PROFTRACE_TEST_TORCH names an
interpreter with PyTorch, Lightning and psutil: without them those examples are skipped."""
import ast
import inspect
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PACKAGE = ROOT / "preload/python"
PYTHON = os.environ.get("PROFTRACE_TEST_TORCH", sys.executable)
sys.path[:0] = [str(PACKAGE), str(HERE), str(HERE.parent / "python"), str(HERE.parent)]
os.environ["PROFTRACE_COMMAND"] = str(BUILD / "proftrace")
import proftrace  # noqa: E402
import pythons  # noqa: E402
from blocks import blocks  # noqa: E402
from sampled import no_samples_of_python  # noqa: E402

UV = '#!/bin/sh\n[ "$1" = run ] && shift\ncase $1 in *.py) exec python "$@" ;; esac\nexec "$@"\n'
STAGES = "dataset-fetcher", "dinov3-fetcher", "dataset-generator", "augment-checker", "detector-train", "detector-infer", "detector-grader"


def has(modules):
    return not subprocess.run([PYTHON, "-c", f"import {modules}"], capture_output=True, check=False, timeout=100).returncode


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="documents-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program("uv", UV)
        self.program("python", f'#!/bin/sh\nexec {PYTHON} "$@"\n')

    def program(self, name, text):
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def environment(self, **more):
        base = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
        return {**base, "PATH": f"{self.folder}/bin:{ROOT}/scripts:{BUILD}:{base['PATH']}", "PYTHONPATH": f"{PACKAGE}:{self.folder}", "PYTHONDONTWRITEBYTECODE": "1",
                "PROFTRACE_COMMAND": str(BUILD / "proftrace"), **more}

    def shell(self, text, stdin=None, **more):
        done = subprocess.run(["bash", "-e", "-c", text], cwd=self.folder, input=stdin, capture_output=True, text=True, timeout=600, check=False,
                              env=self.environment(**more))
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-3000:])
        return done.stdout

    def python(self, text, *before, **more):
        done = subprocess.run([*before, PYTHON, "-c", text], cwd=self.folder, capture_output=True, text=True, timeout=600, check=False, env=self.environment(**more))
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done.stdout


class PipelineProfile(Case):
    """Document 000."""

    def setUp(self):
        super().setUp()
        self.program("pipeline-profile", f'#!/bin/sh\nexec {ROOT}/scripts/pipeline-profile "$@"\n')
        for name in STAGES:
            self.program(name, f'#!/bin/sh\ncp "$PROFTRACE_PIPELINE_CONFIG" {self.folder}/{name}.json\n')
        shutil.copy(BUILD / "proftrace", self.folder / "bin/proftrace")
        shutil.copy(BUILD / "libproftrace.so", self.folder / "bin/libproftrace.so")
        self.write("config.json", blocks("pipeline_profile", "json")["Configuration"])

    def report(self, folder="proftrace.data/latest"):
        return json.loads((self.folder / folder / "report.json").read_text(encoding="utf-8"))

    def test_each_command(self):
        commands = [line for line in blocks("pipeline_profile", "bash")["CLI"].splitlines() if line and not line.startswith("#")]
        self.assertEqual(len(commands), 4)
        for command, dataset, epochs in zip(commands, ("coco128", "coco32", "coco128", "coco128"), (50, 10, 50, 50)):
            self.shell(command)
            report = self.report()
            self.assertEqual((report["dataset"], report["train_epochs"]), (dataset, epochs), command)
            self.assertEqual([stage["status"] for stage in report["stages"]], ["ok", "ok", "skipped", "ok", "ok", "ok", "ok", "ok", "skipped"])
            given = json.loads((self.folder / "detector-train.json").read_text(encoding="utf-8"))
            self.assertEqual((given["run"]["dataset"], given["train"]["epochs"], given["train"]["wandb_enabled"]), (dataset, epochs, False))
            if "--no-gpu-sampling" in command:
                self.assertIn("gpu_util_percent_avg_reason", report["stages"][0])
        self.assertEqual(len(self.report("profiles")["stages"]), 9)

    def test_the_report_has_the_keys_of_the_example(self):
        self.shell("uv run pipeline-profile --config config.json")
        example, report = json.loads(blocks("pipeline_profile", "json")["JSON Report"]), self.report()
        self.assertLessEqual(set(example), set(report))
        self.assertLessEqual(set(example["stages"][0]), set(report["stages"][0]))

    def test_python(self):
        self.write("pipeline_config.py", "import json\ndef load_pipeline_config(path):\n    with open(path) as file:\n        return json.load(file)\n")  # the user's
        self.python(blocks("pipeline_profile", "python")["Python"])
        self.assertEqual([stage["stage"] for stage in self.report()["stages"]][5], "train")

    def test_just(self):
        recipe = blocks("pipeline_profile", "bash")["Integration"]
        self.assertIn("\nprofile-pipeline:\n", recipe)
        if shutil.which("just"):
            self.write("justfile", recipe)
            self.shell("just profile-pipeline")
        else:
            self.shell("\n".join(line.strip() for line in recipe.splitlines() if line.startswith("    ")))
        self.assertEqual(len(self.report()["stages"]), 9)

    def test_our_temporary_configuration_is_that_of_the_document(self):
        names = {"Path": pathlib.Path, "profile_dataset": "coco32", "profile_epochs": 10}
        exec(blocks("pipeline_profile", "python")["Temp Config Generation"], names)
        config = {"profile": {"dataset": "coco128"}, "paths": {"data": "data", "models": f"{self.folder}/models"}, "run": {"dataset": "coco128", "seed": 3},
                  "train": {"epochs": 50, "wandb_enabled": True, "lr": 0.1}, "other": [1, 2]}
        self.write("config.json", json.dumps(config))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)  # its relative paths are
        wanted = names["create_temp_config"](config, "/tmp")
        self.shell("uv run pipeline-profile --config config.json --dataset coco32 --train-epochs 10")
        self.assertEqual(json.loads((self.folder / "detector-train.json").read_text(encoding="utf-8")), wanted)

    def test_a_monitor_of_the_users_own_sees_what_it_sees_without_us(self):
        if not has("psutil"):
            self.skipTest(f"{PYTHON} has no psutil")
        text = blocks("pipeline_profile", "python")["Process Monitoring"].replace("Popen(cmd, ...)", "Popen(cmd)")  # its dots stand for options
        before = ("import time, sys\nstop_event, history = __import__('threading').Event(), []\nsample_nvidia_smi_util = sample_nvidia_smi_memory = lambda: 0\n"
                  "cmd = [sys.executable, '-c', 'block = b\"x\" * (200 << 20)\\nimport time\\ntime.sleep(1.2)']\n")
        after = "\nmonitor_thread.join()\nprint(proc.returncode, len(history) in (3, 4), max(one['rss'] for one in history) > 200)"
        for prefix in [], [BUILD / "proftrace", "run", "--no-report", "-o", "monitored", "--"]:
            self.assertEqual(self.python(before + text + after, *prefix), "0 True True\n")


class Guide(Case):
    """Document 001: nothing but the environment is changed."""

    def setUp(self):
        super().setUp()
        # Their programs: a training, and an export of data.
        self.write("ml_ops/__init__.py", "")
        self.write("ml_ops/train.py", "import sys\nprint('train', *sys.argv[1:])\n")
        self.write("ml_ops/data.py", "import sys\ndef parse(i):\n    return sum(range(i))\ndef export_yolo_format():\n    for i in range(20000):\n        parse(i)\n"
                                     "export_yolo_format()\nprint('data', *sys.argv[1:])\n")

    def traced(self, heading):
        return self.shell(blocks("guide", "bash")[heading], LD_PRELOAD=str(BUILD / "libproftrace.so"), PROFILE_OUTPUT_DIR="runs/profiling")

    def test_the_variable_and_the_folder(self):
        for heading, said in ("Enabling Profiling", "train train-ocr data/\n"), ("Profile OCR Training", "train train-ocr data/ccpd_small --max-images 1000\n"), \
                ("Profile Data Export", "data preprocess data/raw data/processed\n"):
            shutil.rmtree(self.folder / "runs", ignore_errors=True)
            self.assertIn(said, self.traced(heading))
            self.assertTrue((self.folder / "runs/profiling/latest").exists(), heading)
        self.assertEqual(proftrace.open(str(self.folder / "runs/profiling/latest")).processes[-1]["exit"], "exit 0")

    def test_switched_off(self):
        self.shell("uv run python -m ml_ops.train train-ocr data/", ENABLE_PROFILING="false", LD_PRELOAD=str(BUILD / "libproftrace.so"), PROFILE_OUTPUT_DIR="runs/profiling")
        self.assertFalse((self.folder / "runs").exists())

    @unittest.skipIf(no_samples_of_python(BUILD / "proftrace"), no_samples_of_python(BUILD / "proftrace"))
    def test_stats_of_the_data_export(self):
        self.python("import runpy, sys\nsys.argv = ['ml_ops.data']\nrunpy.run_module('ml_ops.data', run_name='__main__')", BUILD / "proftrace", "run", "--no-report", "-o",
                    "runs/profiling/run", "--")
        self.shell(f"{BUILD}/proftrace export runs/profiling/run --to pstats -o runs/profiling/export_yolo_format.stats")
        said = self.shell(blocks("guide", "bash")["View cProfile Results"].replace("cat ", "cat >/dev/null "), stdin="sort time\nstats 5\nquit\n")
        self.assertRegex(said, r"data\.py:\d+\(parse\)")

    def test_its_configuration_is_a_window(self):
        text = blocks("guide", "yaml")["Configuration"]
        every = int(re.search(r"profile_every_n_steps: (\d+)", text)[1])
        said = self.shell(f"PROFTRACE_WINDOW=every_n_steps={every},validation,plain_names {BUILD}/proftrace run --no-report -o run -- true 2>&1")
        self.assertNotIn("PROFTRACE_WINDOW", said)  # no word of it is unknown


class PerformanceProfiler(Case):
    """Document 002: performance_profiler.py has its checks."""

    def said(self, python, *words):
        done = subprocess.run([python, HERE / "performance_profiler.py", *words], env=self.environment(), capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_on_each_python(self):
        for python in pythons.found():
            with self.subTest(str(python)):
                self.assertEqual(len(self.said(python.path)), 15)

    def test_with_pytorch(self):
        for path in PYTHON, *(python.path for python in pythons.found()):
            if not subprocess.run([path, "-c", "from torch.utils import flop_counter"], capture_output=True, check=False).returncode:
                self.assertEqual(len(self.said(path, "torch")), 17)
                return
        self.skipTest("no Python here has PyTorch 2.1 or later")


@unittest.skipUnless(has("lightning.pytorch, yaml"), f"{PYTHON} has no Lightning")
class Callback(Case):
    """Document 003."""

    def setUp(self):
        super().setUp()
        shutil.copy(HERE / "train.py", self.folder / "train.py")
        self.write("ocr/train.py", (HERE / "train.py").read_text(encoding="utf-8"))
        self.write("configs/callbacks/profiler.yaml", self.adapted(blocks("callback", "yaml")["Config File: `configs/callbacks/profiler.yaml`"]))

    @staticmethod
    def adapted(text):
        return text.replace("ocr.callbacks.profiler", "proftrace.lightning")

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*.json"))

    def test_our_callback_has_the_documents_parameters(self):
        text = blocks("callback", "python")["1. Create `ProfilerCallback`"]
        said = self.python(f"import inspect\n{text}\nfrom proftrace.lightning import ProfilerCallback as Ours\n"
                           "theirs, ours = ([(one.name, one.default) for one in inspect.signature(of.__init__).parameters.values()] for of in (ProfilerCallback, Ours))\n"
                           "print(ours[:len(theirs)] == theirs, len(theirs))\nProfilerCallback()")
        self.assertEqual(said, "True 11\n")

    def test_its_life_cycle_is_ours(self):
        theirs = {node.name: [argument.arg for argument in node.args.args] for node in ast.parse(blocks("callback", "python")["6. Callback Lifecycle"]).body}
        said = self.python("import inspect, json\nfrom proftrace.lightning import ProfilerCallback\nprint(json.dumps({name: list(inspect.signature(function).parameters) "
                           f"for name in {sorted(theirs)} for function in [getattr(ProfilerCallback, name)]}}))")
        self.assertEqual(json.loads(said), theirs)

    def test_schedule(self):
        text = blocks("callback", "python")["2. Profiler Schedule Configuration"]
        said = self.python(f"from torch.profiler import schedule\n{text}\nprint([profiler_schedule(step).name for step in (0, 9, 14, 19, 20, 119, 120)])")
        self.assertEqual(ast.literal_eval(said), ["NONE", "NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE"])

    def test_the_module(self):
        self.assertEqual(self.python(self.adapted(blocks("callback", "python")["In `callbacks/__init__.py`:"]) + "print(__all__)"), "['ProfilerCallback']\n")

    def test_its_unit_tests(self):  # they are empty there; tests/package/test_callbacks.py has them
        names = {}
        exec(blocks("callback", "python")["Unit Tests (`tests/test_profiler_callback.py`):"], names)
        self.assertEqual([names[name]() for name in ("test_profiler_schedule", "test_trace_export", "test_bottleneck_detection", "test_disabled_profiler")], [None] * 4)

    def test_for_chosen_epochs(self):
        out = self.shell(blocks("callback", "bash")["Usage in training:"])
        self.assertEqual(self.files(), ["profiler_traces/epoch_1.json", "profiler_traces/epoch_2.json"])
        for words in "[Profiler] Trace exported: profiler_traces/epoch_1.json", "[Profiler] Top 15 CPU operations:", "Forward pass: ", "trained 120":
            self.assertIn(words, out)

    def test_as_it_is_configured(self):
        self.assertEqual(self.shell("python ocr/train.py"), "trained 120\n")
        self.assertEqual(self.files(), [])  # enabled: false

    def test_integration(self):
        self.shell(blocks("callback", "bash")["Integration Test:"])
        self.assertEqual(self.files(), ["profiler_traces/epoch_1.json", "profiler_traces/epoch_2.json"])

    def test_quick(self):
        self.shell(blocks("callback", "bash")["Quick Test Commands"])
        self.assertEqual(self.files(), ["profiler_traces/epoch_1.json"])
        keys = set(re.findall(r'"(\w+)": ', inspect.cleandoc(ast.get_docstring(ast.parse(blocks("callback", "python")["3. Bottleneck Detection"]).body[0]))))
        found = proftrace.analyze_trace(self.folder / "profiler_traces/epoch_1.json")
        self.assertLessEqual(keys, set(found))
        self.assertTrue(keys and found["top_cpu_ops"] and not math.isnan(found["dataloader_time_pct"]))

    def test_a_profiler_of_the_users_own(self):
        text = blocks("callback", "python")["Example Implementation:"]
        before = ("import torch\nfrom torch.profiler import profile, ProfilerActivity\nnet, total_steps = torch.nn.Linear(8, 8), 8\n"
                  "train_step = lambda: net(torch.ones(4, 8)).sum().backward()\n")
        for more in {}, {"LD_PRELOAD": str(BUILD / "libproftrace.so"), "PROFTRACE_DIR": str(self.folder / "data")}:
            shutil.rmtree(self.folder / "log", ignore_errors=True)
            self.python(before + text, **more)
            self.assertTrue(list(self.folder.glob("log/*.pt.trace.json")), more)
            found = proftrace.analyze_trace(next(self.folder.glob("log/*.pt.trace.json")))
            self.assertIn("aten::addmm", [name for name, _ in found["top_cpu_ops"]])


@unittest.skipUnless(has("lightning.pytorch, yaml"), f"{PYTHON} has no Lightning")
class Lightning(Case):
    """Document 004."""

    def setUp(self):
        super().setUp()
        self.write("src/mlops_project/train.py", (HERE / "train.py").read_text(encoding="utf-8"))
        self.write("configs/config.yaml", blocks("lightning", "yaml")["Method 2: Configuration"])

    def traces(self, model):
        folder = self.folder / "outputs/profiler_logs" / model
        self.assertTrue((folder / "chrome_trace.json").exists())
        return len(list(folder.glob("*.pt.trace.json")))

    def test_command_line(self):
        self.shell(blocks("lightning", "bash")["Method 1: Command Line"])
        self.assertEqual((self.traces("BaselineCNN"), self.traces("ResNet")), (2, 2))

    def test_quick(self):
        self.shell(blocks("lightning", "bash")["Quick Performance Check"])
        self.assertEqual(self.traces("BaselineCNN"), 2)
        self.assertIn("--logdir=outputs/profiler_logs/BaselineCNN", blocks("lightning", "bash")["TensorBoard"])  # tests/torch/viewers.py opens such a folder

    def test_comprehensive(self):
        self.shell(blocks("lightning", "bash")["Comprehensive Analysis"])
        self.assertEqual(self.traces("BaselineCNN"), 3)

    def test_cuda(self):
        self.assertRegex(self.python(blocks("lightning", "python")["No GPU Profiling"]), "^CUDA available: (True|False)\n$")


if __name__ == "__main__":
    unittest.main()
