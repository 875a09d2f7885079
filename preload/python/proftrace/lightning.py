# SPDX-License-Identifier: MIT
"""A callback for Lightning (lightning or pytorch_lightning): traces of torch.profiler for chosen epochs or every n steps, a summary on
the console, and epochs and steps in proftrace's own trace."""
from __future__ import annotations

import os
import shutil
import time
from typing import Any, Dict, List, Optional, Sequence

from . import marks
from .windows import Windows

try:
    from lightning.pytorch import Callback as _Callback  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    from pytorch_lightning import Callback as _Callback  # type: ignore[import-not-found,assignment,no-redef,unused-ignore]

PHASES = "Dataloader time", "Forward pass", "Backward pass", "Optimizer"


class ProfilerCallback(_Callback):  # type: ignore[misc,unused-ignore]
    """torch.profiler for parts of a training with Lightning.

    By epochs (`profile_epochs`, the first is 1; None: each): the first `profile_steps` steps after `warmup_steps`, into
    `output_dir`/epoch_N.json. By steps (`schedule_every_n_steps`): every n steps `wait_steps`, `warmup_steps`, `active_steps`, `repeat_cycles` times
    in all, into `output_dir`/MODEL/HOST_PID.TIME.pt.trace.json (TensorBoard finds them) and `output_dir`/MODEL/chrome_trace.json, the last one.

    - enabled: False: nothing is done at all, and nothing recorded
    - activities: ["cpu", "cuda"]; None: those that the machine has
    - record_shapes, with_stack: what torch.profiler's options of these names cost is theirs
    - export_chrome_trace: False: the summary only
    - log_top_k_ops: how many operators the summary has

    A profiler of the program's own is left alone, and no error of profiling ends the training: `messages` has what was said.

    >>> from lightning.pytorch import Trainer
    >>> from lightning.pytorch.demos.boring_classes import BoringModel
    >>> callback = ProfilerCallback(profile_epochs=[2], profile_steps=2, warmup_steps=1, output_dir="traces")
    >>> Trainer(max_epochs=2, limit_train_batches=4, limit_val_batches=0, accelerator="cpu", logger=False, enable_checkpointing=False,
    ...         enable_progress_bar=False, enable_model_summary=False, callbacks=[callback]).fit(BoringModel())
    [Profiler] Epoch 2: steps up to 3
    [Profiler] Trace exported: traces/epoch_2.json
    [Profiler] Top 10 CPU operations:
    ...
    >>> os.listdir("traces")
    ['epoch_2.json']
    """

    def __init__(self, enabled: bool = True, profile_epochs: Optional[Sequence[int]] = None, profile_steps: int = 100, warmup_steps: int = 5,
                 activities: Optional[Sequence[str]] = None, record_shapes: bool = True, with_stack: bool = False, output_dir: str = "profiler_traces",
                 export_chrome_trace: bool = True, log_top_k_ops: int = 10, schedule_every_n_steps: Optional[int] = None, wait_steps: int = 1,
                 active_steps: int = 3, repeat_cycles: int = 2) -> None:
        super().__init__()
        self.enabled = enabled
        self.profile_epochs = None if profile_epochs is None else set(profile_epochs)
        self.profile_steps, self.warmup_steps, self.output_dir = profile_steps, warmup_steps, output_dir
        self.export_chrome_trace = export_chrome_trace
        self.schedule_every_n_steps, self.wait_steps, self.active_steps, self.repeat_cycles = schedule_every_n_steps, wait_steps, active_steps, repeat_cycles
        self.messages: List[str] = []
        self._windows = Windows(activities, record_shapes, with_stack, top=log_top_k_ops)
        self._cycles = self._left = self._steps = 0
        self._spent: Dict[str, float] = {}
        self._since = 0.0
        self._is_first = True

    def _say(self, *lines: str) -> None:
        self.messages += lines
        for line in lines:
            print(f"[Profiler] {line}", flush=True)

    # ---- windows ----

    def _begin(self, path: str, wait: int, active: int) -> None:
        if not self._is_first:
            return
        if not self.export_chrome_trace:
            path = os.path.join(self.output_dir, ".summary.json")
        if not self._windows.begin(path, wait=wait, warmup=self.warmup_steps, active=active):
            self._say(self._windows.failed or "no window")
            return
        self._left, self._spent, self._since = wait + self.warmup_steps + active, dict.fromkeys(PHASES, 0.0), time.perf_counter()

    def _end(self, trainer: Any, model: Any, title: str) -> None:
        if not self._windows.is_open():
            return
        self._windows.end()
        exported = self._windows.exported[-1:]
        if self._windows.failed:
            self._say(self._windows.failed)
        if not self._windows.last:
            return
        all_s = sum(self._spent.values())
        shares = {name: 100 * spent / all_s for name, spent in self._spent.items()} if all_s else None
        self._say(title, *([f"Trace exported: {exported[0]}"] if self.export_chrome_trace else []), *self._windows.summary(shares))
        try:
            if not self.export_chrome_trace:
                os.unlink(exported[0])
            elif self.schedule_every_n_steps:
                shutil.copyfile(exported[0], os.path.join(os.path.dirname(exported[0]), "chrome_trace.json"))
        except OSError as error:
            self._say(f"the trace was not put in its place: {error}")

    def _spend(self, phase: str) -> None:
        now = time.perf_counter()
        self._spent[phase] = self._spent.get(phase, 0.0) + now - self._since
        self._since = now

    # ---- what Lightning calls ----

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        if not self.enabled:
            return
        marks.epoch(trainer.current_epoch)
        self._is_first = getattr(trainer, "global_rank", 0) == 0  # of several ranks one is profiled: they do the same
        number = trainer.current_epoch + 1
        if self.schedule_every_n_steps or not (self.profile_epochs is None or number in self.profile_epochs):
            return
        self._begin(os.path.join(self.output_dir, f"epoch_{number}.json"), 0, self.profile_steps)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        if not self.enabled:
            return
        marks.step(trainer.global_step)
        every = self.schedule_every_n_steps
        if self._windows.is_open():
            self._spend(PHASES[0])
        elif every and self._cycles < self.repeat_cycles and self._steps % every == 0:
            self._cycles += 1
            self._begin(os.path.join(self.output_dir, type(pl_module).__name__, ""), self.wait_steps, self.active_steps)
        self._steps += 1

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        if self._windows.is_open():
            self._spend(PHASES[1])

    def on_after_backward(self, trainer: Any, pl_module: Any) -> None:
        if self._windows.is_open():
            self._spend(PHASES[2])

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if not self._windows.is_open():
            return
        self._spend(PHASES[3])
        self._windows.step()
        self._since = time.perf_counter()  # starting the profiler is no work of the training's
        self._left -= 1
        if self._left == 0:
            self._end(trainer, pl_module, f"Epoch {trainer.current_epoch + 1}: steps up to {batch_idx + 1}")

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        # Behind the last batch it begins before the epoch ends: no step of the epoch's.
        if self._windows.is_open() and not self.schedule_every_n_steps and getattr(trainer, "is_last_batch", False):
            self.on_train_epoch_end(trainer, pl_module)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if self._windows.is_open():  # in the middle of an epoch: the next step did not wait for data so long
            self._spend("Validation")

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if not self.schedule_every_n_steps:
            self._end(trainer, pl_module, f"Epoch {trainer.current_epoch + 1}: all its steps")

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._end(trainer, pl_module, "The training ended")

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._windows.end()
