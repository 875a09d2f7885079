# SPDX-License-Identifier: MIT
"""A training on GPUs that never happened, as a trace in text: every number is known, so that exports can be held against it.

Each rank is a process with a main thread that launches, a thread that copies, and a slot for what the GPU did. Time is in
nanoseconds; nothing is rounded, and a kernel begins when its stream is free and its launch was made."""
import random

START_REALTIME_NS = 1763640000000000123
DEVICE_SLOT = 0x80000000
LAUNCH, COPY, SYNC = 1, 3, 7  # classes of calls
NAMES = ["_Z4gemmPfS_i", "_Z6conv2dPfS_", "elementwise", "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LLv", 'bad"\\<name>']
QUOTE = str.maketrans({'"': '\\"', "\\": "\\\\"})


def seconds(at_ns):
    return f"{at_ns // 10**9}.{at_ns % 10**9:09d}"


class Rank:
    def __init__(self, number, lines, seed):
        self.pid, self.device, self.lines = 100 + 10 * number, number, lines
        self.random = random.Random(seed + number)
        self.at_ns, self.correlation, self.free_ns = 10_000_000 + number * 1000, 0, {}
        self.work = []  # (kind, start, end, stream, start of the call) of all that the GPU did
        self.calls = self.arrows = self.last_step_ns = 0

    def event(self, at_ns, duration_ns, tid, what):
        plus = f" +{seconds(duration_ns)}" if duration_ns is not None else ""
        self.lines.append(f"{seconds(at_ns)}{plus} {self.pid}/{tid} {what}")

    def call(self, at_ns, duration_ns, name, kind, tid=None):
        self.correlation += 1
        self.calls += 1
        self.event(at_ns, duration_ns, DEVICE_SLOT, f'cuda_call class={kind} result=0 name="{name}" '
                   f"correlation={self.correlation} tid={tid or self.pid}")

    def gpu(self, stream, call_ns, after_ns, duration_ns, what, kind):
        start_ns = max(after_ns, self.free_ns.get(stream, 0) + self.random.randrange(1, 3000))
        self.free_ns[stream] = start_ns + duration_ns
        self.arrows += 1
        self.event(start_ns, duration_ns, DEVICE_SLOT,
                   what.replace("QUEUE", f'correlation={self.correlation} queue="{self.device}/1/{stream}"'))
        self.work.append((kind, start_ns, start_ns + duration_ns, stream, call_ns))
        return start_ns + duration_ns

    def launch(self):
        name = self.random.choice(NAMES)
        length_ns = self.random.randrange(2000, 9001)
        self.call(self.at_ns, length_ns, "cudaLaunchKernel", LAUNCH)
        kind = "communication" if "nccl" in name else "compute"
        self.gpu(20 if kind == "communication" else 7, self.at_ns, self.at_ns + length_ns + self.random.randrange(500, 4000),
                 self.random.randrange(1000, 60000),
                 f'gpu_kernel QUEUE name="{name.translate(QUOTE)}" config="8,4,1 128,2,1 40 2048+{self.correlation}"', kind)
        self.at_ns += length_ns + self.random.randrange(200, 20000)

    def copy(self):
        """One that keeps its caller until the copy is done."""
        start_ns = self.at_ns
        self.correlation += 1
        self.calls += 1
        end_ns = self.gpu(7, start_ns, start_ns + 1500, self.random.randrange(5000, 80000),
                          "gpu_copy kinds=0x10103 QUEUE bytes=1048576", "memory")
        self.event(start_ns, end_ns + 2000 - start_ns, DEVICE_SLOT, f'cuda_call class={COPY} result=0 name="cudaMemcpy" '
                   f"correlation={self.correlation} tid={self.pid + 1}")

    def synchronise(self):
        end_ns = max([self.at_ns + 1000, *self.free_ns.values()]) + 700
        self.call(self.at_ns, end_ns - self.at_ns, "cudaStreamSynchronize", SYNC)
        self.event(self.at_ns + 100, end_ns - self.at_ns - 200, DEVICE_SLOT,
                   f'gpu_sync kind=3 correlation={self.correlation} queue="{self.device}/1/7" event=0 event_correlation=0')
        self.at_ns = end_ns + 500

    def step(self, number, kernels):
        self.last_step_ns = self.at_ns
        self.event(self.at_ns, None, self.pid, f"step number={number}")
        self.at_ns += 1000
        self.event(self.at_ns, None, self.pid, 'range_begin name="forward"')
        self.at_ns += 100
        self.event(self.at_ns, None, self.pid, f'range_open name="overlap {number}" id=0x{number + 1:x}')
        self.copy()
        for _ in range(kernels):
            self.launch()
        self.synchronise()
        self.event(self.at_ns, None, self.pid, "range_end")
        self.at_ns += 50000
        if number:
            self.event(self.at_ns, None, self.pid, f"range_close id=0x{number:x}")
        self.at_ns += self.random.randrange(1000, 200000)


