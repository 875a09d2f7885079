/* SPDX-License-Identifier: MIT
 *
 * What somebody looks at in a debugger: threads that have so many events that the trace file grows all the time, a
 * function that is called now and then (pause_here), one child of fork and one of vfork. With an argument it waits for
 * an end of its input in the middle.
 */
#include "host.h"

#include <pthread.h>

enum { ROUNDS = 8000, THREADS = 4, PAUSES = 4 };

static void *work(void *unused)
{
    char byte;
    const int fd = open("/dev/zero", O_RDONLY);
    for (long i = 0; i < ROUNDS; i++) {
        void *block = malloc((size_t)(600 + i % 900));
        host_sink = block;
        free(block);
        MUST(pread(fd, &byte, 1, i) == 1);
    }
    close(fd);
    return unused;
}

__attribute__((noinline)) static void pause_here(int number)
{
    __asm__ volatile("" ::"r"(number) : "memory");
}

int main(int argc, char **argv)
{
    char byte;
    (void)argv;
    for (int pause = 0; pause < PAUSES; pause++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            MUST(pthread_create(&threads[i], NULL, work, NULL) == 0);
        usleep(1000);
        pause_here(pause);
        if (argc > 1 && pause == 1)
            MUST(read(0, &byte, 1) == 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    MUST(WEXITSTATUS(wait_for(child)) == 3);
    child = vfork();
    if (child == 0)
        _exit(4);
    MUST(WEXITSTATUS(wait_for(child)) == 4);
    trace_must("io_pread", "==", (long)PAUSES * THREADS * ROUNDS);
    return host_broken;
}
