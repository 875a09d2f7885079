/* SPDX-License-Identifier: MIT
 *
 * T38: twenty thousand known allocations and a thousand known writes, then the end in the way that argv[1] names.
 * Nothing of it may be missing from the trace.
 */
#include "host.h"

#include <pthread.h>
#include <sys/syscall.h>

static void work(void)
{
    alloc_pairs(20000, 4242);
    if (null_writes(1000))
        abort();
}

static void *work_in_thread(void *unused)
{
    work();
    return unused;
}

static void *die_in_thread(void *unused)
{
    work();
    _exit(9);
    return unused;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "return";
    pthread_t thread;
    const int twice = !strcmp(way, "exec") || !strcmp(way, "main-thread-exit") || !strcmp(way, "thread-_exit");
    if (strcmp(way, "second")) {
        trace_must("size:4242", "==", twice ? 40000 : 20000);
        trace_must("fd_path:/dev/null:io_write", "==", twice ? 2000 : 1000);
        trace_must("heap.frees", ">=", twice ? 40000 : 20000);
    }
    work();
    if (!strcmp(way, "second"))
        return 6;
    if (!strcmp(way, "exit"))
        exit(5);
    if (!strcmp(way, "_exit"))
        _exit(7);
    if (!strcmp(way, "_Exit"))
        _Exit(7);
    if (!strcmp(way, "quick_exit"))
        quick_exit(8);
    if (!strcmp(way, "raw"))
        syscall(SYS_exit_group, 4);
    if (!strcmp(way, "abort"))
        abort();
    if (!strcmp(way, "segv"))
        *(volatile int *)8 = 1;
    if (!strcmp(way, "trap"))
        __builtin_trap();
    if (!strcmp(way, "term"))
        raise(SIGTERM);
    if (!strcmp(way, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(way, "exec"))
        execl(argv[0], argv[0], "second", (char *)0);
    if (!strcmp(way, "main-thread-exit")) {
        pthread_create(&thread, NULL, work_in_thread, NULL);
        pthread_exit(NULL);
    }
    if (!strcmp(way, "thread-_exit")) {
        pthread_create(&thread, NULL, die_in_thread, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
