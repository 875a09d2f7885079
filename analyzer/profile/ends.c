/* SPDX-License-Identifier: MIT
 *
 * Owns: what the launcher knows of ends. Threads: one, when a run is opened. Never: changes an end that a process noted
 * itself; takes an equal pid alone for the same process.
 */
#include "ends.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_file/read.h"
#include "model/ends.h"
#include "model/threads.h"
#include "run_file/launcher.h"
#include "source/run_dir.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/process_stat.h"
#include "util/whole.h"
#include "heads.h"

/* ---- what still runs ---- */

/* CLOCK_MONOTONIC of the run is this machine's, of this boot. */
static bool is_of_this_boot(const struct pt_run_info *run, pt_u64 now_ns)
{
    enum { MOST_ADJUSTED_S = 5 };
    char host[256] = "";
    if (!run->start_monotonic_ns || run->start_monotonic_ns > now_ns || !run->host ||
        gethostname(host, sizeof host - 1) < 0 || strcmp(host, run->host) != 0)
        return false;
    const double age_ns = (double)(pt_i64)(pt_clock_ns(CLOCK_REALTIME) - run->start_realtime_ns);
    return fabs(age_ns - (double)(now_ns - run->start_monotonic_ns)) < MOST_ADJUSTED_S * 1e9;
}

/* A later process with the same pid began later. */
static bool is_alive(double pid, double start_boottime_s)
{
    enum { MOST_LATE_S = 2 };
    struct pt_process_stat stat;
    if (!(pid > 0 && pid < INT32_MAX) || !pt_process_stat_of((pid_t)pid, &stat))
        return false;
    /* Where only its main thread has ended, the kernel calls all of it a zombie. */
    const bool is_over = stat.state == 'X' || (stat.state == 'Z' && stat.threads < 2);
    return !is_over && fabs((double)stat.start_ticks / (double)sysconf(_SC_CLK_TCK) - start_boottime_s) < MOST_LATE_S;
}

/* Its processes cannot be asked: what the launcher wrote last says how far it is. */
static void find_running_elsewhere(struct pt_run_info *run)
{
    run->is_elsewhere = true;
    run->is_running = isnan(run->duration_ns);
    for (pt_u32 i = 0; i < run->n_stages; i++)
        run->stages[i].is_running = run->is_running && !run->stages[i].status;
}

void pt_run_find_running(struct pt_run_info *run)
{
    const pt_u64 now_ns = pt_monotonic_ns(), slept_ns = pt_clock_ns(CLOCK_BOOTTIME) - now_ns;
    const enum pt_run_launcher_state launcher = pt_run_launcher_state(run);
    if (launcher == PT_RUN_LAUNCHER_WRITES_ELSEWHERE)
        find_running_elsewhere(run);
    if (launcher == PT_RUN_LAUNCHER_WRITES_ELSEWHERE || launcher == PT_RUN_LAUNCHER_SILENT_ELSEWHERE ||
        (launcher == PT_RUN_LAUNCHER_UNKNOWN && !is_of_this_boot(run, now_ns)))
        return;
    run->is_running = launcher == PT_RUN_LAUNCHER_LIVES && isnan(run->duration_ns);
    for (pt_u32 i = 0; i < run->n_stages; i++) {
        struct pt_run_stage *stage = &run->stages[i];
        const double start_ns = (double)run->start_monotonic_ns + stage->start_ns;
        /* One that is being started has no pid yet; one that has just ended is not noted yet. */
        stage->is_running =
            !stage->status && (run->is_running || is_alive(stage->pid, (start_ns + (double)slept_ns) / 1e9));
        if (stage->is_running)
            stage->duration_ns = (double)now_ns - start_ns;
    }
}

/* ---- by what the command noted itself ---- */

/* Of a command that became other programs the last one counts; where that has no trace, nobody saw how it ended. */
static void take_noted_end(struct pt_run_stage *stage, const struct pt_file_header *head, pt_u64 *last_ns)
{
    if (head->state == PT_PROCESS_EXITED && !(head->exit_status & 0xff)) {
        stage->status = "ok";
        *last_ns = UINT64_MAX;
    } else if (head->clock_first.monotonic_ns >= *last_ns) {
        stage->status = head->state == PT_PROCESS_EXECED ? "unknown" : NULL;
        *last_ns = head->clock_first.monotonic_ns;
    }
}

void pt_run_take_noted_ends(const char *path, struct pt_run_info *run)
{
    struct pt_run_files files = {0};
    struct pt_error ignored = {0};
    if (pt_run_files_find(path, &files, &ignored) < 0)
        return;
    PT_AUTO(pt_freep) pt_u64 *last_ns = pt_calloc(run->n_stages, sizeof *last_ns);
    for (pt_u32 i = 0; i < run->n_stages; i++)
        last_ns[i] = run->stages[i].status ? UINT64_MAX : 0;
    for (size_t i = 0; i < files.files.n; i++) {
        struct pt_file_header head;
        pt_u64 offset;
        if (!pt_head_read(files.files.items[i], &head, &offset))
            continue;
        for (pt_u32 j = 0; j < run->n_stages; j++)
            if (last_ns[j] != UINT64_MAX && (double)head.pid == run->stages[j].pid)
                take_noted_end(&run->stages[j], &head, &last_ns[j]);
    }
    pt_run_files_fini(&files);
}

/* ---- by CPU profiles ---- */

static bool is_wanted(const struct pt_process *p)
{
    return p->state == PT_PROCESS_LIVE && !p->is_running && !p->is_elsewhere;
}

