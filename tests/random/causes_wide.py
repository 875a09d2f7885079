# SPDX-License-Identifier: MIT
"""More causes: those that need something around them, more than one CPU, or more than one process; and those without seconds."""
import contextlib

import surroundings as around

from causes import cause


@contextlib.contextmanager
def many_omp_threads(_folder):
    yield around.Start(environment={"OMP_NUM_THREADS": "16"})


@contextlib.contextmanager
def two_omp_threads(_folder):
    yield around.Start(environment={"OMP_NUM_THREADS": "2"})


# ---- files ----
cause("rewritten_file", "python", "rewritten_files synchronous_fsync metadata_storm", """
for i in range(1 if FIXED and part == 0 else 0 if FIXED else $count // $parts):
    with open("state.json", "w") as file:  # planted here
        file.write("x" * $size)  # planted here
""", amounts={"count": [1000, 2500], "size": [200, 5000]})
cause("parsed_again", "python", "parsed_again", """
for i in range(1 if FIXED and part == 0 else 0 if FIXED else $times // $parts):
    $helper("table.txt")
""", setup="""
def $helper(path):
    with open(path) as file:
        return {name: float(value) for name, value in (line.split($separator) for line in file)}  # planted here
""", prepare="""
open("table.txt", "w").write("".join(f"{i}{$separator}{i * 3 % 97}\\n" for i in range($lines)))
""", amounts={"lines": [1000, 5000, 20_000], "total_lines": [4_000_000, 6_000_000], "separator": ["','", "' '"]},
      derived={"times": "max(total_lines // lines // parts, 1) * parts"}, places=("main", "fork"))
cause("large_writes", "c", "file_writing", """
    static char block[1 << 20];
    const int fd = open("/dev/shm/random-large-$seed", O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < (truth_fixed ? 1 : $count / $parts); i++)
        if (pwrite(fd, block, sizeof block, (off_t)(i % 64) << 20) < 0)
            abort();
    close(fd);
    unlink("/dev/shm/random-large-$seed");
""", amounts={"count": [6000, 10000]})
cause("slow_device", "python", "slow_device dataloader_disk_bound", """
with open(NAME, "rb", buffering=0) as file:
    file.seek(part * $megabytes * 1000000 // $parts)
    for _ in range($megabytes // $parts):
        file.readinto(buffer)  # planted here
""", setup="""
NAME = "data.bin"
buffer = bytearray(1000000)
""", prepare="""
import os
block = os.urandom(1000000)
with open("data.bin", "wb") as file:
    for _ in range($megabytes):
        file.write(block)
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
""", amounts={"megabytes": [10, 20]}, around=(around.slow_device, around.nothing), places=("main", "thread", "fork"))
cause("cold_mapping", "c", "cold_mapping", """
    const int fd = open("data.bin", O_RDONLY);
    const char *data = mmap(NULL, (size_t)$megabytes * 1000000, PROT_READ, MAP_SHARED, fd, 0);
    for (long at = (long)part * $megabytes * 1000000 / $parts; at < (long)(part + 1) * $megabytes * 1000000 / $parts; at += 4096)
        truth_sink += data[at];
    munmap((void *)data, (size_t)$megabytes * 1000000);
    close(fd);
""", setup="#include <sys/mman.h>", prepare="""
import os
block = os.urandom(1000000)
with open("data.bin", "wb") as file:
    for _ in range($megabytes):
        file.write(block)
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
""", amounts={"megabytes": [10, 20]}, around=(around.slow_device, around.nothing), places=("main", "thread"))

# ---- network ----
cause("fetches", "python", "serial_fetches", """
numbers = range($count // $parts)
if FIXED:
    with multiprocessing.pool.ThreadPool(20) as pool:
        pool.map($helper, numbers, chunksize=1)
else:
    for number in numbers:
        $helper(number)
""", setup="""
import multiprocessing.pool
import socket


def $helper(number):
    with socket.create_connection(("127.0.0.1", int(os.environ["PLANTED_PORT"]))) as connection:  # planted here
        connection.sendall(b"GET %d" % number)  # planted here
        return connection.recv(65536)  # planted here
""", amounts={"count": [20, 40]}, parts=(1,), around=(around.slow_server, around.slow_server))
cause("names", "python", "slow_dns", """
for i in range(1 if FIXED else $count // $parts):
    socket.getaddrinfo(f"host-{i % 2}.planted.test", 80, socket.AF_INET, socket.SOCK_STREAM)  # planted here
""", setup="import socket", amounts={"count": [10, 20]}, parts=(1,), around=(around.slow_resolver, around.slow_resolver),
      places=("main", "thread"))

# ---- processes and threads ----
cause("big_forks", "python", "fork_of_large_process", """
memory = None if FIXED else large()
for _ in range($count // $parts):
    pid = os.fork()  # planted here
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
memory = memory or large()
""", setup="""
import mmap


def large():
    memory = mmap.mmap(-1, $megabytes << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    memory[::4096] = bytes(len(memory) // 4096)
    return memory
""", amounts={"megabytes": [700, 1000], "count": [80, 150]}, parts=(1,), places=("main",))
cause("gil", "python", "gil_contention", """
if FIXED:
    workers = [multiprocessing.Process(target=truth.compute, args=($work_units // $threads,)) for _ in range($threads)]
else:
    workers = [threading.Thread(target=truth.compute, args=($work_units // $threads,)) for _ in range($threads)]  # planted here
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
""", setup="""
import multiprocessing
import threading
""", amounts={"threads": [2, 4], "work_units": [1500, 2500]}, parts=(1,), places=("main",), has_rest=False, known="cpu / 2")
cause("slow_worker", "c", "worker_imbalance", """
    for (int i = 0; i < 2; i++)
        if (!fork()) {
            truth_compute(truth_fixed ? $units_of_work / 2 : i ? $units_of_work / 10 : $units_of_work * 9 / 10);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
""", amounts={"units_of_work": [1500, 2500]}, parts=(1,), places=("main",), has_rest=False, known="0.4 * cpu")
cause("slow_task", "python", "worker_imbalance", """
tasks = [$small] * (2 * $count) if FIXED else [$small] * $count + [$small * $count]
with multiprocessing.Pool(2) as pool:
    pool.map(truth.compute, tasks, chunksize=1)  # planted here
""", setup="import multiprocessing", amounts={"small": [20, 40], "count": [20, 30]}, parts=(1,), places=("main",), has_rest=False,
      known="cpu / 4")
