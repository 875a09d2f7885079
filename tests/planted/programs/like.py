# SPDX-License-Identifier: MIT
"""What only looks like a bottleneck: it does what a rule counts, but nothing that its remedy would make faster.

  like.py RULE [--prepare]"""
import gzip
import os
import socket
import subprocess
import sys
import threading
import time

import planted


def small_reads():
    """Many short lines, out of a buffer."""
    with open("lines", encoding="ascii") as file:
        for _ in file:
            pass
    planted.compute(0.5)


def reread_files():
    """What it reads again it wrote itself: its own results."""
    for i in range(20):
        with open("results", "wb") as file:
            file.write(bytes([i]) * (1 << 20))
        with open("results", "rb") as file:
            file.read()
        planted.compute(0.1)


def parsed_again():
    """Before each step it looks whether somebody wants it to stop, and computes in the same function."""
    with open("state", "w", encoding="ascii") as file:
        file.write("go on\n")
    total = 0
    for i in range(200):
        with open("state", encoding="ascii") as file:
            if file.read() != "go on\n":
                break
        for k in range(200_000):
            total ^= k
    return total


def packed_file():
    """Each sample is another part of one file, which is opened for it: three epochs read it three times, and a third of it is not kept."""
    def read_sample(index):
        with open("packed", "rb") as file:
            file.seek(index * 20_000)
            return sum(file.read(20_000))
    with open("packed", "wb") as file:
        file.write(bytes(300 * 20_000))
    for _ in range(3):
        for index in range(300):
            read_sample(index)
            planted.compute(0.001)


def own_state():
    """Reads its state, changes it and writes it, each time. In memory: there are disks that take a millisecond to empty a file."""
    import json
    import tempfile

    def change(path, step):
        with open(path) as file:
            state = json.load(file)
        state[str(step)] = step
        with open(path, "w") as file:
            json.dump(state, file)
    with tempfile.NamedTemporaryFile(dir="/dev/shm", mode="w", suffix=".json") as file:
        file.write("{}")
        file.flush()
        for step in range(400):
            change(file.name, step)
            planted.compute(0.002)


def prepares_first():
    """A function of Python takes half of the time, before the training that does not wait for it."""
    import torch

    def tokenize():
        total = 0
        for i in range(12_000_000):
            total ^= i
        return total
    torch.set_num_threads(1)
    tokenize()
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(400):
        optimizer.zero_grad()
        model(torch.ones(256, 64)).square().mean().backward()
        optimizer.step()


def metadata_storm():
    """Looks for its files once, each step computes."""
    for name in os.listdir("data"):
        os.stat("data/" + name)
        planted.compute(0.003)


def lists_its_data():
    """Lists its files before each step: as many calls as names, each from memory, in a hundredth of the time."""
    for _ in range(200):
        for name in os.listdir("data"):
            assert name
        planted.compute(0.01)
        os.stat("data/0")


def work_on(numbers):
    planted.compute(0.004)
    return [number + 1 for number in numbers]


def pickled_data():
    """A pool that is given three hundred lists of a few numbers: to hand them over costs next to nothing."""
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(work_on, [list(range(i, i + 100)) for i in range(300)], chunksize=5)


def pools_made_again():
    """Three pools, one after another, each for an own part of the work, which takes much longer than to fork its processes."""
    import multiprocessing
    for _ in range(3):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            pool.map(work_on, [[1]] * 200, chunksize=5)


def slow_imports():
    """Two hundred modules, and each is where it is looked for first."""
    sys.path.insert(0, "modules")
    for i in range(200):
        __import__(f"module_{i}")
    planted.compute(1)


def collector_in_the_way():
    """Many objects, each gone before the next: nothing is left to look at."""
    for i in range(3_000_000):
        (i, [i])


def rewritten_files():
    """A log that stays open, and one state that is written anew now and then."""
    with open("log", "a", encoding="ascii") as log:
        for i in range(40):
            for line in range(50):
                log.write(f"step {i} {line}\n")
            if i % 10 == 0:
                planted.write_file("state", 1)
            planted.compute(0.03)


