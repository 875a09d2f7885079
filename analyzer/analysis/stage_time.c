/* SPDX-License-Identifier: MIT
 *
 * How long each stage took and where its critical thread (the main thread of the stage's first process) spent it, as
 * far as calls were recorded; what was not recorded is unknown, and the rest is unattributed. CPU time and memory come
 * from the launcher's samples, else from what the library noted.
 *
 * Threads: one. State: none: everything is in the totals. Never: estimates what nobody measured.
 */
#include <math.h>

#include "analysis.h"
#include "call_class.h"

static const char no_sampler[] = "needs the launcher's sampling: start the command with proftrace run";

/* ---- time account of the critical thread ---- */

struct account {
    struct pt_row_totals sums[PT_CALL__COUNT];
    double pipe_read_s, pipe_write_s; /* waiting for others, though made by read and write */
};

static const struct pt_thread *main_thread(const struct pt_process *process)
{
    for (pt_u32 i = 0; i < process->n_threads; i++)
        if (process->threads[i].tid == process->pid)
            return &process->threads[i];
    return process->n_threads ? &process->threads[0] : NULL;
}

/* exec replaces the image: the critical thread goes on in the next one. */
static struct account account_of(const struct pt_profile *profile, const struct pt_process *root)
{
    const struct pt_session *session = profile->session;
    struct account account = {0};
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        if (process != root && process->previous_image != root)
            continue;
        root = process;
        const struct pt_scope scope = pt_scope_process(process->index);
        account.pipe_read_s += pt_value_number(pt_metrics_get(&profile->metrics, scope, "io.pipe_read.main_s"));
        account.pipe_write_s += pt_value_number(pt_metrics_get(&profile->metrics, scope, "io.pipe_write.main_s"));
        const struct pt_thread *thread = main_thread(process);
        for (int which = 0; thread && which < PT_CALL__COUNT; which++) {
            const struct pt_row_totals sum = pt_call_class_sum(thread->rows, (enum pt_call_class)which);
            pt_row_totals_add(&account.sums[which], &sum);
        }
    }
    return account;
}

static void set_time_unknown(struct pt_metrics *metrics, struct pt_scope scope, const char *reason)
{
    static const char *const parts[] = {"time.gpu_wait_s", "time.copy_s",   "time.network_s",    "time.data_wait_s",
                                        "time.lock_s",     "time.sleep_s",  "time.child_wait_s", "time.heap_s",
                                        "time.python_s",   "time.native_s", "time.runnable_s"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        pt_metrics_set(metrics, scope, parts[i], pt_unknown(reason));
}

/* No process to look into: only the launcher's stopwatch is known. */
static void set_time_untraced(struct pt_profile *profile, pt_u32 stage)
{
    static const char *const parts[] = {"time.file_read_s", "time.file_write_s", "time.file_meta_s"};
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const bool skipped = pt_stage_was_skipped(&profile->stages.items[stage]);
    const char *reason = skipped ? "the stage was skipped" : "no process of the stage was traced";
    const struct pt_value wall = skipped ? pt_unknown(reason) : pt_seconds(pt_profile_stage_wall_ns(profile, stage));
    pt_metrics_set(metrics, scope, "time.wall_s", wall);
    pt_metrics_set(metrics, scope, "time.unattributed_s", wall);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        pt_metrics_set(metrics, scope, parts[i], pt_unknown(reason));
    set_time_unknown(metrics, scope, reason);
}

static void set_time(struct pt_profile *profile, pt_u32 stage)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct account a = account_of(profile, profile->stages.items[stage].root);
    const double wall_s = (double)pt_profile_stage_wall_ns(profile, stage) / 1e9;
    const struct pt_row_totals *s = a.sums;
    double read_s = (double)(s[PT_CALL_READ].ns + s[PT_CALL_STDIO_READ].ns + s[PT_CALL_COPY].ns) / 1e9;
    double write_s = (double)(s[PT_CALL_WRITE].ns + s[PT_CALL_STDIO_WRITE].ns + s[PT_CALL_SYNC].ns) / 1e9;
    const double meta_s =
        (double)(s[PT_CALL_OPEN].ns + s[PT_CALL_STAT].ns + s[PT_CALL_META].ns + s[PT_CALL_STDIO_OTHER].ns) / 1e9;
    read_s = read_s > a.pipe_read_s ? read_s - a.pipe_read_s : 0;
    write_s = write_s > a.pipe_write_s ? write_s - a.pipe_write_s : 0;
    const double rest_s = wall_s - read_s - write_s - meta_s;
    pt_metrics_set(metrics, scope, "time.wall_s", pt_real(wall_s));
    pt_metrics_set(metrics, scope, "time.file_read_s", pt_real(read_s));
    pt_metrics_set(metrics, scope, "time.file_write_s", pt_real(write_s));
    pt_metrics_set(metrics, scope, "time.file_meta_s", pt_real(meta_s));
    pt_metrics_set(metrics, scope, "time.unattributed_s", pt_real(rest_s > 0 ? rest_s : 0));
    set_time_unknown(metrics, scope, "not recorded; part of unattributed");
}

