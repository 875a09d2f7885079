# SPDX-License-Identifier: MIT
"""Three epochs by Lightning (10 steps each) or Hugging Face's Trainer (6 steps of two batches each), validated after each.   usage: framework_fit.py lightning|transformers"""
import logging
import sys
import tempfile
import warnings

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

warnings.filterwarnings("ignore")
torch.manual_seed(0)


def fit_lightning():
    import lightning

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(32, 4)

        def forward(self, inputs):
            return self.layer(inputs)

        def training_step(self, batch, index):
            return torch.nn.functional.cross_entropy(self(batch[0]), batch[1])

        def validation_step(self, batch, index):
            self.log("loss", torch.nn.functional.cross_entropy(self(batch[0]), batch[1]))

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    data = TensorDataset(torch.randn(160, 32), torch.randint(0, 4, (160,)))
    quiet = {"enable_progress_bar": False, "logger": False, "enable_checkpointing": False, "enable_model_summary": False}
    lightning.Trainer(max_epochs=3, accelerator="cpu", **quiet).fit(Model(), DataLoader(data, 16), DataLoader(data, 40))


def fit_transformers():
    import transformers

    transformers.logging.set_verbosity_error()
    config = transformers.BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, vocab_size=100)

    class Texts(Dataset):
        def __len__(self):
            return 96

        def __getitem__(self, index):
            return {"input_ids": torch.arange(8) + index % 10, "labels": torch.tensor(index % 2)}

    with tempfile.TemporaryDirectory() as folder:
        settings = transformers.TrainingArguments(folder, num_train_epochs=3, per_device_train_batch_size=8, gradient_accumulation_steps=2, use_cpu=True,
                                                  eval_strategy="epoch", report_to=[], disable_tqdm=True, logging_steps=1000, save_strategy="no")
        transformers.Trainer(transformers.BertForSequenceClassification(config), settings, train_dataset=Texts(), eval_dataset=Texts()).train()


{"lightning": fit_lightning, "transformers": fit_transformers}[sys.argv[1]]()