def long_sleeps():
    """Waits 50 ms for something to settle, once, and computes."""
    time.sleep(0.05)
    planted.compute(2)


def heap_growth():
    """Reads all that it will need, and works with it."""
    rows = [bytes(1000) + bytes([i % 251]) * 1000 for i in range(60_000)]
    for _ in range(10):
        planted.compute(0.1)
        sum(row[-1] for row in rows)


def synchronous_fsync():
    """One checkpoint, confirmed once."""
    planted.compute(1.5)
    planted.write_file("checkpoint", 8)


def small_writes():
    """Many short lines, into a buffer."""
    with open("out", "w", encoding="ascii") as file:
        for i in range(200_000):
            file.write(f"{i}\n")
    planted.compute(0.5)


def growing_copies():
    """Joins as much in each round, and puts the sums into a list that grows."""
    import numpy
    parts, sums = [numpy.ones((64, 512), numpy.float32)] * 40, []
    for _ in range(300):
        sums.append(float(numpy.concatenate(parts)[::64, 0].sum()))
        planted.compute(0.004)


def growing_work():
    """Sorts as many scores of the last steps each time, and batches differ in their sizes."""
    import torch
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    last = [torch.ones(64)] * 50
    for step in range(600):
        output = model(torch.ones(64 + step * 37 % 256, 64)).squeeze(1)
        optimizer.zero_grad()
        output.square().mean().backward()
        optimizer.step()
        last = last[1:] + [output.detach()]
        torch.argsort(torch.cat(last))[0].item()


