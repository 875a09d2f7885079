# SPDX-License-Identifier: MIT
"""A training as phases, on a clock of its own: what a loop does is written as Python, what it takes is planted.

    world = World()
    rank = world.process()
    for batch in rank.loader("Images", batches=8).iterate(wait_ms=5):
        rank.forward(10); rank.backward(20); rank.step("sgd", 2)
    training = world.report()["stages"][0]["training"]
"""
import contextlib
import json
import os
import subprocess
import tempfile

PROFTRACE = os.path.join(os.environ.get("PROFTRACE_BUILD", "build"), "proftrace")


class Loader:
    """A DataLoader: each pass has an iterator of its own; `samples` in each batch."""

    def __init__(self, process, name, batches, samples, workers, start_ms, place=None):
        self.process, self.name, self.batches, self.samples, self.workers, self.start_ms = process, name, batches, samples, workers, start_ms
        self.place = place
        self.id = process.new_object()

    def iterator(self):
        return Iterator(self)

    def iterate(self, wait_ms=1, first_ms=None):
        iterator = self.iterator()
        while iterator.next(first_ms if first_ms is not None and iterator.given == 0 else wait_ms):
            yield iterator.given


class Iterator:
    def __init__(self, loader):
        self.loader, self.given, self.id = loader, 0, loader.process.new_object()
        loader.process.phase("loader_start", loader.start_ms, loader.name, object=loader.id, made=self.id, amount=loader.workers,
                             place=loader.place)

    def next(self, wait_ms=1):
        """False = exhausted."""
        has = self.loader.batches is None or self.given < self.loader.batches
        self.given += has
        self.loader.process.phase("data_wait", wait_ms, object=self.id, amount=self.loader.samples if has else 0,
                                  outcome="done" if has else "exhausted")
        return has


class Process:
    def __init__(self, world, pid, rank):
        self.world, self.pid, self.rank, self.ns, self.lines, self.objects = world, pid, rank, 100_000_000, [], 0x1000 * pid
        self.state, self.times = "state=exited exit_status=0", {}

    def new_object(self):
        self.objects += 16
        return self.objects

    def event(self, text, tid=None):
        self.lines.append((self.ns, f"{self.ns // 10**9}.{self.ns % 10**9:09d} {self.pid}/{tid or self.pid} {text}"))

    def takes(self, ms, text):
        start = self.ns
        self.rest(ms)
        self.lines.append((self.ns, f"{start // 10**9}.{start % 10**9:09d} +{(self.ns - start) / 1e9:.9f} {self.pid}/{self.pid} {text}"))

    def receive(self, ms):
        """Wait for another rank."""
        self.takes(ms, 'net_receive fd=5 result=4000 path="tcp 10.0.0.2:29500" flags=0x0 messages=1')

    def rest(self, ms):
        self.ns += round(ms * 1e6)

    @contextlib.contextmanager
    def within(self, phase, name="", object=0, amount=0, made=0, outcome="done", place=None):
        """`place`: LINE:FIRST LINE:FUNCTION:FILE of the user's Python."""
        if place:
            self.event(f'python_place stack=["230:200:__iter__:/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py" "{place}"] stands_for_ns=0')
        self.event(f'phase_begin phase={phase} object={object:#x}' + (f' name="{name}"' if name else ""))
        yield
        self.event(f"phase_end outcome={outcome} amount={int(amount)} object={made:#x}")

    def phase(self, phase, ms, name="", **keys):
        with self.within(phase, name, **keys):
            self.rest(ms)
        self.times[phase] = self.times.get(phase, 0) + ms

    def loader(self, name="Images", batches=8, samples=4, workers=0, start_ms=3, place=None):
        return Loader(self, name, batches, samples, workers, start_ms, place)

    def forward(self, ms=2, model=1, evaluates=False, place=None):
        self.phase("forward", ms, "Net", object=model, amount=evaluates, place=place)

    def forward_with_forces(self):
        """A derivative is what the model computes."""
        with self.within("forward", "ForceField", object=1):
            self.rest(1)
            self.phase("backward", 1, "grad")

    def backward(self, ms=4):
        self.phase("backward", ms)

    def step(self, optimizer="sgd", ms=1):
        self.phase("optimizer_step", ms, optimizer, object=sum(optimizer.encode()))

    def train(self, optimizer="sgd"):
        """7 ms."""
        self.forward()
        self.backward()
        self.step(optimizer)