class Bound(Rank):
    """Steps that wait for the GPU at their end, whose stream is never empty between."""

    def __init__(self, lines):
        super().__init__(0, lines, 7)
        self.bounds = []  # (start of the first call, end of the last kernel)

    def step(self, number, kernels):
        self.last_step_ns = begun_ns = self.at_ns
        self.event(self.at_ns, None, self.pid, f'range_begin name="ProfilerStep#{number}"')
        for i in range(kernels):
            self.at_ns += 1000
            begun_ns = self.at_ns if i == 0 else begun_ns
            self.call(self.at_ns, 4000, "cudaLaunchKernel", LAUNCH)
            self.gpu(7, self.at_ns, self.at_ns + 4500, 50000, 'gpu_kernel QUEUE name="gemm" config="8,4,1 128,2,1 40 0+0"', "compute")
            self.at_ns += 4000
        self.synchronise()
        self.bounds.append((begun_ns, self.free_ns[7]))
        self.event(self.at_ns, None, self.pid, "range_end")
        self.at_ns += 300000


class Events(Bound):
    """Steps of one kernel in stream 20, for which another one in stream 7 waits by an event, for which the host does."""

    FIRST_NS, SECOND_NS = 50000, 25000

    def wait(self, kind, name, stream, record, recorded_in, end_ns):
        """On an event that the call `record` has recorded."""
        self.call(self.at_ns, end_ns + 200 - self.at_ns, name, 0 if kind == 2 else SYNC)
        self.event(self.at_ns + 100, end_ns - self.at_ns - 100, DEVICE_SLOT,
                   f'gpu_sync kind={kind} correlation={self.correlation} queue="{self.device}/1/{stream}" event=1 event_correlation={record}')
        self.event(self.at_ns + 100, None, DEVICE_SLOT, f'gpu_event_record correlation={self.correlation} event_correlation={record} '
                   f'queue="{self.device}/1/{recorded_in}"')
        self.at_ns = end_ns + 500

    def kernel(self, stream, duration_ns):
        begun_ns = self.at_ns
        self.call(begun_ns, 4000, "cudaLaunchKernel", LAUNCH)
        self.gpu(stream, begun_ns, begun_ns + 4500, duration_ns, 'gpu_kernel QUEUE name="gemm" config="8,4,1 128,2,1 40 0+0"', "compute")
        self.at_ns += 5000
        self.call(self.at_ns, 1000, "cudaEventRecord", 0)
        self.at_ns += 1500
        return self.correlation

    def step(self, number, kernels=0):
        self.last_step_ns = self.at_ns
        self.event(self.at_ns, None, self.pid, f'range_begin name="ProfilerStep#{number}"')
        self.at_ns += 1000
        begun_ns = self.at_ns
        first = self.kernel(20, self.FIRST_NS)
        self.wait(2, "cudaStreamWaitEvent", 7, first, 20, self.at_ns + 600)
        self.free_ns[7] = self.free_ns[20]
        second = self.kernel(7, self.SECOND_NS)
        self.wait(1, "cudaEventSynchronize", "-", second, 7, self.free_ns[7] + 700)
        self.bounds.append((begun_ns, self.free_ns[7]))
        self.event(self.at_ns, None, self.pid, "range_end")
        self.at_ns += 300000


def write(path, ranks=2, steps=6, kernels=30, seed=7, told_ranks=()):
    """The trace; returns the ranks with what they did. `told_ranks` is what a launcher called each of them, or None."""
    told = []
    for number in range(ranks):
        rank = Rank(number, [], seed)
        rank.event(1_000_000, None, DEVICE_SLOT, f'gpu_device device={number} name="NVIDIA H200" memory_bytes=150000000000 '
                   'properties="{\\"numSms\\":132,\\"warpSize\\":32}"')
        rank.event(1_100_000, None, DEVICE_SLOT, f'gpu_memory is_release=0 place="{number}/3" addr=0x7f0000000000 bytes=1000')
        rank.event(1_200_000, None, DEVICE_SLOT, f'gpu_memory is_release=0 place="{number}/3" addr=0x7f0000001000 bytes=500')
        rank.event(900_000_000_000, None, DEVICE_SLOT,
                   f'gpu_memory is_release=1 place="{number}/3" addr=0x7f0000000000 bytes=1000')
        for step in range(steps):
            rank.step(step, kernels)
        told.append(rank)
    save(path, told, told_ranks)
    return told


def save(path, told, told_ranks=()):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"proftrace-text 1 start_realtime_ns={START_REALTIME_NS}\n")
        for number, rank in enumerate(told):
            called = told_ranks[number] if number < len(told_ranks) else None
            said = "" if called is None else f" rank={called} local_rank={called} world_size=8"
            file.write(f'process {rank.pid}{said} ppid=1 uid=1000 trace_id=0x{rank.pid:x} start=0.000000000 end=1000.000000000 '
                       'state=exited exit_status=0 heap=off heap_sample_bytes=0 cpu_ns=900000000 max_rss_bytes=268435456 '
                       'boot="b" host="h1" stage="train" comm="python3" exe="/usr/bin/python3" cwd="/work" argc=2 '
                       'argv=["python3" "train.py"]\n')
            for slot, tid in enumerate((rank.pid, rank.pid + 1, DEVICE_SLOT)):
                file.write(f"thread {rank.pid}/{tid} slot={slot} life=1 start=0.000000000\n")
        for rank in told:
            file.write("\n".join(rank.lines) + "\n")


def union(intervals):
    """How long at least one of them lasts."""
    total, until = 0, None
    for start, end in sorted(intervals):
        if until is None or start > until:
            total, until = total + end - start, end
        elif end > until:
            total, until = total + end - until, end
    return total
