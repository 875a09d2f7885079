/* SPDX-License-Identifier: MIT
 *
 * T25: threads that allocate, release, write and read for ever, with a page beside the trace that counts what was begun
 * and what has returned, per thread and operation. Whoever kills this process compares the page with the trace.
 *
 * Every operation carries its number, so that the reader can tell which is missing and which is there twice:
 *   malloc of 2048 * (thread + 1) + number % 2048 bytes, its free; write of 1 + number % 4096 bytes to the descriptor
 * that is the thread's own; pread at offset slot << 40 | number.
 *
 * kill_storm COUNTERS THREADS [forks] [ROUNDS]: with "forks" the main thread forks children that pread into a slot of
 * their own; with ROUNDS the threads end by themselves (what a clean run adds beyond the counters is libc's own), and
 * none is far ahead: a thread that gets no CPU for a while would find the places of the first events, or of the last,
 * taken by others.
 */
#include "host.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

enum { MALLOC, FREE, WRITE, PREAD, OPERATIONS, SLOTS = 512, CHILD_PREADS = 3000, MOST_AHEAD = 500 };

struct slot {
    unsigned long begun[OPERATIONS], returned[OPERATIONS];
};

static struct slot *slots;
static long rounds, threads;
static long reached[16]; /* round of each thread */

#define COUNTED(slot, operation, call)                                                                                 \
    do {                                                                                                               \
        __atomic_store_n(&(slot)->begun[operation], (slot)->begun[operation] + 1, __ATOMIC_RELEASE);                   \
        call;                                                                                                          \
        __atomic_store_n(&(slot)->returned[operation], (slot)->returned[operation] + 1, __ATOMIC_RELEASE);             \
    } while (0)

static char bytes[4096];

/* Without an event: a barrier's wait is one. */
static void wait_for_others(long me, long round)
{
    __atomic_store_n(&reached[me], round, __ATOMIC_RELEASE);
    for (long other = 0; other < threads; other++)
        while (__atomic_load_n(&reached[other], __ATOMIC_ACQUIRE) < round - MOST_AHEAD)
            sched_yield();
}

static void *storm(void *index)
{
    const long me = (long)index;
    struct slot *slot = &slots[me];
    const int null_fd = open("/dev/null", O_WRONLY), zero_fd = open("/dev/zero", O_RDONLY);
    for (long i = 0; !rounds || i < rounds; i++) {
        void *block = NULL;
        if (rounds && i % 100 == 0)
            wait_for_others(me, i);
        COUNTED(slot, MALLOC, block = malloc(2048u * (size_t)(me + 1) + (size_t)i % 2048));
        host_sink = block;
        COUNTED(slot, FREE, free(block));
        if (i & 1)
            continue;
        ssize_t done = 0;
        COUNTED(slot, WRITE, done = write(null_fd, bytes, 1 + (size_t)(i / 2) % 4096));
        COUNTED(slot, PREAD, done += pread(zero_fd, bytes, 8, me << 40 | i / 2));
        if (done <= 8)
            abort();
    }
    return NULL;
}

static void fork_children(void)
{
    const int zero_fd = open("/dev/zero", O_RDONLY);
    for (long k = 16; k < SLOTS; k++) {
        char eight[8];
        const pid_t pid = fork();
        if (!pid) {
            for (long i = 0; i < CHILD_PREADS; i++)
                COUNTED(&slots[k], PREAD, pread(zero_fd, eight, 8, k << 40 | i));
            _exit(0);
        }
        if (k % 3 == 0) {
            usleep(300);
            kill(pid, SIGKILL);
        }
        wait_for(pid);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    threads = atol(argv[2]) < 16 ? atol(argv[2]) : 16;
    if (fd < 0 || ftruncate(fd, SLOTS * sizeof(struct slot)))
        return 3;
    slots = mmap(NULL, SLOTS * sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    const int forks = argc > 3 && !strcmp(argv[3], "forks");
    rounds = argc > 4 ? atol(argv[4]) : 0;
    pthread_t running[16];
    for (long i = 0; i < threads; i++)
        pthread_create(&running[i], NULL, storm, (void *)i);
    if (forks)
        fork_children();
    for (long i = 0; i < threads; i++)
        pthread_join(running[i], NULL);
    return 0;
}