class World:
    def __init__(self):
        self.processes, self.workers = [], []
        self.forkserver = None  # the pid of one, whose copies the workers are

    def worker(self, parent, start_ns, end_ns=None):
        """A process that a training starts; None = it lives as long."""
        self.workers.append((1000 + len(self.workers), parent, start_ns, end_ns))

    def process(self, rank=None):
        self.processes.append(Process(self, 100 + len(self.processes), rank))
        return self.processes[-1]

    def text(self):
        end = max(p.ns for p in self.processes) + 100_000_000
        out, lines = ["proftrace-text 1 start_realtime_ns=1705320000000000000"], []
        for p in self.processes:
            of_rank = "" if p.rank is None else f" rank={p.rank} local_rank={p.rank} world_size={len(self.processes)}"
            out.append(f'process {p.pid} ppid=1 uid=1000 trace_id={p.pid:#x} start=0.000000000 end={end // 10**9}.{end % 10**9:09d} {p.state} '
                       f'heap=sampled heap_sample_bytes=524288 cpu_ns=1000000000 max_rss_bytes=268435456 boot="b" host="h1" stage="train" '
                       f'comm="python3" exe="/usr/bin/python3" cwd="/app"{of_rank} argc=2 argv=["python3" "train.py"]')
            out += [f'module {p.pid} start=0x600000 end=0x700000 bias=0x600000 since=0.010000000 build_id= path="/usr/lib/libtorch_cpu.so"']
            out += [f"thread {p.pid}/{p.pid} slot=0 life=1 start=0.000000000"]
            lines += p.lines
        arguments, server = 'argc=2 argv=["python3" "train.py"]', []
        if self.forkserver:
            arguments = 'argc=3 argv=["python3" "-c" "from multiprocessing.forkserver import main; main(3, 4, [])"]'
            server = [(self.forkserver, self.processes[0], 50_000_000, None)]
        for pid, parent, start, until in server + self.workers:
            until = until or end
            by = self.forkserver if self.forkserver and pid != self.forkserver else parent.pid
            out.append(f'process {pid} ppid={by} uid=1000 trace_id={pid:#x} parent_trace_id={by:#x} start={start // 10**9}.{start % 10**9:09d} '
                       f'end={until // 10**9}.{until % 10**9:09d} state=exited exit_status=0 heap=off cpu_ns=1000000 max_rss_bytes=67108864 boot="b" '
                       f'host="h1" stage="train" comm="python3" exe="/usr/bin/python3" cwd="/app" {arguments}')
            out.append(f"thread {pid}/{pid} slot=0 life=1 start={start // 10**9}.{start % 10**9:09d}")
        out += [text for _, text in sorted(lines, key=lambda line: line[0])]
        return "\n".join(out + [f"heap {p.pid} slot=0 frees=9000 failures=0 classes=[16:10000:2560000]" for p in self.processes]) + "\n"

    @contextlib.contextmanager
    def run(self):
        """The folder of its traces."""
        with tempfile.TemporaryDirectory() as folder:
            story = os.path.join(folder, "story.pt.txt")
            with open(story, "w", encoding="utf-8") as file:
                file.write(self.text())
            run = os.path.join(folder, "run")
            os.mkdir(run)
            self.command("assemble", story, "-o", run)
            yield run

    def command(self, *argv):
        done = subprocess.run([PROFTRACE, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              env=dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="120"))
        if done.returncode:
            raise AssertionError(f"{argv[0]} exits {done.returncode}: {done.stderr.decode()}")
        return done.stdout.decode()

    def report(self, *options):
        """report.json, or what another format says."""
        with self.run() as run:
            text = self.command("report", run, *(options or ["--format", "json"]))
            return text if options else json.loads(text)

    def training(self):
        return self.report()["stages"][0]["training"]
