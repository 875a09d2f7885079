/* SPDX-License-Identifier: MIT
 *
 * T39b: the program puts its own file on every number at which anybody could hold one, while the tracer has to grow.
 * Its bytes must be its own. argv[1]: low (dup2 over 3..1023), reopen (close all, open 40 times), race (another thread
 * dup2s all the time).
 */
#include "host.h"

#include <pthread.h>
#include <sys/stat.h>

static volatile int stop;
static int victim;

static void *keep_stealing(void *unused)
{
    while (!stop)
        for (int fd = 3; fd < 40; fd++)
            if (fd != victim && dup2(victim, fd) != fd)
                abort();
    return unused;
}

static void *storm(void *seed)
{
    unsigned random = (unsigned)(long)seed + 1;
    for (int i = 0; i < 400000; i++) {
        random = random * 1664525u + 1013904223u;
        void *block = malloc(1 + (random >> 8) % 60000);
        host_sink = block;
        free(block);
    }
    return NULL;
}

static long victim_sum(void)
{
    char bytes[4096];
    long sum = 0, at = 0;
    for (ssize_t n; (n = pread(victim, bytes, sizeof bytes, at)) > 0; at += n)
        for (ssize_t i = 0; i < n; i++)
            sum = sum * 31 + bytes[i];
    return sum + at;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "low";
    const int first = open("victim.bin", O_CREAT | O_TRUNC | O_RDWR, 0600);
    pthread_t threads[4], thief;
    for (int i = 0; i < 1000; i++)
        MUST(write(first, "the user's own bytes\n", 21) == 21);
    victim = fcntl(first, F_DUPFD, 900);
    const long before = victim_sum();
    if (!strcmp(way, "low"))
        for (int fd = 3; fd < 1024; fd++)
            if (fd != victim)
                dup2(victim, fd);
    if (!strcmp(way, "reopen")) {
        for (int fd = 3; fd < 1024; fd++)
            if (fd != victim)
                close(fd);
        for (int i = 0; i < 40; i++)
            open("victim.bin", O_RDWR);
    }
    if (!strcmp(way, "race"))
        pthread_create(&thief, NULL, keep_stealing, NULL);
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, storm, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    stop = 1;
    if (!strcmp(way, "race"))
        pthread_join(thief, NULL);
    struct stat status;
    MUST(fstat(victim, &status) == 0 && status.st_size == 21000);
    MUST(victim_sum() == before);
    printf("victim %ld bytes, sum %ld\n", (long)status.st_size, victim_sum());
    trace_must("heap.allocs", ">=", 1600000);
    trace_must("io_write", ">=", 1000);
    return host_broken;
}
