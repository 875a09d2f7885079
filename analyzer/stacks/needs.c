/* SPDX-License-Identifier: MIT
 *
 * stacks/needs.c - Owns: whom a thread waits for. Threads: main only. State: none.
 */
#include "needs.h"

#include <signal.h>

void pt_needs_process(struct pt_look_thread *thread, pt_u32 pid)
{
    for (size_t i = 0; i < thread->waits_for_processes.n; i++)
        if (thread->waits_for_processes.items[i] == pid)
            return;
    pt_vec_push(&thread->waits_for_processes, pid);
}

static bool has_child(const struct pt_look *look, pt_u32 pid)
{
    for (size_t i = 0; i < look->processes.n; i++)
        if (look->processes.items[i]->ppid == pid)
            return true;
    return false;
}

/* An interpreter has a handler for SIGINT, crash reporters have them for errors, and threads libraries for their own.
 */
bool pt_may_be_signalled(const struct pt_look *look, const struct pt_look_process *process)
{
    static const unsigned char harmless[] = {SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS, SIGFPE,
                                             SIGSEGV, SIGPIPE, SIGXFSZ, SIGSYS,  32,      33,     34};
    pt_u64 caught = process->caught_signals;
    for (size_t i = 0; i < sizeof harmless; i++)
        caught &= ~(1ull << (harmless[i] - 1));
    if (!has_child(look, process->pid))
        caught &= ~(1ull << (SIGCHLD - 1));
    return caught != 0;
}