def sorted_by_length():
    """Sequences are sorted by their lengths: all that is done with a batch takes longer from step to step."""
    import torch
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 200))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(2000):
        optimizer.zero_grad()
        scores = model(torch.ones(2, step // 10 + 1, 16))
        scores.log_softmax(2).mean().backward()
        optimizer.step()


def compressing():
    """What it reads was compressed, and what it writes is little."""
    with gzip.open("data.gz", "rb") as file:
        for _ in range(20):
            file.seek(0)
            file.read()
            planted.compute(0.15)
    with gzip.open("sums.gz", "wb") as file:
        file.write(bytes(100_000))


def decompressing():
    """Most of what it reads is compressed, but little of its time goes into that."""
    for _ in range(4):
        with gzip.open("data.gz", "rb") as file:
            file.read()
        planted.compute(0.4)


def scanned_tables():
    """Looks for rows by a mask, once; then each sample is a slice."""
    import loader
    import numpy as np
    import pandas as pd
    import torch
    table = pd.DataFrame({"user": np.arange(1_000_000) % 300, "item": np.arange(1_000_000) % 91})
    values = table[table["user"] < 250].sort_values("user")["item"].to_numpy().astype(np.float32)

    class Slices(torch.utils.data.Dataset):
        def __len__(self):
            return 1000

        def __getitem__(self, index):
            return torch.as_tensor(values[index * 700:index * 700 + 64])

    weights = torch.ones(64, 64)

    def step(batch):
        for _ in range(200):
            batch = torch.tanh(batch @ weights)
    loader.train(Slices(), 0, step)


def workers_read_the_same():
    """Each worker reads its own files of samples, and a vocabulary that all of them need."""
    stream_of_numbers(is_kept=False)


def workers_keep_a_file():
    """Each worker reads the whole table once, when it begins, and makes its own samples of it."""
    stream_of_numbers(is_kept=True)


def stream_of_numbers(is_kept):
    import loader
    import torch
    for number in range(4):
        with open(f"numbers{number}", "w") as file:
            file.write("".join(f"{(number + k) % 97}\n" for k in range(600_000 if is_kept and not number else 100_000)))
    with open("vocabulary", "w") as file:
        file.write("word\n" * 3000)

    class Numbers(torch.utils.data.IterableDataset):
        def __iter__(self):
            info = torch.utils.data.get_worker_info()
            with open("numbers0" if is_kept else "vocabulary") as file:
                kept = file.read().split()
            for number in range(info.id, 4, info.num_workers):
                lines = kept[number::4] if is_kept else open(f"numbers{number}")
                for n, line in enumerate(lines):
                    if n % 1000 == 0:
                        planted.compute(0.002)
                        yield float(line if line != "word" else 0)

    def step(batch):
        planted.compute(0.03)
        return batch.sum().item()
    loader.train(Numbers(), 2, step)


def filtered_tables():
    """Takes rows of a large table by masks, some times, in a program that trains nothing."""
    import numpy as np
    import pandas as pd
    table = pd.DataFrame({"user": np.arange(6_000_000) % 300, "item": np.arange(6_000_000) % 91})
    rows = table[table["user"] < 280]
    rows = rows[rows["item"] != 17]
    print(rows["item"].sum())
    planted.compute(0.5)


def rows_one_by_one():
    """Goes through the rows of a small table, with much to do for each."""
    import pandas as pd
    jobs = pd.DataFrame({"number": range(40), "seconds": [0.04] * 40})
    for _, job in jobs.iterrows():
        planted.compute(job["seconds"])


def patterns_compiled_again():
    """Compiles its patterns once, and looks for them often."""
    import re
    patterns = [re.compile(rf"\bname{number}\b", re.IGNORECASE) for number in range(600)]
    for number in range(200):
        text = f"this is name{number} and name{number * 7 % 600}, who met " * 4
        for pattern in patterns:
            text = pattern.sub("PERSON", text)


def serial_fetches():
    """Forty at once, and it computes meanwhile."""
    port = int(os.environ.get("PLANTED_PORT", "0"))

    def fetch():
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET\n")
            connection.recv(65536)

    threads = [threading.Thread(target=fetch) for _ in range(40 if port else 0)]
    for thread in threads:
        thread.start()
    planted.compute(1)
    for thread in threads:
        thread.join()


def gathers_them():
    """A coroutine for each of forty requests, which are all on their way at once, four times; and it computes."""
    import asyncio
    port = int(os.environ.get("PLANTED_PORT", "0"))

    async def fetch():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET\n")
        await reader.read(65536)
        writer.close()

    async def run_all():
        for _ in range(4 if port else 0):
            await asyncio.gather(*(fetch() for _ in range(40)))
            planted.compute(0.5)
    asyncio.run(run_all())


def too_few_workers():
    """One worker is enough."""
    import loader
    import torch

    loader.train(torch.utils.data.TensorDataset(torch.zeros(200, 8)), 1, lambda _: planted.compute(0.03), persistent_workers=True)


def slow_calls():
    """An archive of many members is opened once and read through, and a configuration copied deeply once."""
    import copy
    import zipfile

    with zipfile.ZipFile("many.zip", "w") as archive:
        for i in range(4000):
            archive.writestr(f"{i:05}", b"")
    with zipfile.ZipFile("many.zip") as archive:
        for name in archive.namelist():
            archive.read(name)
    copy.deepcopy([{"id": i} for i in range(2000)])
    planted.compute(1)


def tensors_of_lists():
    """One tensor of a long list, before the first step; in each step one of the few numbers of its targets."""
    import torch

    torch.set_num_threads(1)
    net = torch.nn.Linear(300, 300)
    inputs = torch.tensor([[float(i ^ k) for i in range(300)] for k in range(2000)])
    for step in range(300):
        net.zero_grad()
        torch.nn.functional.cross_entropy(net(inputs[:300]), torch.tensor([step % 300] * 300)).backward()


def tiny_operations():
    """Small batches, but large operations."""
    import torch

    torch.set_num_threads(1)
    weights = torch.ones(300, 300, requires_grad=True)
    for _ in range(40):
        weights.grad = None
        weights.mm(weights).sum().backward()


def growing_in_place():
    """A text and a list that Python lets grow where they are, and what is sorted in them."""
    text, numbers = "", []
    for i in range(3_000_000):
        text += "some words "
        numbers.append(i)
    return len(text), sorted(numbers, key=str)


def one_call_by_ctypes():
    """Twenty calls of a function in C, which has much to do."""
    import ctypes

    library = ctypes.CDLL("libz.so.1")
    data = bytes(200_000_000)
    return [library.adler32(1, data, len(data)) for _ in range(20)]


def double_precision():
    """Trains in float32; only what it measures is summed up in float64."""
    import torch

    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 300))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    inputs, wanted, means = torch.randn(64, 512), torch.randint(0, 300, (64,)), []
    for _ in range(120):
        optimizer.zero_grad()
        outputs = net(inputs)
        torch.nn.functional.cross_entropy(outputs, wanted).backward()
        optimizer.step()
        means.append(outputs.detach().double().t().mm(outputs.detach().double()).mean())
    return means


