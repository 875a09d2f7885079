# SPDX-License-Identifier: MIT
"""What can be wrong with a program, in C and in Python, and what only looks like it.

A body runs once for each part; what it does in the fixed variant is what a person would do who takes the advice. Amounts are drawn by
the grammar; `$$`-words are filled in by it."""
import dataclasses

import surroundings as around

PYTHON = ("/usr/bin/python3",)


@dataclasses.dataclass
class Cause:
    """`rules`: the findings of which one must be the first; none: there must be no finding that costs more than a twentieth."""
    name: str
    language: str
    rules: tuple
    body: str
    setup: str = ""
    prepare: str = ""
    end: str = ""
    amounts: dict = dataclasses.field(default_factory=dict)
    derived: dict = dataclasses.field(default_factory=dict)
    places: tuple = ("main", "main", "main", "thread", "fork")
    parts: tuple = (1, 1, 4, 10)
    wrapped: bool = True
    has_rest: bool = True
    in_seconds: bool = True
    around: tuple = (around.nothing, around.nothing)  # of the bad variant, of the fixed one
    cc: tuple = ()
    python: tuple = PYTHON
    needs_torch: bool = False
    needs_fast_blas: bool = False  # with the reference one, of one thread, the product of matrices is all that there is
    cpus: int = 1  # that must be free for the gain
    known: str = ""  # the gain, or the least and the most, from the wall and CPU time of the bad variant, and that of the whole run: what is not to be measured beside other programs


CAUSES = []


def cause(name, language, rules, body, **more):
    CAUSES.append(Cause(name, language, tuple(rules.split()), body, **more))


# ---- files ----
cause("small_reads", "python", "small_reads", """
with open(f"data-{part}.bin", "rb", buffering=-1 if FIXED else 0) as file:
    while file.read($size):  # planted here
        pass
""", prepare="""
for part in range($parts):
    open(f"data-{part}.bin", "wb").write(bytes($count // $parts * $size))
""", amounts={"size": [7, 16, 40, 100, 400], "count": [1_200_000, 2_000_000]})
cause("small_reads", "c", "small_reads", """
    static char buffer[1 << 16];
    char name[32];
    snprintf(name, sizeof name, "data-%d.bin", part);
    const int fd = open(name, O_RDONLY);
    while (read(fd, buffer, truth_fixed ? sizeof buffer : $size) > 0)
        ;
    close(fd);
""", prepare="""
for part in range($parts):
    open(f"data-{part}.bin", "wb").write(bytes($count // $parts * $size))
""", amounts={"size": [1, 8, 32, 64, 512], "count": [4_000_000, 7_000_000]})

cause("small_writes", "python", "small_writes", """
with open("out.txt", "ab", buffering=1 << 16 if FIXED else 0) as file:
    for i in range($count // $parts):
        file.write(b"x" * $size)  # planted here
""", amounts={"size": [4, 16, 60, 200], "count": [700_000, 1_200_000]})
cause("small_writes", "c", "small_writes", """
    static char buffer[1 << 16];
    const int fd = open("out.txt", O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (long i = 0, n = 0; i < $count / $parts; i++) {
        memset(buffer + n, 'x', $size);
        n += $size;
        if (!truth_fixed || n > (1 << 16) - $size) {
            if (write(fd, buffer, (size_t)n) < 0)
                abort();
            n = 0;
        }
    }
    close(fd);
""", amounts={"size": [4, 16, 60, 200], "count": [2_000_000, 4_000_000]})

cause("unbuffered_stdio", "c", "unbuffered_stdio small_writes", """
    FILE *file = fopen("out.txt", "a");
    if (!truth_fixed)
        setvbuf(file, NULL, _IONBF, 0);
    for (int i = 0; i < $count / $parts; i++)
        fputs("a line of text\\n", file);
    fclose(file);
""", amounts={"count": [4_000_000, 8_000_000]})

cause("metadata", "python", "metadata_storm", """
if FIXED:
    present = set(os.listdir("files"))
    found = sum(f"{i}.jpg" in present for i in range($count // $parts))
else:
    found = sum(os.path.exists(f"files/{i}.jpg") for i in range($count // $parts))  # planted here
""", prepare="""
import os
os.mkdir("files")
for i in range(1500):
    open(f"files/{i}.jpg", "w").close()
""", amounts={"count": [300_000, 600_000]})
cause("metadata", "c", "metadata_storm", """
    char path[64];
    for (int i = 0; i < ($count / $parts) / (truth_fixed ? 1000 : 1); i++) {
        snprintf(path, sizeof path, "files/%d.jpg", i);
        access(path, R_OK);
    }
""", prepare="""
import os
os.mkdir("files")
for i in range(1500):
    open(f"files/{i}.jpg", "w").close()
""", amounts={"count": [800_000, 1_500_000]})

