# SPDX-License-Identifier: MIT
"""One planted bottleneck of a training each: planted.py NAME [--fixed]"""
import os
import socket
import sys
import threading
import time

import common
import torch
from torch.utils.data import DataLoader, Dataset

FIXED = "--fixed" in sys.argv


class Trainer:
    def __init__(self, inputs, width):
        self.model = torch.nn.Sequential(torch.nn.Linear(inputs, width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU(),
                                         torch.nn.Linear(width, 8))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(batch).square().mean()
        loss.backward()
        self.optimizer.step()


class Samples(Dataset):
    def __init__(self, count, make):
        self.count, self.make = count, make

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.make(index)


def train(count, make, workers, epochs=1, batch=8, inputs=64, width=128, **more):
    trainer = Trainer(inputs, width)
    for _ in range(epochs):
        for b in DataLoader(Samples(count, make), batch_size=batch, num_workers=workers, **more):
            trainer.step(b)


def loop(units):
    total = 0
    for i in range(units * 1000):
        total ^= i % 251
    return total


def slow_jpeg():
    common.make_images(80, 1200)
    train(80, lambda i: common.load_image(f"images/{i:04d}.jpg", 64).flatten(), 2 if FIXED else 0, epochs=3, inputs=3 * 64 * 64, width=256)


def slow_color_jitter():
    train(160, lambda i: torch.ones(64) * (loop(1 if FIXED else 250) % 3), 1)


def slow_collate():
    def collate(samples):
        if not FIXED:
            time.sleep(0.25)
        return torch.stack(samples)
    train(160, lambda i: torch.ones(64), 1, collate_fn=collate)


def tiny_files():
    from PIL import Image
    if not os.path.isdir("tiny"):
        os.mkdir("tiny")
        for i in range(8000):
            Image.frombytes("L", (8, 8), bytes([i % 256]) * 64).save(f"tiny/{i}.png")

    def read(i):
        if FIXED:
            return torch.ones(64)
        with Image.open(f"tiny/{i}.png") as image:
            return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).float()
    train(8000, read, 0, epochs=4, batch=32)


def featurize():
    train(320, lambda i: torch.ones(64) * (loop(1 if FIXED else 200) % 3), 0, batch=1, width=768)


def batch_of_one():
    trainer = Trainer(64, 128)
    for batch in torch.ones(16000, 64).split(256 if FIXED else 1):
        trainer.step(batch)


def openmp():
    torch.set_num_threads(2 if FIXED else 16)
    left = torch.ones(300, 300)
    for _ in range(12_000):
        left.mul(0.5).add(1).clamp(0, 1)


def gil_pool():
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
    with (ProcessPoolExecutor if FIXED else ThreadPoolExecutor)(4) as pool:
        print(sum(pool.map(loop, [2000] * 24)))


class Reader(torch.nn.Module):
    """Sequences, by a cell for each of their steps; the fixed one hands them over whole."""

    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTM(16, 32, batch_first=True) if FIXED else torch.nn.LSTMCell(16, 32)

    def forward(self, batch):
        if FIXED:
            return self.cell(batch)[0][:, -1]
        state = None
        for step in range(batch.shape[1]):
            state = self.cell(batch[:, step], state)
        return state[0]


def cells():
    model = Reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for _ in range(200):
        optimizer.zero_grad()
        model(torch.ones(16, 100, 16)).square().mean().backward()
        optimizer.step()


def optimizer():
    """A recommender, of whose table each step uses 256 rows of 200,000 and updates all of them."""
    table, head = torch.nn.Embedding(200_000, 32), torch.nn.Linear(32, 1)
    adam = torch.optim.Adam([*table.parameters(), *head.parameters()], fused=True if FIXED else None)
    for step in range(80):
        adam.zero_grad()
        rows = torch.arange(256) * 701 % 200_000 + step
        head(table(rows % 200_000)).square().mean().backward()
        adam.step()


def checkpoints():
    trainer = Trainer(64, 128)
    for _ in range(300):
        trainer.step(torch.ones(64, 64))
        torch.save(trainer.model.state_dict(), "checkpoint.part")
        if not FIXED:
            fd = os.open("checkpoint.part", os.O_RDWR)
            for _ in range(4):
                os.pwrite(fd, b"x", 0)
                os.fsync(fd)
            os.close(fd)
        os.replace("checkpoint.part", "checkpoint.pt")


def fetches():
    def answer(connection):
        with connection:
            connection.recv(100)
            time.sleep(0.04)
            connection.sendall(b"x" * 2000)

    def serve(listener):
        while True:
            threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    def fetch(_):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET")
            return len(connection.recv(4000))
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    port = listener.getsockname()[1]
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    from multiprocessing.pool import ThreadPool
    print(sum(ThreadPool(16).map(fetch, range(100)) if FIXED else map(fetch, range(100))))


def slow_batches():
    train(6, lambda i: time.sleep(0 if FIXED else 3) or torch.ones(64), 1, batch=2)


def kept_tensors():
    def epoch():
        kept, work = [], torch.ones(500, 1500)
        for _ in range(200):
            out = torch.nn.functional.relu(torch.ones(500, 64) @ torch.ones(64, 1500))
            for _ in range(150):
                work.mul_(1.0)
            if not FIXED:
                kept.append(out)
    epoch()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
