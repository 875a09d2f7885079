#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`proftrace diff` of parts of a run: two epochs of a training, and of two directories of runs."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE, PYTHON = BUILD / "proftrace", "/usr/bin/python3"
TRAINING = """
import time, torch
class Images(torch.utils.data.Dataset):
    def __len__(self): return 40
    def __getitem__(self, i):
        time.sleep(0.03 if epoch == 2 else 0.002)
        return torch.ones(4)
model = torch.nn.Linear(4, 1); optimizer = torch.optim.SGD(model.parameters(), 1e-3)
for epoch in range(3):
    for x in torch.utils.data.DataLoader(Images(), batch_size=4):
        optimizer.zero_grad(); model(x).mean().backward(); optimizer.step()
"""


def environment():
    return {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}


class Selection(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="selection-", dir=BUILD)
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)

    def record(self, run, *command):
        done = subprocess.run([PROFTRACE, "run", "--no-report", "-o", self.folder / run, "--", *command], capture_output=True, text=True,
                              env=environment(), timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def diff(self, *arguments):
        return subprocess.run([PROFTRACE, "diff", *arguments], cwd=self.folder, capture_output=True, text=True, env=environment(), timeout=200, check=False)

    def test_two_epochs(self):
        if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
            self.skipTest("needs torch")
        (self.folder / "train.py").write_text(TRAINING, encoding="utf-8")
        self.record("run", PYTHON, str(self.folder / "train.py"))
        done = self.diff("run@2", "run@3")  # the first one also has what PyTorch does once
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[0], r"^python3, epoch 3 \+\d.*: \+[\d.]+ m?s Data wait")
        document = json.loads(self.diff("run:python3@1", "run@2", "--json").stdout)
        (stage,) = document["stages"]
        self.assertEqual(stage["stage"], "python3, epoch 2")
        parts = {row["name"]: row["b_s"] for row in stage.get("epoch", [])}
        report = json.loads(subprocess.run([PROFTRACE, "report", "run", "--format", "json"], cwd=self.folder, capture_output=True, text=True, env=environment(), check=True).stdout)
        epoch = report["stages"][0]["training"]["per_epoch"][1]
        self.assertEqual(stage["times"][0]["b"], epoch["duration_s"])
        for name, seconds in parts.items():
            self.assertEqual(seconds, epoch[{"Data wait": "data_s", "Forward": "forward_s", "Backward": "backward_s", "Optimizer": "optimizer_s", "Other": "other_s"}[name]])
        for arguments, said in ((("run@1", "run@9"), "has no epoch 9: it has 3, and the first is 1"), (("run", "run@2"), "with an epoch only: run"),
                                (("run:other@1", "run@2"), "run:other has no epochs")):
            done = self.diff(*arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
            self.assertIn(said, done.stderr)
        # What has that very name is a run.
        shutil.copytree(self.folder / "run", self.folder / "run@1")
        self.assertEqual(self.diff("run@1", "run").returncode, 0)

    def training(self, name, epochs):
        """A run, whose report has a training of such epochs: (steps, seconds, came to its end)."""
        self.record(name, "true")
        report = json.loads(subprocess.run([PROFTRACE, "report", name, "--format", "json"], cwd=self.folder, capture_output=True, text=True, env=environment(), check=True).stdout)
        report["stages"] = [report["stages"][0] | {"stage": "train", "duration_s": sum(seconds for _, seconds, _ in epochs), "training": {
            "steps": sum(steps for steps, _, _ in epochs), "per_epoch": [
                {"number": number, "steps": steps, "duration_s": seconds, "samples": steps, "samples_per_s": steps / seconds, "dataloader_time_pct": 0, "data_s": 0,
                 "forward_s": seconds / 2, "backward_s": seconds / 2, "optimizer_s": 0, "other_s": 0, "is_complete": is_complete}
                for number, (steps, seconds, is_complete) in enumerate(epochs, 1)]}}]
        (self.folder / name / "report.json").write_text(json.dumps(report), encoding="utf-8")

    def test_what_made_fewer_steps_was_not_faster(self):
        self.training("whole", [(100, 30, True)] * 3)
        self.training("killed", [(100, 30, True)] * 2 + [(20, 6, False)])
        said = self.diff("whole@3", "killed@3").stdout
        self.assertRegex(said, r"^train, epoch 3 -24\.0 s .*\nnote: train, epoch 3: B did not come to its end \(100 steps in A, 20 in B\)\n")
        self.assertNotIn("note", self.diff("whole@2", "killed@2").stdout)
        self.assertIn("note: train: A made 300 steps, B 220\n", self.diff("whole", "killed").stdout)
        # A loop that leaves each epoch is no accident.
        self.training("left", [(100, 30, False)] * 3)
        self.assertNotIn("note", self.diff("left@1", "left@2").stdout)

    def test_epochs_that_are_not_there(self):
        (self.folder / "tree").mkdir()
        self.training("tree/one", [(100, 30, True)] * 3)
        done = self.diff("tree@1", "tree@99")  # which compared the directory with itself
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("tree is a directory of runs: name one of them, as tree/RUN@1", done.stderr)
        self.assertEqual(self.diff("tree/one@1", "tree/one@2").returncode, 0)
        self.training("long", [(10, 1, True)] * 200)
        report = json.loads((self.folder / "long/report.json").read_text(encoding="utf-8"))
        report["stages"][0]["training"]["per_epoch_left_out"] = 100
        (self.folder / "long/report.json").write_text(json.dumps(report), encoding="utf-8")
        self.assertIn("train: the report does not have epoch 250: it keeps 200 of 300, from 1 to 200", self.diff("long@1", "long@250").stderr)

    def test_two_directories_of_runs(self):
        script = "import sys, time\ntime.sleep(float(sys.argv[1]))"
        for tree, seconds in ("before", "0.1"), ("after", "1.1"):
            (self.folder / tree).mkdir()
            self.record(f"{tree}/small", PYTHON, "-c", script, "0.1")
            self.record(f"{tree}/large", PYTHON, "-c", script, seconds)
        done = self.diff("before", "after")
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = done.stdout.splitlines()[:2]
        self.assertRegex(first, r"^large/python3 \+\d.*: \+[\d.]+ m?s Sleep")
        self.assertRegex(second, r"^small/python3\b")
        # A run in one of them only is said to be.
        shutil.copytree(self.folder / "before/small", self.folder / "before/gone")
        self.assertIn("gone/python3 is only in A", self.diff("before", "after").stdout)
        (self.folder / "empty").mkdir()
        self.assertEqual(self.diff("before", "empty").returncode, 3)


if __name__ == "__main__":
    unittest.main()
