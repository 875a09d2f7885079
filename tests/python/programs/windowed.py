# SPDX-License-Identifier: MIT
"""A small training. What it does besides is in its arguments: each test of windows says what it wants. Prints its losses."""
import contextlib
import cProfile
import gc
import json
import os
import pathlib
import sys
import threading

WANTED = set(sys.argv[1:])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "preload/python"))
if "marks_before" in WANTED:
    from proftrace import step as mark_step
import torch
from torch.utils.data import DataLoader, TensorDataset

if "marks" in WANTED:
    from proftrace import step as mark_step
torch.manual_seed(0)
torch.set_num_threads(1)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 8 * 8, 10))

    def forward(self, images):
        return self.layers(images)


def keep_own_table():
    """torch.profiler's own sums of each trace that is written, beside it."""
    original = torch.profiler.profile.export_chrome_trace

    def export(self, path):
        rows = [[row.key, row.count, row.self_cpu_time_total, row.cpu_time_total, row.flops] for row in self.key_averages()]
        with open(path + ".table", "w") as file:
            json.dump(rows, file)
        return original(self, path)

    torch.profiler.profile.export_chrome_trace = export


def own_profiler():
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])


def said(name):
    """What it does, told to torch.profiler: so it is known without us where operators belong."""
    return torch.profiler.record_function(f"own:{name}") if "ranges" in WANTED else contextlib.nullcontext()


net = Net()
data = TensorDataset(torch.randn(80, 3, 16, 16), torch.randint(0, 10, (80,)))
if "table" in WANTED:
    keep_own_table()
counts, steps, own = [], 0, None
class Loss(torch.nn.CrossEntropyLoss):
    def parameters(self, recurse=True):
        raise NotImplementedError  # a program may do so, as long as nobody asks


class OwnIter(DataLoader):
    """It never comes to DataLoader's, as torchdata's."""
    def __iter__(self):
        return self._get_iterator()


class Ahead(DataLoader):
    """As accelerate's: it reads a batch ahead, to know the last one."""
    def __iter__(self):
        batches = super().__iter__()
        batch = next(batches)
        for following in batches:
            yield batch
            batch = following
        yield batch


class TwoInTurn(DataLoader):
    """A batch of one, a batch of the other."""
    def __iter__(self):
        one, other = (iter(DataLoader(TensorDataset(*self.dataset[part::2]), batch_size=8)) for part in range(2))
        for batch in one:
            yield batch
            yield next(other)


class TwoOfOne(DataLoader):
    """The same, of one data set: two samplers share it."""
    def __iter__(self):
        halves = [range(part, len(self.dataset), 2) for part in range(2)]
        one, other = (iter(DataLoader(self.dataset, batch_size=8, sampler=half)) for half in halves)
        for batch in one:
            yield batch
            yield next(other)


class OneEach:
    """Many optimizers for one step, as where each parameter has its own, which steps within the backward pass."""
    def __init__(self, parameters):
        self.each = [torch.optim.SGD([one], lr=0.01) for one in parameters for _ in range(8)]

    def zero_grad(self):
        for one in self.each:
            one.zero_grad()

    def step(self):
        for one in self.each:
            one.step()


class Mean(Net):
    """A copy whose weights are means: some validate that one."""


class Teacher(Net):
    """Frozen, and called in each step before the model."""


class Features(Net):
    """Frozen, and called in each step with what the model says."""


mean, teacher, features = Mean().eval(), Teacher().eval(), Features().eval()


def evaluate():
    net.eval()
    with torch.no_grad():
        for images, labels in DataLoader(data, batch_size=40):
            criterion((mean if "mean" in WANTED else net)(images), labels)
            if "frozen" in WANTED:
                features(images)
    net.train()


optimizer = OneEach(net.parameters()) if "one_each" in WANTED else torch.optim.SGD(net.parameters(), lr=0.01)
Loader = OwnIter if "own_iter" in WANTED else Ahead if "ahead" in WANTED else TwoInTurn if "in_turn" in WANTED else TwoOfOne if "two_of_one" in WANTED else DataLoader
if "infinite" in WANTED:
    from ultralytics.data.build import InfiniteDataLoader as Loader  # the test's own, of the shape of theirs

def warmed(loader):
    """The next epoch's workers are started before this one's batches are read."""
    batches = iter(loader)
    while True:
        following = iter(loader)
        yield batches
        batches = following


def count_in_a_thread():
    calls = cProfile.Profile()
    calls.enable()
    calls.disable()


early, trials = warmed(DataLoader(data, batch_size=8)), []
train_loader = None
criterion = Loss()  # a module that is never told of an evaluation
for epoch in range(3):
    net.train()
    train_loader = train_loader if "infinite" in WANTED and train_loader else Loader(data, batch_size=8)
    for images, labels in next(early) if "warm" in WANTED else train_loader:
        if "profiles_itself" in WANTED and steps == 12:
            own = own_profiler()
            own.__enter__()
        if WANTED & {"marks", "marks_before"} and steps % 2 == 0:
            mark_step(steps // 2)
        with torch.profiler.record_function(f"number:{steps + 1}") if "numbers" in WANTED else contextlib.nullcontext():
            optimizer.zero_grad()
        if "fails" in WANTED and steps == 6:
            raise KeyError("within a step")
        if "frozen" in WANTED:
            teacher(images)
        with said("forward"):
            outputs = net(images)
        if "looks" in WANTED:
            sys.exit(0)
        loss = criterion(outputs, labels)
        if "frozen" in WANTED:
            features(images)
        with said("backward"):
            loss.backward()
        optimizer.step()
        steps += 1
        if WANTED & {"counts_itself", "sets_profile"} and steps == 6:
            own_calls = []
            if "counts_itself" in WANTED:
                own_calls = cProfile.Profile()
                own_calls.enable()
            else:
                sys.setprofile(lambda frame, event, argument: own_calls.append(frame.f_code.co_name) if event == "call" else None)
        if WANTED & {"counts_itself", "sets_profile"} and steps == 12:
            if "counts_itself" in WANTED:
                own_calls.disable()
                own_calls = [one.code.co_name for one in own_calls.getstats() if not isinstance(one.code, str) for _ in range(one.callcount)]
            sys.setprofile(None)
            print("forward", own_calls.count("forward"))
        if "sets_profile" in WANTED and steps == 10:
            gc.collect()  # what a window has left behind is gone
        if "counts_in_a_thread" in WANTED and steps == 6:
            thread = threading.Thread(target=count_in_a_thread)
            thread.start()
            thread.join()
        if "counts_in_a_thread" in WANTED and steps == 10:
            print("left on", sys.getprofile())
        if own and steps == 15:
            own.__exit__(None, None, None)
            counts = sorted((row.key, row.count) for row in own.key_averages() if not row.key.startswith("ProfilerStep"))
            own = None
        if "ahead" in WANTED and steps % 10 == 9:
            evaluate()
        if "dies" in WANTED and steps == 8:
            os.kill(os.getpid(), 9)
        if "ends" in WANTED and steps == 8:
            print("leaves", loss.item())
            sys.exit(3)
        if "forks" in WANTED and steps == 7:
            child = os.fork()
            if child == 0:
                os._exit(0 if loss.item() > 0 else 1)
            os.waitpid(child, 0)
    if "trials" in WANTED:
        trials.append(optimizer)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    evaluate()
    print(epoch, loss.item())
print(json.dumps(counts))
