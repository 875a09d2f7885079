/* SPDX-License-Identifier: MIT
 *
 * T20, T22, T26: a program with real files of its own that it must be able to write whatever becomes of our trace: it
 * writes and reads back a file in its working directory and makes far more events than a small trace can hold. argv[1]:
 * rounds; argv[2]: "no-file" leaves the file out (the disk may be full for the program too).
 */
#include "host.h"

#include <pthread.h>

static long rounds;

static void *churn(void *unused)
{
    const int fd = open("/dev/null", O_WRONLY);
    unsigned random = (unsigned)(long)unused + 1;
    for (long i = 0; i < rounds; i++) {
        random = random * 1664525u + 1013904223u;
        void *block = malloc(1 + (random >> 8) % 60000);
        host_sink = block;
        free(block);
        if (i % 4 == 0 && write(fd, "12345678", random >> 29) < 0)
            return (void *)1;
    }
    close(fd);
    return NULL;
}

static void own_file(void)
{
    char bytes[4096], again[4096];
    const int fd = open("own.bin", O_CREAT | O_TRUNC | O_RDWR, 0600);
    MUST(fd >= 0);
    memset(bytes, 'o', sizeof bytes);
    for (int i = 0; i < 64; i++)
        MUST(write(fd, bytes, sizeof bytes) == sizeof bytes);
    for (int i = 0; i < 64; i++)
        MUST(pread(fd, again, sizeof again, i * 4096L) == sizeof again && !memcmp(bytes, again, sizeof bytes));
    MUST(lseek(fd, 0, SEEK_END) == 64 * 4096);
    MUST(close(fd) == 0 && unlink("own.bin") == 0);
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    rounds = argc > 1 ? atol(argv[1]) : 100000;
    if (argc < 3)
        own_file();
    for (long i = 0; i < 4; i++)
        MUST(pthread_create(&threads[i], NULL, churn, (void *)i) == 0);
    for (int i = 0; i < 4; i++) {
        void *result = (void *)1;
        pthread_join(threads[i], &result);
        MUST(!result);
    }
    if (argc < 3)
        own_file();
    trace_must("io_write", "==", rounds + (argc < 3 ? 128 : 0));
    /* Each once, and the few of the C library: thread stacks' bookkeeping, stdio. */
    trace_must("heap.allocs", ">=", 4 * rounds);
    trace_must("heap.allocs", "<=", 4 * rounds + 100);
    trace_must("lost", ">=", 0);
    return host_broken;
}
