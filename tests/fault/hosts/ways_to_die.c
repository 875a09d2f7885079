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

/* ---- the ways ---- */

static char *self;

static void way_exit(void)
{
    exit(5);
}

static void way_exit_now(void)
{
    _exit(7);
}

static void way_exit_of_c(void)
{
    _Exit(7);
}

static void way_quick_exit(void)
{
    quick_exit(8);
}

static void way_raw(void)
{
    syscall(SYS_exit_group, 4);
}

static void way_abort(void)
{
    abort();
}

static void way_segv(void)
{
    *(volatile int *)8 = 1;
}

static void way_trap(void)
{
    __builtin_trap();
}

static void way_term(void)
{
    raise(SIGTERM);
}

static void way_kill(void)
{
    kill(getpid(), SIGKILL);
}

static void way_exec(void)
{
    execl(self, self, "second", (char *)0);
}

static void way_main_thread_exit(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work_in_thread, NULL);
    pthread_exit(NULL);
}

static void way_thread_exit(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, die_in_thread, NULL);
    pthread_join(thread, NULL);
}

static void way_second(void)
{
    exit(6);
}

/* The child of a vfork that cannot start its program ends by exit() in many programs: the handlers run then, in its
 * parent's memory. */
static void way_vfork_exit(void)
{
    const pid_t pid = vfork();
    if (!pid)
        exit(127);
    wait_for(pid);
    exit(5);
}

static void way_return(void)
{
}

/* How often it works before it ends; 0 = what it was before said it. */
static const struct way {
    const char *name;
    void (*go)(void);
    int times;
} ways[] = {
    {"exit", way_exit, 1},
    {"_exit", way_exit_now, 1},
    {"_Exit", way_exit_of_c, 1},
    {"quick_exit", way_quick_exit, 1},
    {"raw", way_raw, 1},
    {"abort", way_abort, 1},
    {"segv", way_segv, 1},
    {"trap", way_trap, 1},
    {"term", way_term, 1},
    {"kill", way_kill, 1},
    {"exec", way_exec, 2},
    {"second", way_second, 0},
    {"main-thread-exit", way_main_thread_exit, 2},
    {"thread-_exit", way_thread_exit, 2},
    {"vfork-exit", way_vfork_exit, 1},
    {"return", way_return, 1},
};
enum { WAYS = sizeof ways / sizeof *ways };

int main(int argc, char **argv)
{
    const struct way *way = ways;
    self = argv[0];
    while (way < ways + WAYS - 1 && (argc < 2 || strcmp(argv[1], way->name) != 0))
        way++;
    if (way->times) {
        trace_must("size:4242", "==", 20000 * way->times);
        trace_must("fd_path:/dev/null:io_write", "==", 1000 * way->times);
        trace_must("heap.frees", ">=", 20000 * way->times);
    }
    work();
    way->go();
    return 0;
}
