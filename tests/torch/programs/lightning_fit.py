# SPDX-License-Identifier: MIT
"""Lightning's Trainer, loaders for training and validation with workers, checkpoints and early stopping."""
import logging
import warnings

import common
import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))

    def training_step(self, batch, _):
        loss = torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("validation", torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


def loader(n, shuffle):
    random = torch.Generator().manual_seed(1)
    data = TensorDataset(torch.randn(n, 64, generator=random), torch.randint(0, 10, (n,), generator=random))
    return DataLoader(data, batch_size=32, num_workers=2, persistent_workers=True, shuffle=shuffle)


if __name__ == "__main__":
    L.seed_everything(1, verbose=False)
    model = Model()
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=CSVLogger("logs"), enable_progress_bar=False, enable_model_summary=False,
                        callbacks=[ModelCheckpoint(dirpath="checkpoints", monitor="validation"), EarlyStopping("validation"), LearningRateMonitor()])
    trainer.fit(model, loader(1600, True), loader(320, False))
    print(f"{trainer.callback_metrics['validation'].item():.9f} {common.hash_of(model)}")