cause("too_many_threads", "c", "oversubscribed_threads", """
    pthread_t threads[$threads];
    n_threads = truth_fixed ? (int)sysconf(_SC_NPROCESSORS_ONLN) : $threads;
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, $helper, NULL);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
""", setup="""
#include <sched.h>
#include <stdatomic.h>
static int n_threads;
static atomic_int arrived, step;
static _Thread_local volatile long sum;
static void *$helper(void *unused)
{
    for (int i = 0; i < $steps; i++) {
        for (int j = 0; j < $work_of_step / n_threads; j++)
            sum++;
        const int now = atomic_load(&step);
        if (atomic_fetch_add(&arrived, 1) + 1 == n_threads) {
            atomic_store(&arrived, 0);
            atomic_fetch_add(&step, 1);
            continue;
        }
        for (int spins = 0; atomic_load(&step) == now; spins++)
            if (spins % 20000 == 19999)
                sched_yield();
    }
    return unused;
}
""", amounts={"threads": [12, 16, 24], "steps": [300, 500], "work_of_step": [1_000_000, 2_000_000]}, parts=(1,), places=("main",), cpus=2)
cause("openmp", "c", "oversubscribed_threads", """
    static double values[1 << 16];
    for (int i = 0; i < $regions / $parts; i++) {
#pragma omp parallel for
        for (int j = 0; j < 1 << 16; j++)
            values[j] = values[j] * 0.5 + j;
    }
""", amounts={"regions": [3000, 6000]}, places=("main",), cc=("-fopenmp",), around=(many_omp_threads, two_omp_threads), cpus=2)
cause("throttled", "python", "cpu_throttled", """
truth.compute($ms // $parts)
""", amounts={"ms": [150, 300]}, has_rest=False, around=(around.tenth_of_a_cpu, around.nothing), places=("main", "thread"), known="wall - cpu, run - cpu")

# ---- memory ----
cause("remapping", "python", "large_blocks_remapped page_fault_storm", """
for i in range($count // $parts):
    layers = [bytes(ONES) for _ in range($layers)]  # planted here
    while layers:
        layers.pop()
""", setup="ONES = bytearray($kilobytes << 10)", amounts={"kilobytes": [2000, 6000], "layers": [15, 30], "total": [4_000_000, 8_000_000]},
      derived={"count": "total // kilobytes // layers // parts * parts"}, around=(around.nothing, around.malloc_that_keeps),
      places=("main",))
cause("faults", "python", "page_fault_storm", """
for i in range($count // $parts):
    memory = KEPT or mapped()
    memory[::4096] = ONES  # planted here
""", setup="""
import mmap
ONES = bytes(($megabytes << 20) // 4096)


def mapped():
    memory = mmap.mmap(-1, $megabytes << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return memory


KEPT = mapped() if FIXED else None
""", amounts={"megabytes": [16, 64], "total": [4096, 8192]}, derived={"count": "total // megabytes // parts * parts"})
cause("leak", "c", "heap_growth", """
    static char *kept[100];
    for (int i = 0; i < 10; i++) {
        char *block = memset(malloc($kilobytes << 10), i, $kilobytes << 10);
        truth_compute($ms);
        if (truth_fixed)
            free(block);
        else
            kept[part * 10 + i] = block;
    }
""", end="""
    truth_sink++;
""", amounts={"kilobytes": [500, 1500, 3000], "ms": [20, 30]}, parts=(10,), in_seconds=False, has_rest=False, places=("main", "thread"))
cause("leak", "python", "heap_growth", """
for i in range(10):
    result = bytearray(os.urandom(1000) * $kilobytes)  # planted here
    truth.compute($ms)
    if not FIXED:
        kept.append(result)
if part == 9:
    kept.clear()  # the leak ends with what it is part of
""", setup="kept = []", amounts={"kilobytes": [500, 1500, 3000], "ms": [20, 30]}, parts=(10,), in_seconds=False, has_rest=False,
      places=("main",))

# ---- ends, and what is not seen ----
cause("crash", "c", "died_by_signal", """
    const pid_t pid = fork();
    if (!pid) {
        truth_compute(200);
        if (!truth_fixed)
            raise($signal);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
""", setup="#include <signal.h>", amounts={"signal": ["SIGSEGV", "SIGBUS", "SIGABRT"]}, parts=(1,), in_seconds=False, places=("main",))
cause("untraced", "python", "mostly_untraced", """
code = "t = 0\\nfor i in range($count):\\n    t ^= i"
command = [sys.executable, "-c", code]
subprocess.run(command if FIXED else ["env", "-i", *command], check=True)
""", setup="import subprocess", amounts={"count": [20_000_000]}, parts=(1,), in_seconds=False, places=("main",))
