/* SPDX-License-Identifier: MIT
 *
 * stacks/faults.c - Owns: nothing. Threads: main only. State: none. Never: takes a file that is read for the first time
 * through a mapping for a lack of memory: only pages that were there not long ago count (the kernel's refaults).
 */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/auto.h"
#include "util/clock.h"
#include "util/process_stat.h"
#include "util/small_file.h"

enum { WATCHED_MS = 100, FAULTS_A_SECOND = 50 };

static pt_u64 major_faults_of(pt_u32 pid)
{
    struct pt_process_stat stat;
    return pt_process_stat_of((pid_t)pid, &stat) ? stat.own_major_faults : 0;
}

static pt_u64 refaults_of_machine(void)
{
    PT_AUTO(pt_freep) char *text = pt_malloc(1 << 16);
    uint64_t of_files = 0, of_memory = 0;
    if (pt_small_file_peek(text, 1 << 16, "/proc/vmstat") <= 0)
        return 0;
    pt_small_file_number(text, "workingset_refault_file ", &of_files);
    pt_small_file_number(text, "workingset_refault_anon ", &of_memory);
    return of_files + of_memory;
}

void pt_faults_begin(struct pt_look_process *process)
{
    process->major_faults = major_faults_of(process->pid);
    if (process->major_faults >= FAULTS_A_SECOND)
        process->refaults = refaults_of_machine();
    process->looked_ns = pt_monotonic_ns();
}

void pt_faults_look(struct pt_look *look)
{
    for (size_t i = 0; i < look->processes.n; i++) {
        struct pt_look_process *process = look->processes.items[i];
        if (process->why_not || process->major_faults < FAULTS_A_SECOND)
            continue;
        const pt_u64 until_ns = process->looked_ns + WATCHED_MS * 1000000ull, now_ns = pt_monotonic_ns();
        if (now_ns < until_ns)
            nanosleep(&(struct timespec){0, (long)(until_ns - now_ns)}, NULL);
        const pt_u64 faults = major_faults_of(process->pid) - process->major_faults;
        const pt_u64 refaults = refaults_of_machine() - process->refaults;
        const double s = (double)(pt_monotonic_ns() - process->looked_ns) / 1e9;
        if ((double)faults > FAULTS_A_SECOND * s && refaults >= faults / 2)
            process->disk =
                pt_look_text(look,
                             "waits for its own memory: %.0f times per second the kernel reads back from disk or "
                             "swap what it took away; give it more memory (the limit of its cgroup, the "
                             "machine), or have it use less",
                             (double)faults / s);
    }
}