cause("many_opens", "python", "metadata_storm reread_files", """
for i in range($count // $parts):
    if FIXED and (part or i >= 500):
        continue
    with open(f"files/{i % 500}.txt", "rb", buffering=0) as file:  # planted here
        file.read()  # planted here
""", prepare="""
import os
os.mkdir("files")
for i in range(500):
    open(f"files/{i}.txt", "w").write("x" * $size)
""", amounts={"count": [250_000, 400_000], "size": [100, 2000]})

cause("fsync", "python", "synchronous_fsync", """
with open("log.bin", "ab", buffering=0) as file:
    for i in range($count // $parts):
        file.write(bytes($size))
        if not FIXED:
            os.fsync(file.fileno())  # planted here
""", amounts={"count": [1500, 3000], "size": [100, 4096, 50_000]})
cause("fsync", "c", "synchronous_fsync", """
    static char block[$size];
    const int fd = open("log.bin", O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (int i = 0; i < $count / $parts; i++) {
        if (write(fd, block, sizeof block) < 0)
            abort();
        if (!truth_fixed)
            fdatasync(fd);
    }
    close(fd);
""", amounts={"count": [1500, 3000], "size": [100, 4096, 50_000]})

cause("reread", "c", "reread_files", """
    static char block[1 << 20];
    const int fd = open("data.bin", O_RDONLY);
    for (int i = 0; i < (truth_fixed ? part == 0 : $times / $parts); i++) {
        lseek(fd, 0, SEEK_SET);
        while (read(fd, block, sizeof block) > 0)
            ;
    }
    close(fd);
""", prepare="""
open("data.bin", "wb").write(bytes($megabytes << 20))
""", amounts={"megabytes": [20, 40], "times": [500, 900]})

# ---- sleeps, locks, children ----
cause("polling", "python", "sleep_polling", """
for i in range($count // $parts):
    if not FIXED:
        time.sleep($ms / 1000)  # planted here
""", amounts={"ms": [5, 20, 50, 90], "total_ms": [1000, 2500]}, derived={"count": "max(total_ms // ms // parts, 1) * parts"})
cause("polling", "c", "sleep_polling", """
    for (int i = 0; i < $count / $parts; i++)
        if (!truth_fixed)
            usleep($ms * 1000);
""", amounts={"ms": [2, 5, 20, 50, 90], "total_ms": [1000, 2500]}, derived={"count": "max(total_ms // ms // parts, 1) * parts"})
cause("sleeping", "python", "long_sleeps", """
if not FIXED:
    time.sleep($ms / 1000)  # planted here
""", amounts={"ms": [200, 400, 700]}, parts=(3, 5))
cause("sleeping", "c", "long_sleeps", """
    if (!truth_fixed)
        usleep($ms * 1000);
""", amounts={"ms": [200, 400, 700]}, parts=(3, 5))

cause("lock", "c", "lock_convoy", """
    pthread_t threads[$threads];
    for (int i = 0; i < $threads; i++)
        pthread_create(&threads[i], NULL, $helper, NULL);
    for (int i = 0; i < $threads; i++)
        pthread_join(threads[i], NULL);
""", setup="""
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *$helper(void *unused)
{
    for (int i = 0; i < $count / $parts / $threads; i++) {
        if (truth_fixed)
            usleep($us);
        pthread_mutex_lock(&mutex);
        if (!truth_fixed)
            usleep($us);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
""", amounts={"threads": [2, 4, 8], "us": [500, 2000, 5000], "total_ms": [1000, 2000]},
      derived={"count": "total_ms * 1000 // us"})
cause("lock", "python", "lock_convoy", """
threads = [threading.Thread(target=$helper) for _ in range($threads)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""", setup="""
import threading
lock = threading.Lock()


def $helper():
    for _ in range($count // $parts // $threads):
        if FIXED:
            time.sleep($us / 1e6)
        with lock:  # planted here
            if not FIXED:
                time.sleep($us / 1e6)  # planted here
""", amounts={"threads": [2, 4, 8], "us": [2000, 5000], "total_ms": [1000, 2000]},
      derived={"count": "total_ms * 1000 // us"})

