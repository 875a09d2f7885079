/* SPDX-License-Identifier: MIT
 *
 * running.c - Owns: the proof that a process is still alive: it is on this machine and has its trace file mapped, which
 * a later process with the same pid has not. Threads: one. Never: takes an equal pid alone for the same process.
 */
#include "running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/small_heads.h"
#include "source/trace_file.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/process_stat.h"
#include "notes.h"

/* From an offset on: its head, where the file is shared by many. */
static bool has_mapped(pt_u32 pid, const char *trace_path, pt_u64 offset)
{
    enum { LONGEST_LINE = 4096 + 100 }; /* a longer one is none of ours: it is read as two lines */
    char name[32], line[LONGEST_LINE];
    snprintf(name, sizeof name, "/proc/%u/maps", pid);
    PT_AUTO(pt_fclosep) FILE *maps = fopen(name, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        line[strcspn(line, "\n")] = 0;
        const char *path = strchr(line, '/');
        unsigned long long from;
        if (path && !strcmp(path, trace_path) && sscanf(line, "%*s %*s %llx", &from) == 1 && from == offset)
            return true;
    }
    return false;
}

bool pt_trace_is_mapped(const char *path, pt_u64 offset, pt_u32 pid)
{
    const char *head = pt_small_head_of(path);
    PT_AUTO(pt_freep) char *name = pt_asprintf("%.*s", (int)(head ? (size_t)(head - path) : strlen(path)), path);
    PT_AUTO(pt_freep) char *whole = realpath(name, NULL);
    return whole && has_mapped(pt_living_thread(pid), whole, offset);
}

static bool has_thread(pt_u32 pid, pt_u32 tid)
{
    char name[48];
    snprintf(name, sizeof name, "/proc/%u/task/%u", pid, tid);
    return access(name, F_OK) == 0;
}

/* The call that its main thread is in now is in no trace yet. What is asleep now may have computed until a moment ago:
 * its CPU time, too, has to be small. */
static bool sleeps_now(pt_u32 pid, pt_u64 lived_ns)
{
    enum { BUSY_SHARE = 10 /* a tenth */ };
    struct pt_process_stat stat;
    return pt_process_stat_of_thread((pid_t)pid, (pid_t)pid, &stat) && stat.state == 'S' &&
           (double)stat.own_ticks / (double)sysconf(_SC_CLK_TCK) < (double)lived_ns / 1e9 / BUSY_SHARE;
}

/* Until now, by the clock of its trace. */
static void live_until(struct pt_process *process, pt_i64 now_ns)
{
    enum { HALF_A_YEAR_S = 15768000 };
    if (now_ns < process->end_ns || now_ns - process->end_ns > HALF_A_YEAR_S * 1000000000ll)
        return; /* its clock is not this machine's */
    process->end_ns = process->alive_ns = now_ns;
    for (pt_u32 i = 0; i < process->n_threads; i++)
        if (process->threads[i].tid < PT_DEVICE_TID && has_thread(process->pid, process->threads[i].tid))
            process->threads[i].end_ns = now_ns;
}

void pt_session_find_running(struct pt_session *session)
{
    const pt_u64 now_ns = pt_monotonic_ns();
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_process *process = session->processes[i];
        if (process->state != PT_PROCESS_LIVE)
            continue;
        process->is_running = pt_trace_is_mapped(process->file->path, process->file->base, process->pid);
        n += process->is_running;
        if (!process->is_running)
            continue;
        process->is_asleep = process->has_children && sleeps_now(process->pid, now_ns - process->start_monotonic_ns);
        live_until(process, process->start_ns + (pt_i64)(now_ns - process->start_monotonic_ns));
    }
    if (!n)
        return;
    PT_AUTO(pt_freep)
    char *note =
        pt_asprintf("%u process%s still running: this is what was recorded until now", n, n == 1 ? " is" : "es are");
    pt_session_note(session, note);
}