def fork_of_large_process():
    """Forks once while it is small, and grows then."""
    child = subprocess.Popen(["true"])
    held = [b"x" * (1 << 20) for _ in range(200)]
    planted.compute(1)
    child.wait()
    return held


def idle_child_wait():
    """Two commands, which run while it computes."""
    children = [subprocess.Popen(["sleep", "0.2"]) for _ in range(2)]
    planted.compute(1)
    for child in children:
        child.wait()


def many_short_commands():
    """A script runs some commands that begin at once and others that work, and less of the time than the program computes."""
    script = subprocess.Popen(["sh", "-c", "i=0; while [ $i -lt 60 ]; do expr $i + 1; sort -u /etc/services; i=$((i+1)); done >/dev/null"])
    planted.compute(2)
    script.wait()


def command_of_each_sample():
    """A worker runs a command for each sample, and is ahead of the training all the time."""
    import torch

    class Checked(torch.utils.data.Dataset):
        def __len__(self):
            return 80

        def __getitem__(self, i):
            subprocess.run(["true"], check=True)
            return torch.full((300, 300), float(i))

    torch.set_num_threads(1)
    weights = torch.ones(300, 300, requires_grad=True)
    for values in torch.utils.data.DataLoader(Checked(), batch_size=4, num_workers=1):
        for _ in range(40):
            weights.grad = None
            weights.mm(values[0]).sum().backward()


def sleep_polling():
    """A thread looks at the clock from time to time while the main one computes."""
    def watch():
        for _ in range(100):
            time.sleep(0.01)

    threading.Thread(target=watch, daemon=True).start()
    planted.compute(1.2)


def ticks_beside_work():
    """A coroutine ticks while others wait for what a thread computes; then one makes a request now and then, at its pace."""
    import asyncio
    import hashlib

    async def tick():
        while True:
            await asyncio.sleep(0.02)

    def digest():
        for _ in range(5):
            hashlib.sha256(bytes(16 << 20)).digest()

    async def work():
        ticking = asyncio.ensure_future(tick())
        for _ in range(12):
            await asyncio.get_running_loop().run_in_executor(None, digest)
            planted.compute(0.005)
        ticking.cancel()
        for _ in range(20):
            await asyncio.sleep(0.02)
            planted.compute(0.01)

    asyncio.run(work())


def may_be_stopped():
    """Waits for each result no longer than 20 ms at a time, to look whether it should stop; the result ends the last of these waits."""
    import queue
    results, stops = queue.Queue(), threading.Event()

    def work():
        for i in range(10):
            planted.compute(0.12)
            results.put(i)

    threading.Thread(target=work, daemon=True).start()
    for _ in range(10):
        while not stops.is_set():
            try:
                results.get(timeout=0.02)
                break
            except queue.Empty:
                pass


def slow_dns():
    """Asks for names, and is answered at once."""
    for _ in range(30):
        socket.getaddrinfo("localhost", 80)
        planted.compute(0.03)


def prepare():
    os.makedirs("data", exist_ok=True)
    for i in range(300):
        open(f"data/{i}", "w").close()
    os.makedirs("modules", exist_ok=True)
    for i in range(200):
        with open(f"modules/module_{i}.py", "w", encoding="ascii") as file:
            file.write(f"NUMBER = {i}\n")
    with open("lines", "w", encoding="ascii") as file:
        file.write("short\n" * 1_000_000)
    with gzip.open("data.gz", "wb", compresslevel=1) as file:
        file.write(bytes(range(256)) * 8000)


run = globals()[sys.argv[1]]
planted.main(run, run, prepare)
