# SPDX-License-Identifier: MIT
"""Each sample is found by a mask over a whole table; the fixed data set has sorted it once."""
import loader
import numpy as np
import pandas as pd
import planted
import torch

ROWS, USERS = 2_000_000, 300


class Users(torch.utils.data.Dataset):
    def __init__(self, is_fixed):
        self.is_fixed = is_fixed
        self.table = pd.DataFrame({"user": np.arange(ROWS) * 7 % USERS, "item": np.arange(ROWS) % 91})
        if is_fixed:
            table = self.table.sort_values("user")
            self.items, self.starts = table["item"].to_numpy(), np.searchsorted(table["user"].to_numpy(), np.arange(USERS + 1))

    def __len__(self):
        return USERS

    def __getitem__(self, user):
        if self.is_fixed:
            items = self.items[self.starts[user]:self.starts[user + 1]]
        else:
            items = self.table[self.table["user"] == user]["item"].to_numpy()  # planted here
        return torch.as_tensor(items[:64].astype(np.float32))


weights = torch.ones(64, 64)


def step(batch):
    for _ in range(200):
        batch = torch.tanh(batch @ weights)
    return batch.sum().item()


planted.main(lambda: loader.train(Users(False), 0, step, epochs=2), lambda: loader.train(Users(True), 0, step, epochs=2))