/* Both clocks of a process are those of the machine. */
static pt_i64 session_time(const struct pt_process *p, pt_u64 monotonic_ns)
{
    pt_i64 ns;
    return __builtin_add_overflow(p->start_ns, (pt_i64)(monotonic_ns - p->start_monotonic_ns), &ns) ? p->start_ns : ns;
}

/* The thread was there when the process gave its last sign of life. */
static bool was_there(const struct pt_process *p, const struct pt_cpu_data *data, size_t thread)
{
    enum { CLOCKS_DIFFER_NS = 1000000 };
    const pt_u64 begin_ns = data->header.begin_monotonic_ns;
    return data->threads[thread].pid == p->pid &&
           session_time(p, begin_ns + data->threads[thread].start_ns) <= p->alive_ns + CLOCKS_DIFFER_NS &&
           session_time(p, begin_ns + data->times[thread].end_ns) >= p->start_ns;
}

static void end_thread(struct pt_process *p, pt_u32 tid, pt_i64 end_ns)
{
    struct pt_thread *thread = pt_process_thread_by_tid(p, tid, p->alive_ns);
    if (thread && thread->tid == tid && thread->end_ns < end_ns)
        thread->end_ns = end_ns;
}

/* By process: a hundred thousand of them may have been killed. */
struct threads {
    struct pt_map by_pid; /* -> its first one; none has the number 0 */
    size_t *next;         /* of the same process; 0 = none */
};

static struct threads threads_of(const struct pt_cpu_data *data)
{
    struct threads threads = {.next = pt_calloc(data->n_threads + 1, sizeof *threads.next)};
    for (size_t i = data->n_threads; i-- > 1;) {
        pt_u64 *first = pt_map_at(&threads.by_pid, data->threads[i].pid);
        threads.next[i] = *first;
        *first = i;
    }
    return threads;
}

/* The kernel's record of the end of its last thread; a profile without such records, or one that was cut off, knows
 * only that it lived. */
static void find_end(struct pt_process *p, const struct pt_cpu_data *data, const struct threads *threads)
{
    const pt_u64 *first = pt_map_find(&threads->by_pid, p->pid);
    pt_i64 last_ns = p->start_ns;
    bool has_ended = data->header.flags & PT_CPU_SAMPLED, is_known = false;
    for (size_t i = first ? *first : 0; i; i = threads->next[i]) {
        if (!was_there(p, data, i))
            continue;
        const pt_i64 end_ns = session_time(p, data->header.begin_monotonic_ns + data->times[i].end_ns);
        has_ended &= data->times[i].flags & PT_CPU_THREAD_ENDED;
        is_known = true;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
        end_thread(p, data->threads[i].tid, end_ns);
    }
    if (is_known && has_ended)
        pt_process_ended(p, last_ns);
    else if (is_known)
        pt_process_was_alive(p, last_ns);
}

static void find_ends_of_stage(struct pt_session *session, const char *stage, const struct pt_cpu_data *data)
{
    struct threads threads = threads_of(data);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (is_wanted(session->processes[i]) && session->processes[i]->stage &&
            !strcmp(session->processes[i]->stage, stage))
            find_end(session->processes[i], data, &threads);
    pt_map_fini(&threads.by_pid);
    free(threads.next);
}

/* ---- by the launcher's own wait ---- */

static int wait_status_of(const char *exit)
{
    int number;
    if (exit && sscanf(exit, "signal %d", &number) == 1)
        return W_EXITCODE(0, number & 0x7f);
    return exit && sscanf(exit, "exit %d", &number) == 1 ? W_EXITCODE(number & 0xff, 0) : -1;
}

static bool has_next_image(const struct pt_session *session, const struct pt_process *p)
{
    for (pt_u32 i = p->index + 1; i < session->n_processes; i++)
        if (session->processes[i]->previous_image == p)
            return true;
    return false;
}

static void find_end_of_command(const struct pt_run_info *run, const struct pt_run_stage *stage,
                                const struct pt_session *session, struct pt_process *p)
{
    const bool is_root = isnan(stage->pid) ? !p->parent && !p->index : (double)p->pid == stage->pid;
    if (!is_wanted(p) || !is_root || !p->stage || strcmp(p->stage, stage->name) != 0 || has_next_image(session, p) ||
        !(stage->duration_ns > 0))
        return;
    const double since_run_ns = stage->start_ns + stage->duration_ns;
    const pt_i64 at_ns =
        run->start_monotonic_ns
            ? session_time(p, run->start_monotonic_ns + pt_whole(since_run_ns))
            : (pt_i64)(run->start_realtime_ns - session->start_realtime_ns + (pt_u64)pt_whole_signed(since_run_ns));
    if (!stage->status) {
        pt_process_was_alive(p, at_ns); /* the launcher was killed later */
        return;
    }
    p->wait_status = wait_status_of(stage->exit);
    if (pt_process_end_is_open(p))
        pt_process_ended(p, at_ns);
}

void pt_run_find_ends(const struct pt_run_info *run, struct pt_session *session)
{
    pt_u32 n = 0;
    session->is_out_of_sight = run->is_running && run->is_elsewhere;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        n += is_wanted(session->processes[i]);
    for (pt_u32 stage = 0; n && stage < run->n_stages; stage++) {
        struct pt_cpu_data *data = pt_cpu_data_read_times(session->path, stage);
        if (data)
            find_ends_of_stage(session, run->stages[stage].name, data);
        pt_cpu_data_free(data);
        for (pt_u32 i = 0; i < session->n_processes; i++)
            find_end_of_command(run, &run->stages[stage], session, session->processes[i]);
    }
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (session->processes[i]->end_ns > session->duration_ns)
            session->duration_ns = session->processes[i]->end_ns;
}
