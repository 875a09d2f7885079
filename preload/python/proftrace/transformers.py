# SPDX-License-Identifier: MIT
"""A TrainerCallback for Hugging Face transformers: epochs and steps in proftrace's trace, and torch.profiler for chosen epochs."""
from __future__ import annotations

import os
from typing import Any, Optional, Sequence

from transformers import TrainerCallback  # type: ignore[import-not-found,unused-ignore]

from . import marks
from .windows import Windows


class ProfilerCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """The first `profile_steps` steps, after `warmup_steps`, of each of `profile_epochs` (the first is 1; None: none) go into
    `output_dir`/epoch_N.json. `enabled`: False: nothing is done at all.

    >>> import torch
    >>> from transformers import Trainer, TrainingArguments
    >>> class Line(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.line = torch.nn.Linear(1, 1)
    ...     def forward(self, x, labels):
    ...         return {"loss": (self.line(x) - labels).square().mean()}
    >>> rows = [{"x": torch.ones(1), "labels": torch.ones(1)} for _ in range(32)]
    >>> options = TrainingArguments("out", num_train_epochs=2, per_device_train_batch_size=8, save_strategy="no", report_to="none", use_cpu=True)
    >>> callback = ProfilerCallback(profile_epochs=[2], profile_steps=2, warmup_steps=1, output_dir="traces")
    >>> _ = Trainer(Line(), options, train_dataset=rows, callbacks=[callback]).train()
    [Profiler] ...
    >>> os.listdir("traces")
    ['epoch_2.json']
    """

    def __init__(self, enabled: bool = True, profile_epochs: Optional[Sequence[int]] = None, profile_steps: int = 100, warmup_steps: int = 5,
                 activities: Optional[Sequence[str]] = None, record_shapes: bool = True, with_stack: bool = False, output_dir: str = "profiler_traces",
                 log_top_k_ops: int = 10) -> None:
        self.enabled, self.output_dir = enabled, output_dir
        self.profile_epochs = set(profile_epochs or ())
        self.profile_steps, self.warmup_steps = profile_steps, warmup_steps
        self._windows = Windows(activities, record_shapes, with_stack, top=log_top_k_ops)
        self._left = 0
        self._epochs: Optional[int] = None  # that began, with those of a training that goes on

    def _end(self) -> None:
        if not self._windows.is_open():
            return
        self._windows.end()
        for line in [self._windows.failed] if self._windows.failed else self._windows.summary():
            print(f"[Profiler] {line}", flush=True)

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._epochs = None

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        if not self.enabled:
            return
        # Only at the beginning is it what state.epoch says: with data that does not say its length that has a share of max_steps.
        number = self._epochs = (int(state.epoch or 0) if self._epochs is None else self._epochs) + 1
        marks.epoch(number - 1)
        if number in self.profile_epochs and state.is_world_process_zero and self._windows.begin(os.path.join(self.output_dir, f"epoch_{number}.json"), warmup=self.warmup_steps,
                                                                 active=self.profile_steps):
            self._left = self.warmup_steps + self.profile_steps
        elif self._windows.failed:
            print(f"[Profiler] {self._windows.failed}", flush=True)

    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        if self.enabled:
            marks.step(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        if not self._windows.is_open():
            return
        self._windows.step()
        self._left -= 1
        # An evaluation that follows on the epoch's last step comes before on_epoch_end, and is no step of it.
        if self._left == 0 or (control.should_evaluate and (state.epoch or 0) >= (self._epochs or 0)):
            self._end()

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._end()

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._end()
