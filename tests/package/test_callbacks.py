#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The callbacks in trainings with Lightning and transformers from PyPI: traces for the chosen epochs only, the same losses to the last
digit with the callback, without it and with it disabled, a profiler of the program's own left alone. And what a Profiler counts of PyTorch.
PROFTRACE_TEST_TORCH names an interpreter that has them."""
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PACKAGE = HERE.parent.parent / "preload/python"
PYTHON = os.environ.get("PROFTRACE_TEST_TORCH", "/usr/bin/python3")
sys.path.insert(0, str(PACKAGE))
os.environ["PROFTRACE_COMMAND"] = str(BUILD / "proftrace")
import proftrace  # noqa: E402
from proftrace.trace import read_trace  # noqa: E402

OF_STEPS = 2, 5, 6, 7, 8  # of phases.h: what a step consists of, from the wait for data to the optimizer

# What the package does while it trains: each of its functions that is called, each function of C that it calls, and each torch.profiler.
COUNTED = """
import collections, json, sys
calls = collections.Counter()
def count(frame, event, argument):
    if "/proftrace/" in frame.f_code.co_filename and event in ("call", "c_call"):
        calls[frame.f_code.co_name if event == "call" else "C " + argument.__name__] += 1
    elif event == "call" and frame.f_code.co_filename.endswith("torch/profiler/profiler.py") and frame.f_code.co_name == "__init__":
        calls["torch.profiler"] += 1
def counted(train):
    sys.setprofile(count)
    train()
    sys.setprofile(None)
    print(json.dumps(calls))
"""
COST = """
import json, time
from lightning.pytorch import Callback
from proftrace.lightning import ProfilerCallback
def cost_ns(callback, steps=20000):
    begin = time.process_time_ns()
    for number in range(steps):
        callback.on_train_batch_start(None, None, None, number)
        callback.on_before_backward(None, None, None)
        callback.on_after_backward(None, None)
        callback.on_train_batch_end(None, None, None, None, number)
    return (time.process_time_ns() - begin) / steps
rounds = [[cost_ns(ProfilerCallback(enabled=False)), cost_ns(Callback())] for _ in range(9)]
print(json.dumps([min(one) for one in zip(*rounds)]))
"""
MARKS = "step", "epoch", "mark", "counter", "range_begin", "range_end"
LIGHTNING = """
import json, os, sys, time, torch, warnings, logging
sleeps_s = float(os.environ.get("SLEEPS_S", 0))
validates_after = int(os.environ.get("VALIDATES_AFTER", 0))
warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning.pytorch as pl
torch.manual_seed(1)
losses = []
class Small(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
    def training_step(self, batch, number):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        losses.append(loss.item())
        return loss
    def validation_step(self, batch, number):
        time.sleep(0.1)
        self.net(batch[0])
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
generator = torch.Generator().manual_seed(2)
class Data(torch.utils.data.TensorDataset):
    def __getitem__(self, number):
        time.sleep(sleeps_s)
        return super().__getitem__(number)
data = (Data if sleeps_s else torch.utils.data.TensorDataset)(torch.randn(320, 32, generator=generator), torch.randint(0, 4, (320,), generator=generator))
options = json.loads(sys.argv[1])
callbacks, callback = [], None
if options is not None:
    from proftrace.lightning import ProfilerCallback
    callback = ProfilerCallback(**options)
    callbacks = [callback]
trainer = pl.Trainer(max_epochs=3, callbacks=callbacks, val_check_interval=validates_after or None, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, accelerator="cpu")
def fit():
    trainer.fit(Small(), torch.utils.data.DataLoader(data, batch_size=16), torch.utils.data.DataLoader(data, batch_size=160) if validates_after else None)
if sys.argv[2:] == ["counted"]:
    counted(fit)
elif len(sys.argv) > 2:
    with torch.profiler.profile() as own:
        fit()
    assert own.key_averages()
else:
    fit()
print(json.dumps({"losses": losses, "messages": callback.messages if callback else []}))
"""
TRANSFORMERS = """
import json, sys, torch, transformers
from transformers import Trainer, TrainingArguments, BertConfig, BertForSequenceClassification
transformers.logging.set_verbosity_error()
torch.manual_seed(1)
config = BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=32)
model = BertForSequenceClassification(config)
data = [{"input_ids": torch.randint(0, 50, (12,)), "labels": torch.tensor(i % 2)} for i in range(64)]
callbacks = []
options = json.loads(sys.argv[1])
if options is not None:
    from proftrace.transformers import ProfilerCallback
    callbacks = [ProfilerCallback(**options)]
