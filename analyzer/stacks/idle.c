/* SPDX-License-Identifier: MIT
 *
 * stacks/idle.c - Owns: the clocks of run queues. Threads: main only. State: none. Never: compares the clocks of two
 * CPUs: these stop while an interrupt or a hypervisor has the CPU, and so are seconds apart.
 */
#include "idle.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/mem.h"
#include "util/process_stat.h"
#include "util/small_file.h"

enum { MOST_CPUS = 8192 }; /* Linux can be built for no more */

struct cpus {
    cpu_set_t sets[MOST_CPUS / CPU_SETSIZE];
};

/* By the run queue's clock: when a thread that waits left its CPU; of the one that asks, now. NAN = unknown. */
static double noted_ms(const char *text)
{
    const char *at = strstr(text, "\nse.exec_start");
    at = at ? strchr(at, ':') : NULL;
    const double ms = at ? strtod(at + 1, NULL) : 0;
    return ms > 0 ? ms : NAN;
}

static double now_of_ms(pt_u32 cpu)
{
    char text[2048];
    struct cpus only = {0};
    CPU_SET_S(cpu, sizeof only, only.sets);
    if (sched_setaffinity(0, sizeof only, only.sets) < 0 || /* it is not ours to run on */
        pt_small_file_peek(text, sizeof text, "/proc/thread-self/sched") <= 0)
        return NAN;
    return noted_ms(text);
}

static bool read_cpu(const struct pt_look_thread *thread, pt_u32 *ret_cpu)
{
    struct pt_process_stat stat;
    if (!pt_process_stat_of_thread((pid_t)thread->process->pid, (pid_t)thread->tid, &stat))
        return false;
    *ret_cpu = stat.last_cpu;
    return *ret_cpu < MOST_CPUS;
}

/* `now_ms` by CPU; 0 = it was not read yet. */
static void read_since(struct pt_look_thread *thread, double *now_ms)
{
    char text[2048];
    pt_u32 cpu;
    if (thread->state == 'R' || (thread->call < 0 && thread->state != 'D') || !read_cpu(thread, &cpu) ||
        pt_small_file_peek(text, sizeof text, "/proc/%u/task/%u/sched", thread->process->pid, thread->tid) <= 0)
        return;
    if (now_ms[cpu] == 0)
        now_ms[cpu] = now_of_ms(cpu);
    const double since_ms = now_ms[cpu] - noted_ms(text);
    if (since_ms >= 0)
        thread->since_ns = (pt_u64)(since_ms * 1e6);
}

void pt_look_idle(struct pt_look *look)
{
    PT_AUTO(pt_freep) double *now_ms = pt_calloc(MOST_CPUS, sizeof *now_ms);
    struct cpus ours = {0};
    if (sched_getaffinity(0, sizeof ours, ours.sets) < 0)
        return;
    for (size_t i = 0; i < look->by_tid.n; i++)
        read_since((struct pt_look_thread *)(uintptr_t)look->by_tid.entries[i].value, now_ms);
    sched_setaffinity(0, sizeof ours, ours.sets);
}
