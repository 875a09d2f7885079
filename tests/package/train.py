# SPDX-License-Identifier: MIT
"""The training that the documents start: a small model with Lightning, configured by files below configs/ and by overrides (a.b=c), as Hydra does
it. The callback is made from what the configuration says of it."""
import importlib
import logging
import pathlib
import sys
import warnings

import yaml

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning.pytorch as pl  # noqa: E402
import torch  # noqa: E402


def configuration():
    config = {"callbacks": {}, "trainer": {}, "training": {}}
    for path in pathlib.Path("configs").rglob("*.yaml"):
        (config["callbacks"] if path.parent.name == "callbacks" else config).update(yaml.safe_load(path.read_text(encoding="utf-8")))
    for word in sys.argv[1:]:
        name, _, value = word.partition("=")
        *folders, last = name.split(".")
        at = config
        for folder in folders:
            at = at.setdefault(folder, {})
        at[last] = yaml.safe_load(value)
    return config


def callback_of(config):
    if "profiling" in config:
        from proftrace.lightning import ProfilerCallback
        return ProfilerCallback(**config["profiling"])
    options = dict(config["callbacks"]["profiler"])
    module, _, name = options.pop("_target_").rpartition(".")
    return getattr(importlib.import_module(module), name)(**options)


class BaselineCNN(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(2 * 6 * 6, 4))

    def training_step(self, batch, number):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class ResNet(BaselineCNN):
    pass


config = configuration()
data = torch.utils.data.TensorDataset(torch.randn(480, 1, 8, 8), torch.randint(0, 4, (480,)))
model = ResNet() if config.get("model") == "resnet" else BaselineCNN()
epochs = config["trainer"].get("max_epochs", config["training"].get("max_epochs", 2))
trainer = pl.Trainer(max_epochs=epochs, callbacks=[callback_of(config)], logger=False, enable_checkpointing=False, enable_progress_bar=False,
                     enable_model_summary=False, accelerator="cpu")
trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=8))
print("trained", trainer.global_step)
