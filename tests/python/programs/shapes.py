# SPDX-License-Identifier: MIT
"""Batches of every kind, modules within data sets, checkpoints, models within others."""
import io

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

torch.set_num_threads(1)


class Ten(Dataset):
    flip = nn.Identity()

    def __len__(self):
        return 10

    def __getitem__(self, i):
        file = io.BytesIO()
        torch.save(torch.zeros(1), file)
        return self.sample(self.flip(torch.full((3, 5), float(i))), i)


def kind_of(name, sample):
    return type(name, (Ten,), {"sample": staticmethod(sample)})()


class Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.arange(5.0))


class Ready(IterableDataset):
    def __iter__(self):
        for _ in range(2):
            yield {"ids": torch.zeros(3, 7), "labels": torch.zeros(3)}


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(4, 1)

    def forward(self, x):
        return self.inside(x)


class Sharded(Inner):
    pass


class FSDPModule:
    __module__ = "torch.distributed.fsdp"


def as_fully_shard(model):
    """What torch does to a model, without its ranks."""
    made = type(f"FSDP{type(model).__name__}", (FSDPModule, type(model)), {"__module__": "torch.distributed.fsdp._fully_shard._fsdp_init"})
    model.__class__ = made
    return model


class _RepeatSampler:
    """As timm and ultralytics have it."""
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


def boxes_first(batch):
    """Of five in each image."""
    return {"batch_idx": torch.zeros(5 * len(batch)), "image": torch.stack(batch)}


def repeat(data, n, **options):
    loader = DataLoader(data, 4, num_workers=1, **options)
    object.__setattr__(loader, "batch_sampler", _RepeatSampler(loader.batch_sampler))
    batches = iter(loader)
    for _ in range(n):
        next(batches)


class OwnIter(DataLoader):
    """As torchdata has it: it never comes to DataLoader's."""
    kept = None

    def __iter__(self):
        if self.kept and self.persistent_workers:
            self.kept._reset(self)
        else:
            self.kept = self._get_iterator()
        return self.kept


def drain(data, **options):
    for _ in DataLoader(data, **{"batch_size": 4, **options}):
        pass


drain(kind_of("Tensors", lambda image, i: image))
drain(kind_of("Dicts", lambda image, i: {"name": str(i), "image": image, "label": i}))
drain(kind_of("Nested", lambda image, i: ((image, image), (image, i))))
drain(kind_of("Images", lambda image, i: (image, {"boxes": image})), collate_fn=lambda batch: tuple(zip(*batch)))
drain(kind_of("Untouched", lambda image, i: image), collate_fn=lambda batch: batch)
drain(kind_of("Arrays", lambda image, i: image.numpy()), collate_fn=numpy.stack)
drain(kind_of("Texts", lambda image, i: str(i)))
drain(Stream())
drain(Ready(), batch_size=None)
drain(kind_of("Boxes", lambda image, i: image), collate_fn=boxes_first, num_workers=1)
drain(kind_of("BoxesAlone", lambda image, i: image), collate_fn=lambda batch: {"boxes": torch.zeros(5 * len(batch))}, num_workers=1)
drain(kind_of("Names", lambda image, i: image), collate_fn=lambda batch: {"shape": torch.zeros(7), "names": ["x"] * len(batch)}, num_workers=1)
drain(kind_of("One", lambda image, i: {"name": str(i), "image": image}), batch_size=1, collate_fn=lambda batch: batch[0], num_workers=1)
repeat(kind_of("Repeated", lambda image, i: image), 6, collate_fn=boxes_first)
for persistent in False, True:
    loader = OwnIter(kind_of(f"Own{persistent}", lambda image, i: image), batch_size=4, num_workers=1, persistent_workers=persistent)
    for _ in range(2):
        for _ in loader:
            pass

model = Inner()
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
model.load_state_dict(torch.load(file))
nn.DataParallel(model)(torch.randn(2, 4)).sum().backward()
as_fully_shard(Sharded())(torch.randn(2, 4))
torch.autograd.grad(model(torch.randn(2, 4)).sum(), model.inside.weight)
from torch.utils.checkpoint import checkpoint  # noqa: E402

checkpoint(model, torch.randn(2, 4).requires_grad_(), use_reentrant=True).sum().backward()
