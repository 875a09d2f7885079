# SPDX-License-Identifier: MIT
"""What is wrong with trainings: DataLoaders with and without workers, small batches, too many threads, tensors that stay."""
from causes import cause

DATA = """
import torch
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)
model = torch.nn.Linear(64, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def step(batch):
    optimizer.zero_grad()
    loss = model(batch.float()).square().mean()
    loss.backward()
    optimizer.step()
    return loss
"""


def training(name, rules, dataset, loop, **more):
    more = {"places": ("main",), "parts": (1,), "has_rest": False, "needs_torch": True, **more}
    cause(name, "python", rules, loop, setup=DATA + dataset, **more)


training("far_samples", "too_few_workers dataloader_disk_bound", """
class Samples(Dataset):
    def __len__(self):
        return $count

    def __getitem__(self, index):
        time.sleep($ms / 1000)  # planted here
        return torch.zeros(64)
""", """
for batch in DataLoader(Samples(), batch_size=$batch, num_workers=8 if FIXED else 1):
    step(batch)
""", amounts={"count": [80, 120], "ms": [15, 25], "batch": [2, 4]})
training("slow_collate", "too_few_workers long_sleeps", """
class Samples(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.zeros(64)


def $helper(samples):
    if not FIXED:
        time.sleep($ms / 1000)  # planted here
    return torch.stack(samples)
""", """
for batch in DataLoader(Samples(), batch_size=8, num_workers=1, collate_fn=$helper):
    step(batch)
""", amounts={"ms": [200, 300]})
training("python_in_main", "python_in_training loading_in_main steps_wait_for_data", """
class Samples(Dataset):
    def __len__(self):
        return 60

    def __getitem__(self, index):
        if FIXED:
            return torch.zeros(64)
        values = [0.0] * 64
        for i in range($work_units * 1000):  # planted here
            values[i & 63] += i % 13  # planted here
        return torch.tensor(values)
""", """
for batch in DataLoader(Samples(), batch_size=4):
    step(batch)
""", amounts={"work_units": [400, 700]})
training("decoding_in_main", "loading_in_main steps_wait_for_data", """
from PIL import Image


class Samples(Dataset):
    def __len__(self):
        return $count

    def __getitem__(self, index):
        if FIXED:
            return torch.zeros(64)
        with Image.open(f"images/{index}.jpg") as image:  # planted here
            return torch.tensor(list(image.convert("L").resize((8, 8)).getdata()))  # planted here
""", """
for batch in DataLoader(Samples(), batch_size=4):
    step(batch)
""", prepare="""
import os
from PIL import Image
os.mkdir("images")
picture = Image.frombytes("RGB", ($edge, $edge), os.urandom($edge * $edge * 3))
for i in range($count):
    picture.save(f"images/{i}.jpg", quality=90)
""", amounts={"count": [60, 100], "edge": [600, 900]})
# Each image is read 8 or 12 times: to keep them is as good.
training("tiny_files", "loading_in_main metadata_storm steps_wait_for_data reread_files", """
from PIL import Image


class Samples(Dataset):
    def __len__(self):
        return $count

    def __getitem__(self, index):
        if FIXED:
            return torch.zeros(64)
        with Image.open(f"images/{index % 1000}.png") as image:  # planted here
            return torch.tensor(list(image.getdata()))  # planted here
""", """
for batch in DataLoader(Samples(), batch_size=64):
    step(batch)
""", prepare="""
import os
from PIL import Image
os.mkdir("images")
for i in range(1000):
    Image.frombytes("L", (8, 8), os.urandom(64)).save(f"images/{i}.png")
""", amounts={"count": [8000, 12000]})
training("slow_transform", "dataloader_cpu_bound", """
class Samples(Dataset):
    def __len__(self):
        return 120

    def __getitem__(self, index):
        truth.compute(1 if FIXED else $ms)  # planted here
        return torch.zeros(64)
""", """
for batch in DataLoader(Samples(), batch_size=4, num_workers=2):
    step(batch)
""", amounts={"ms": [20, 40]}, cpus=2)
training("many_workers", "too_many_workers", """
class Samples(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        return torch.zeros(64)
""", """
loader = DataLoader(Samples(), batch_size=4, num_workers=1 if FIXED else $workers, persistent_workers=FIXED)
for epoch in range(3):
    for batch in loader:  # planted here
        step(batch)
""", amounts={"workers": [16, 24]})
training("small_batches", "tiny_operations", """
samples = torch.zeros(32768, 64)
""", """
for batch in samples.split(32768 if FIXED else 1):
    optimizer.zero_grad()  # planted here
    model(batch).square().mean().backward()  # planted here
    optimizer.step()  # planted here
""")
training("torch_threads", "oversubscribed_threads", """
torch.set_num_threads(2 if FIXED else 16)
LEFT = torch.ones(300, 300)
""", """
for _ in range($count):
    (LEFT @ LEFT).clamp(0, 1)  # planted here
""", amounts={"count": [1000, 2000]}, cpus=2, needs_fast_blas=True)
training("kept_tensors", "heap_growth", """
losses = []
big = torch.nn.Linear(1000, 1000)
""", """
def $helper():
    kept = []
    for _ in range(100):
        out = big(torch.ones($rows, 1000))  # planted here
        with torch.no_grad():
            for _ in range(4):
                big(out)
        if not FIXED:
            kept.append(out)


$helper()
""", amounts={"rows": [200, 400]}, in_seconds=False, needs_fast_blas=True)
training("healthy_training", "", """
class Samples(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, index):
        return torch.ones(64) * index


weights = torch.ones(400, 400)
""", """
for epoch in range(2):
    for batch in DataLoader(Samples(), batch_size=16, num_workers=1):
        for _ in range(10):
            weights.mm(weights)
        step(batch)
""", amounts={})
