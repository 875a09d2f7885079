# SPDX-License-Identifier: MIT
"""A small GPT-2 with Hugging Face's Trainer, on random tokens."""
import os

os.environ.update(HF_HUB_OFFLINE="1", WANDB_DISABLED="true", TOKENIZERS_PARALLELISM="false")
import common  # noqa: E402
import torch  # noqa: E402
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments  # noqa: E402

losses = []


class Collect(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **_):
        losses.extend(f"{logs['loss']:.9f}" for _ in [0] if "loss" in logs)


random = torch.Generator().manual_seed(1)
data = [{"input_ids": (ids := torch.randint(0, 500, (32,), generator=random)), "labels": ids} for _ in range(96)]
model = GPT2LMHeadModel(GPT2Config(vocab_size=500, n_positions=64, n_embd=64, n_layer=2, n_head=2))
arguments = TrainingArguments("out", per_device_train_batch_size=8, num_train_epochs=2, logging_steps=4, save_steps=12, report_to=[],
                              use_cpu=True, disable_tqdm=True, seed=1)
trainer = Trainer(model=model, args=arguments, train_dataset=data, callbacks=[Collect()])
from transformers.trainer_callback import PrinterCallback  # noqa: E402

trainer.remove_callback(PrinterCallback)
trainer.train()
print(losses, common.hash_of(model))