class Lines(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter(data)
without_length = {"max_steps": 24} if sys.argv[3:] == ["without length"] else {}
evaluates = {"eval_strategy": "steps", "eval_steps": 8} if sys.argv[3:] == ["evaluates"] else {}
arguments = TrainingArguments(sys.argv[2], **evaluates, num_train_epochs=3, **without_length, per_device_train_batch_size=8, report_to=[], save_strategy="no", logging_steps=1, use_cpu=True, disable_tqdm=True, seed=3)
trainer = Trainer(model, arguments, train_dataset=Lines() if without_length else data, eval_dataset=data, callbacks=callbacks)
if sys.argv[3:] == ["counted"]:
    counted(trainer.train)
else:
    trainer.train()
print("\\n" + json.dumps([row["loss"] for row in trainer.state.log_history if "loss" in row]))
"""
# Modules whose parameters are not known before their first call, and one that does not say them to us.
OPERATIONS = """
import json, sys, torch, proftrace
class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.bias = self.register_parameter("bias", None)
    def parameters(self):
        raise ValueError
    def forward(self, x):
        return x * self.weight
if sys.argv[1:] == ["fails"]:
    import torch.utils.flop_counter
    def fails(*shapes, **more):
        raise AssertionError("an odd shape")
    torch.utils.flop_counter.flop_registry[torch.ops.aten.addmm] = fails
profiler = proftrace.Profiler(estimate_flops=True)
with profiler.profile("part"):
    torch.nn.Sequential(torch.nn.LazyLinear(3), Own())(torch.ones(2, 4))
metrics = profiler.get_metrics()
print(json.dumps([metrics.compute.estimated_flops, metrics.compute.flops_per_param, metrics.reasons.get("compute.estimated_flops")]))
"""


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False, timeout=100).returncode == 0


def play(text, *arguments, **more):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
    done = subprocess.run([PYTHON, "-c", text, *arguments], capture_output=True, text=True, timeout=300, check=False,
                          env={**environment, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", **more})
    if done.returncode:
        raise AssertionError(done.stderr[-3000:])
    return done.stdout


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="package-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def events(self, text, *arguments):
        """Of a traced run: how many there are of each kind, and of each phase."""
        folder = self.folder / f"traced-{len(list(self.folder.iterdir()))}"
        play(text, *arguments, LD_PRELOAD=str(BUILD / "libproftrace.so"), PROFTRACE_DIR=str(folder))
        found = collections.Counter()
        for event in proftrace.open(str(folder / "latest")).events():
            found[event.get("event")] += 1
            if event.get("event") == "phase_begin":
                found["phase", event["phase"]] += 1
        return found

    def assert_does_nothing(self, calls, most):
        """Hooks that return at once: they ask whether a window is open, no more. At its end an epoch tries to close one."""
        self.assertLessEqual({name for name in calls if not name.startswith("on_")}, {"is_open", "_end"})
        self.assertLessEqual(calls.get("_end", 0), 4)
        self.assertTrue(0 < sum(calls.values()) <= most, calls)

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*.json"))


@unittest.skipUnless(has("lightning.pytorch"), f"{PYTHON} has no lightning")
class Lightning(Case):
    def train(self, options, *more, **environment):
        out = play(LIGHTNING, json.dumps(options and {"output_dir": str(self.folder), **options}), *more, **environment)
        return json.loads(out.splitlines()[-1]), out

    def test_chosen_epochs(self):
        bare, _ = self.train(None)
        said, out = self.train({"profile_epochs": [1, 3], "profile_steps": 8, "warmup_steps": 2})
        self.assertEqual(said["losses"], bare["losses"])
        self.assertEqual(self.files(), ["epoch_1.json", "epoch_3.json"])
        for words in "[Profiler] Epoch 1", "Top 10 CPU operations:", "Dataloader time: ", "Backward pass: ":
            self.assertIn(words, out)
        for number in 1, 3:  # 8 steps, each of two layers
            trace = read_trace(self.folder / f"epoch_{number}.json")
            self.assertEqual((trace.steps, trace.cpu["aten::addmm"].calls), (8, 16))
        shares = [float(line.split()[-1].rstrip("%")) for line in said["messages"] if line.startswith("  ") and line.endswith("%") and ": " in line]
        self.assertAlmostEqual(sum(shares[:4]), 100, delta=0.3)

    def test_what_to_look_at(self):
        """Document 003's words for a training that waits for its data: 96 ms for each step, which takes about two."""
        _, out = self.train({"profile_epochs": [2], "profile_steps": 5, "warmup_steps": 1}, SLEEPS_S="0.006", OMP_NUM_THREADS="1")
        self.assertIn("[Profiler] Bottlenecks detected:\n", out)
        warned = re.search(r"the training waits for data for (\d+)% of its time \(more workers, or less work in each sample\)", out)
        self.assertIsNotNone(warned, out)
        told = float(re.search(r"Dataloader time: ([\d.]+)%", out)[1])
        self.assertAlmostEqual(float(warned[1]), told, delta=0.51)
        self.assertTrue(80 <= told < 100, out)
        warnings = [line for line in out.partition("Bottlenecks detected:\n")[2].splitlines() if line.startswith("[Profiler]   - ")]
        self.assertFalse([line for line in warnings if "enumerate(DataLoader)" in line], "a wait is no operation that takes CPU time")

    def shares(self, out):
        return {name: float(share) for name, share in re.findall(r"^\[Profiler\]   ([A-Z][a-z ]+): ([\d.]+)%$", out, re.M)}

    def test_a_validation_within_an_epoch_is_no_wait_for_data(self):
        """Two batches of 100 ms after ten steps of about two ms."""
        _, out = self.train({"profile_epochs": [1], "profile_steps": 15, "warmup_steps": 2}, VALIDATES_AFTER="10", OMP_NUM_THREADS="1")
        shares = self.shares(out)
        self.assertAlmostEqual(sum(shares.values()), 100, delta=0.5)
        self.assertGreater(shares["Validation"], shares["Dataloader time"], out)
        self.assertGreater(shares["Validation"], 50, out)

    def test_a_validation_at_the_end_of_an_epoch_is_no_step(self):
        _, out = self.train({"profile_epochs": [2], "profile_steps": 100, "warmup_steps": 2}, VALIDATES_AFTER="20")
        self.assertIn("[Profiler] Epoch 2: all its steps", out)
        self.assertNotIn("Validation", self.shares(out))
        trace = read_trace(self.folder / "epoch_2.json")  # 18 steps, each of two layers
        self.assertEqual(trace.cpu["aten::addmm"].calls, 36)

    def test_every_n_steps(self):
        self.train({"schedule_every_n_steps": 10, "wait_steps": 1, "warmup_steps": 1, "active_steps": 3, "repeat_cycles": 2})
        names = self.files()
        self.assertEqual((len(names), names[0]), (3, "Small/chrome_trace.json"), names)
        self.assertTrue(all(name.endswith(".pt.trace.json") for name in names[1:]), names)

    def test_disabled(self):
        bare, _ = self.train(None)
        said, out = self.train({"enabled": False})
        self.assertEqual((said["losses"], said["messages"], self.files()), (bare["losses"], [], []))
        self.assertNotIn("[Profiler]", out)

    def test_disabled_it_records_nothing(self):
        bare, disabled, enabled = (self.events(LIGHTNING, json.dumps(options)) for options in
                                   (None, {"enabled": False}, {"profile_epochs": [], "output_dir": str(self.folder)}))
        self.assertEqual([disabled[kind] for kind in MARKS], [bare[kind] for kind in MARKS])
        self.assertEqual((disabled["step"], disabled["mark"]), (0, 0))
        self.assertEqual([disabled["phase", one] for one in OF_STEPS], [bare["phase", one] for one in OF_STEPS])
        self.assertGreater(bare["phase", OF_STEPS[0]], 0)
        self.assertEqual((enabled["step"], enabled["epoch"]), (60, 3))

    def test_disabled_it_calls_nothing(self):
        out = play(COUNTED + LIGHTNING, '{"enabled": false}', "counted")
        self.assert_does_nothing(json.loads(out.splitlines()[-2]), 7 * 60 + 20)

    def test_disabled_it_costs_nothing(self):
        """CPU time of its part of a step beside that of Lightning's own empty callback, in turn, the least of nine rounds each: a step of the
        smallest network takes a thousand times as long."""
        disabled_ns, empty_ns = json.loads(play(COST))
        print(f"disabled: {disabled_ns:.0f} ns a step, an empty callback: {empty_ns:.0f} ns", flush=True)
        self.assertLess(disabled_ns - empty_ns, 1500)

    def test_a_profiler_of_the_programs_own(self):
        said, _ = self.train({"profile_epochs": [1]}, "own")
        self.assertEqual(self.files(), [])
        self.assertIn("left alone", said["messages"][0])


@unittest.skipUnless(has("transformers, accelerate"), f"{PYTHON} has no transformers")
class Transformers(Case):
    def test_chosen_epochs(self):
        losses = [play(TRANSFORMERS, json.dumps(options), str(self.folder / "out")).splitlines()[-1]
                  for options in (None, {"enabled": False}, {"profile_epochs": [2], "profile_steps": 4, "warmup_steps": 1, "output_dir": str(self.folder)})]
        self.assertEqual(losses[0], losses[1])
        self.assertEqual(losses[0], losses[2])
        self.assertEqual(self.files(), ["epoch_2.json"])
        trace = read_trace(self.folder / "epoch_2.json")  # 4 steps, each of one table of words, one of places, one of kinds
        self.assertEqual((trace.steps, trace.cpu["aten::embedding"].calls), (4, 12))

    def test_an_evaluation_after_the_last_step_is_no_step(self):
        play(TRANSFORMERS, json.dumps({"profile_epochs": [2], "profile_steps": 100, "warmup_steps": 1, "output_dir": str(self.folder)}), str(self.folder / "out"), "evaluates")
        self.assertEqual(read_trace(self.folder / "epoch_2.json").cpu["aten::embedding"].calls, 7 * 3)

    def test_epochs_of_data_that_does_not_say_its_length(self):
        play(TRANSFORMERS, json.dumps({"profile_epochs": [1, 3], "profile_steps": 2, "warmup_steps": 1, "output_dir": str(self.folder)}), str(self.folder / "out"), "without length")
        self.assertEqual(self.files(), ["epoch_1.json", "epoch_3.json"])

    def test_disabled_it_records_and_calls_nothing(self):
        bare, disabled, enabled = (self.events(TRANSFORMERS, json.dumps(options), str(self.folder / "out")) for options in (None, {"enabled": False}, {}))
        self.assertEqual([disabled[kind] for kind in MARKS], [bare[kind] for kind in MARKS])  # transformers has ranges of its own
        self.assertEqual((disabled["step"], disabled["mark"]), (0, 0))
        self.assertEqual((enabled["step"], enabled["epoch"]), (24, 3))
        out = play(COUNTED + TRANSFORMERS, '{"enabled": false}', str(self.folder / "out"), "counted")
        self.assert_does_nothing(json.loads(next(line for line in out.splitlines() if line.startswith('{"on_'))), 3 * 24 + 20)


FOUR_OF_A_NAME = """
import json, sys, torch
from proftrace.windows import Windows
windows = Windows()
for _ in range(4):
    windows.begin(sys.argv[1] + "/epoch_1.json")
    torch.ones(2) + 1
    windows.step()
    windows.end()
"""


@unittest.skipUnless(has("torch.profiler"), f"{PYTHON} has no PyTorch")
class Windows(Case):
    def test_each_trace_of_a_name_is_kept(self):
        play(FOUR_OF_A_NAME, str(self.folder))
        self.assertEqual(self.files(), ["epoch_1.json", "epoch_1_1.json", "epoch_1_2.json", "epoch_1_3.json"])


@unittest.skipUnless(has("torch.utils.flop_counter"), f"{PYTHON} has no PyTorch that counts operations")
class Operations(Case):
    def test_modules_that_are_not_as_others(self):
        self.assertEqual(json.loads(play(OPERATIONS)), [2 * 2 * 4 * 3, 48 / (4 * 3 + 3 + 3), None])

    def test_a_counter_that_fails(self):
        flops, each, reason = json.loads(play(OPERATIONS, "fails"))
        self.assertTrue(math.isnan(flops) and math.isnan(each))
        self.assertEqual(reason, "PyTorch's counter failed at aten.addmm: AssertionError an odd shape")


if __name__ == "__main__":
    unittest.main()