cause("barrier", "c", "thread_imbalance", """
    pthread_t threads[$threads];
    pthread_barrier_init(&barrier, NULL, $threads);
    for (long i = 0; i < $threads; i++)
        pthread_create(&threads[i], NULL, $helper, (void *)i);
    for (int i = 0; i < $threads; i++)
        pthread_join(threads[i], NULL);
""", setup="""
static pthread_barrier_t barrier;
static void *$helper(void *number)
{
    const int fair = (90 + 10 * $threads) / $threads, slow = truth_fixed ? fair : 100, fast = truth_fixed ? fair : 10;
    for (int i = 0; i < $rounds; i++) {
        usleep((useconds_t)((number ? fast : slow) * $us));
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}
""", amounts={"threads": [2, 4], "us": [400, 800], "rounds": [20, 40]}, parts=(1,))

cause("commands", "python", "idle_child_wait", """
children = []
for i in range($count):
    children.append(subprocess.Popen(["convert", "$seconds"], executable="/bin/sleep"))  # planted here
    if not FIXED:
        children[-1].wait()  # planted here
for child in children:
    child.wait()  # planted here
""", setup="import subprocess", amounts={"count": [3, 6, 10], "seconds": ["0.2", "0.3"]}, parts=(1,))
cause("commands", "c", "idle_child_wait", """
    for (int i = 0; i < $count; i++) {
        if (!fork()) {
            execlp("sleep", "convert", "$seconds", (char *)NULL);
            _exit(127);
        }
        if (!truth_fixed)
            wait(NULL);
    }
    while (wait(NULL) > 0)
        ;
""", amounts={"count": [3, 6, 10], "seconds": ["0.2", "0.3"]}, parts=(1,))

# ---- memory ----
cause("faults", "c", "page_fault_storm", """
    for (int i = 0; i < $count / $parts; i++) {
        static char *kept;
        char *memory = truth_fixed && kept ? kept : mmap(NULL, $megabytes << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        kept = memory;
        madvise(memory, $megabytes << 20, MADV_NOHUGEPAGE);
        for (long at = 0; at < $megabytes << 20; at += 4096)
            memory[at]++;
        if (!truth_fixed)
            munmap(memory, $megabytes << 20);
    }
""", setup="#include <sys/mman.h>", amounts={"megabytes": [16, 64], "total": [4096, 8192]},
      derived={"count": "total // megabytes // parts * parts"})
cause("remapping", "c", "large_blocks_remapped page_fault_storm", """
    char *layers[$layers];
    for (int i = 0; i < $count / $parts; i++) {
        for (int j = 0; j < $layers; j++)
            layers[j] = memset(malloc($kilobytes << 10), i, $kilobytes << 10);
        for (int j = $layers; j-- > 0;)
            free(layers[j]);
    }
""", amounts={"kilobytes": [1500, 3000, 6000], "layers": [15, 30], "total": [4_000_000, 8_000_000]},
      derived={"count": "total // kilobytes // layers // parts * parts"}, around=(around.nothing, around.malloc_that_keeps))
cause("churn", "c", "heap_churn", """
    static char *kept;
    kept = kept ? kept : malloc($bytes);
    for (long i = 0; i < $count / $parts; i++) {
        char *volatile block = truth_fixed ? kept : malloc($bytes);
        block[i & 511] = 1;
        if (!truth_fixed)
            free(block);
    }
""", amounts={"bytes": [600, 5000, 32_768], "count": [30_000_000, 50_000_000]})

# ---- computing ----
cause("computing", "c", "one_thread_computes cpu_saturated workers_working", """
    volatile long sum = 0;
    for (long i = 0; i < (truth_fixed ? 10000 : $count / $parts); i++)
        sum += i % 7;
""", amounts={"count": [800_000_000, 1_600_000_000]}, in_seconds=False)
cause("computing", "python", "one_thread_computes cpu_saturated workers_working", """
total = 0
for i in range(1000 if FIXED else $count // $parts):  # planted here
    total += i % 7  # planted here
""", amounts={"count": [20_000_000, 40_000_000]}, in_seconds=False)
cause("slow_worker", "python", "worker_imbalance", """
shares = [50, 50] if FIXED else [90, 10]
workers = [multiprocessing.Process(target=truth.compute, args=($units_of_work * share // 100,)) for share in shares]  # planted here
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
""", setup="import multiprocessing", amounts={"units_of_work": [1500, 2500]}, parts=(1,), places=("main",), has_rest=False, known="0.4 * cpu")