/* ---- resources ---- */

static struct pt_value number_or(double number, const char *reason)
{
    return isnan(number) ? pt_unknown(reason) : pt_real(number);
}

static void set_resources_from_library(struct pt_profile *profile, pt_u32 stage)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    pt_u64 cpu_ns = 0, rss_bytes = 0;
    bool cpu_known = profile->stages.items[stage].n_processes > 0;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) != stage)
            continue;
        cpu_known &= process->cpu_ns > 0;
        /* The kernel counts a process's CPU time across exec: only its last image has the sum. */
        if (process->state != PT_PROCESS_EXECED)
            cpu_ns += process->cpu_ns;
        if (process->max_rss_bytes > rss_bytes)
            rss_bytes = process->max_rss_bytes;
    }
    const double wall_s = (double)pt_profile_stage_wall_ns(profile, stage) / 1e9;
    struct pt_value cpu_s =
        cpu_known ? pt_seconds((pt_i64)cpu_ns) : pt_unknown("a process ended before it noted its CPU time");
    pt_metrics_set(metrics, scope, "cpu.total_s", cpu_s);
    pt_metrics_set(metrics, scope, "cpu.avg_percent",
                   !cpu_known   ? cpu_s
                   : wall_s > 0 ? pt_real(100 * (double)cpu_ns / 1e9 / wall_s)
                                : pt_unknown("the stage took no time"));
    pt_metrics_set(metrics, scope, "cpu.max_percent", pt_unknown(no_sampler));
    pt_metrics_set(metrics, scope, "rss.max_bytes",
                   rss_bytes ? pt_integer(rss_bytes) : pt_unknown("no process noted its memory"));
    pt_metrics_set(metrics, scope, "rss.max_of", pt_text("largest process"));
}

static void set_resources_from_launcher(struct pt_profile *profile, pt_u32 stage, const struct pt_run_stage *run)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const char *too_short = "the command ended before the first sample";
    if (!isnan(run->cpu_s))
        pt_metrics_set(metrics, scope, "cpu.total_s", pt_real(run->cpu_s));
    if (!isnan(run->cpu_percent_avg))
        pt_metrics_set(metrics, scope, "cpu.avg_percent", pt_real(run->cpu_percent_avg));
    pt_metrics_set(metrics, scope, "cpu.max_percent", number_or(run->cpu_percent_max, too_short));
    if (run->rss_max_bytes > 0) {
        pt_metrics_set(metrics, scope, "rss.max_bytes", pt_integer((pt_u64)run->rss_max_bytes));
        pt_metrics_set(metrics, scope, "rss.max_of", pt_text("sum over the process tree"));
    }
}

static void set_resources(struct pt_profile *profile, pt_u32 stage)
{
    static const char *const metrics[] = {"cpu.total_s", "cpu.avg_percent", "cpu.max_percent", "rss.max_bytes"};
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const bool skipped = pt_stage_was_skipped(&profile->stages.items[stage]);
    if (!skipped)
        set_resources_from_library(profile, stage);
    for (size_t i = 0; skipped && i < sizeof metrics / sizeof *metrics; i++)
        pt_metrics_set(&profile->metrics, pt_scope_stage(stage), metrics[i], pt_unknown("the stage was skipped"));
    if (run && !skipped)
        set_resources_from_launcher(profile, stage, run);
}

/* What was recorded at all: an empty capture is a finding. */
static void set_capture(struct pt_profile *profile, pt_u32 stage)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    pt_u64 calls = 0, allocs = 0, events = 0, lost = 0, untraced = 0;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) != stage)
            continue;
        for (pt_u32 row = 0; row < PT_ROW__COUNT; row++)
            calls += pt_call_class_of(row) == PT_CALL_NONE ? 0 : process->rows[row].calls;
        allocs += process->heap.allocs;
        events += process->quality.events;
        lost += process->quality.overwritten + process->quality.dropped + process->quality.corrupt_events;
        untraced += process->n_untraced;
    }
    pt_metrics_set(metrics, scope, "capture.processes", pt_integer(profile->stages.items[stage].n_processes));
    pt_metrics_set(metrics, scope, "capture.calls", pt_integer(calls));
    pt_metrics_set(metrics, scope, "capture.allocs", pt_integer(allocs));
    pt_metrics_set(metrics, scope, "capture.total", pt_integer(calls + allocs));
    pt_metrics_set(metrics, scope, "capture.events", pt_integer(events));
    pt_metrics_set(metrics, scope, "capture.lost.events", pt_integer(lost));
    pt_metrics_set(metrics, scope, "capture.untraced", pt_integer(untraced));
}

static void finish(void *state, struct pt_profile *profile)
{
    (void)state;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        if (profile->stages.items[stage].root)
            set_time(profile, stage);
        else
            set_time_untraced(profile, stage);
        set_resources(profile, stage);
        set_capture(profile, stage);
    }
}

const struct pt_analysis pt_analysis_stage_time = {
    .name = "stage_time",
    .summary = "wall time, time account, CPU, memory and completeness of each stage",
    .categories = 0,
    .state_size = 1,
    .finish = finish,
};
