/* SPDX-License-Identifier: MIT
 *
 * A training of a month at a scaled clock: steps that read a file, look at it, allocate and wait, a thread that saves
 * now and then, and each "day" new worker processes that read. A page beside the trace counts what was begun and what
 * has returned; and for the main thread how many reads had returned at the end of each minute.
 *
 * month COUNTERS MINUTE_NS MINUTES
 */
#include "host.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "../../../include/proftrace/proftrace.h"

enum { READ, STAT, WRITE, WAIT, STEP, OPERATIONS, SLOTS = 128, DAY = 1440, WORKERS = 2 };

struct slot {
    unsigned long begun[OPERATIONS], returned[OPERATIONS];
};

static struct page {
    struct slot slots[SLOTS]; /* the main thread, the saving one, workers */
    unsigned long first_minute;
    unsigned int reads_until[]; /* by minute since the first one, of the main thread; 0 = none ended in it */
} * page;
static unsigned long minute_ns, minutes;
static const char *file_name = "data";

#define COUNTED(slot, operation, call)                                                                                 \
    do {                                                                                                               \
        __atomic_store_n(&(slot)->begun[operation], (slot)->begun[operation] + 1, __ATOMIC_RELEASE);                   \
        call;                                                                                                          \
        __atomic_store_n(&(slot)->returned[operation], (slot)->returned[operation] + 1, __ATOMIC_RELEASE);             \
    } while (0)

static unsigned long minute_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((unsigned long)now.tv_sec * 1000000000u + (unsigned long)now.tv_nsec) / minute_ns - page->first_minute;
}

static void pause_for(struct slot *slot, unsigned long ns)
{
    const struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    COUNTED(slot, WAIT, nanosleep(&time, NULL));
}

/* Few events: its buffer is full only after days. */
static void *save(void *argument)
{
    struct slot *slot = &page->slots[1];
    const int fd = open("checkpoint", O_CREAT | O_WRONLY, 0600);
    (void)argument;
    while (minute_now() < minutes) {
        COUNTED(slot, WRITE, pwrite(fd, "saved", 5, 0));
        pause_for(slot, 30 * minute_ns);
    }
    return NULL;
}

static void work(struct slot *slot, unsigned long until)
{
    char bytes[64];
    const int fd = open(file_name, O_RDONLY);
    while (minute_now() < until) {
        COUNTED(slot, READ, pread(fd, bytes, sizeof bytes, 0));
        pause_for(slot, 2 * minute_ns);
    }
    _exit(0);
}

static void start_workers(unsigned long now)
{
    static unsigned next = 2;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    for (int i = 0; i < WORKERS && next < SLOTS; i++, next++)
        if (fork() == 0)
            work(&page->slots[next], now + DAY / 2);
}

static void train(void)
{
    struct slot *slot = &page->slots[0];
    struct stat status;
    char bytes[64];
    unsigned long day = 0;
    const int fd = open(file_name, O_RDONLY);
    for (unsigned long step = 0, now; (now = minute_now()) < minutes; step++) {
        if (now / DAY >= day) {
            start_workers(now);
            day = now / DAY + 1;
        }
        COUNTED(slot, STEP, proftrace_step(step));
        for (int i = 0; i < 3; i++) {
            COUNTED(slot, READ, pread(fd, bytes, sizeof bytes, i));
            now = minute_now();
            if (now < minutes)
                page->reads_until[now] = (unsigned)slot->returned[READ];
        }
        COUNTED(slot, STAT, stat(file_name, &status));
        host_sink = malloc(10000 + step % 1000);
        free(host_sink);
        pause_for(slot, minute_ns / 8);
    }
}

int main(int argc, char **argv)
{
    pthread_t saver;
    if (argc < 4)
        return 2;
    minute_ns = strtoul(argv[2], NULL, 10);
    minutes = strtoul(argv[3], NULL, 10);
    const size_t bytes = sizeof *page + (minutes + 1) * sizeof page->reads_until[0];
    const int fd = open(argv[1], O_CREAT | O_RDWR, 0600), data = open(file_name, O_CREAT | O_RDWR, 0600);
    if (ftruncate(fd, (off_t)bytes) < 0 || ftruncate(data, 4096) < 0)
        return 2;
    page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    page->first_minute = minute_now();
    pthread_create(&saver, NULL, save, NULL);
    train();
    pthread_join(saver, NULL);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    return 0;
}
