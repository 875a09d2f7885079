# SPDX-License-Identifier: MIT
"""A training with Lightning and our callback every ten steps, twice: callback.py FOLDER"""
import logging
import sys
import warnings

import lightning as L
import torch
from lightning_fit import Model, loader
from proftrace.lightning import ProfilerCallback

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

if __name__ == "__main__":
    torch.manual_seed(1)
    callback = ProfilerCallback(schedule_every_n_steps=10, wait_steps=1, warmup_steps=1, active_steps=3, repeat_cycles=2, output_dir=sys.argv[1])
    trainer = L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                        callbacks=[callback])
    trainer.fit(Model(), loader(1600, True))
