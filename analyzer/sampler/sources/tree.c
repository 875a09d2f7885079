/* SPDX-License-Identifier: MIT
 *
 * sources/tree.c - Owns: what the processes of the stage use. Threads: main only. Never: touches them beyond reading
 * /proc.
 *
 * CPU time moves: a process that was waited for leaves its time with its parent. So the time of the tree in an interval
 * is what each living process used, plus what arrived at the parents, minus what was already seen of those that
 * vanished.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "sampler/sampler.h"
#include "sampler/tree_counts.h"
#include "util/clock.h"
#include "source.h"

#define PSS_COST_FACTOR 1000 /* after reading PSS wait 1000 times its cost: 0.1 % of one core */
#define CARRY_SCANS 2

struct tree_source {
    const struct pt_source_host *host;
    struct pt_tree_counts counts;
    bool has_io, has_run_queue, has_pss;
    pt_u64 pss_after_ns;
    pt_u64 reaped_ns;        /* CPU time of everything we waited for ourselves */
    pt_u64 reaped_before_ns; /* the same at the scan before */
    pt_i64 carry_ns;         /* vanished, not yet arrived at a parent */
    unsigned carry_age;
    pt_u64 living_ns; /* of processes that still ran at the last sample */
    pt_u64 tick_ns;
};

/* ---- what this kernel offers ---- */

static bool open_tree(void *state, const struct pt_source_host *host)
{
    struct tree_source *source = state;
    struct pt_process_io io;
    pt_u64 ns, runs = 0;
    source->host = host;
    source->tick_ns = 1000000000u / (pt_u64)sysconf(_SC_CLK_TCK);
    source->has_io = pt_process_io_read(getpid(), &io) == PT_IO_READ;
    source->has_run_queue = pt_task_run_queue_read(getpid(), &ns, &runs);
    source->has_pss = access("/proc/self/smaps_rollup", F_OK) == 0;
    if (!source->has_io) {
        pt_source_unknown(host, PT_RESOURCE_disk_read_bytes, "this kernel has no /proc/PID/io");
        pt_source_unknown(host, PT_RESOURCE_disk_write_bytes, "this kernel has no /proc/PID/io");
    }
    if (!source->has_run_queue)
        pt_source_unknown(host, PT_RESOURCE_run_queue_s, "this kernel has no /proc/PID/schedstat");
    else if (!runs) /* we are running, so we were put on a CPU */
        pt_source_unknown(host, PT_RESOURCE_run_queue_s,
                          "this kernel does not keep run-queue times; sysctl kernel.task_delayacct=1 makes it");
    source->has_run_queue &= runs > 0;
    if (!source->has_pss)
        pt_source_unknown(host, PT_RESOURCE_pss_bytes, "this kernel has no /proc/PID/smaps_rollup");
    return true;
}

/* ---- CPU ---- */

static pt_i64 difference(pt_u64 now, pt_u64 before)
{
    return (pt_i64)now - (pt_i64)before;
}

static pt_u64 cpu_since_last(struct tree_source *source)
{
    const struct pt_tree *tree = source->host->tree;
    pt_i64 living_ticks = 0, arrived_ticks = 0;
    pt_u64 all_ticks = 0;
    for (size_t i = 0; i < tree->n; i++) {
        const struct pt_tree_entry *entry = &tree->entries[i];
        if (entry->ownership != PT_PROCESS_OURS)
            continue;
        living_ticks += difference(entry->now.own_ticks, entry->own_before);
        arrived_ticks += difference(entry->now.children_ticks, entry->children_before);
        all_ticks += entry->now.own_ticks + entry->now.children_ticks;
    }
    const pt_i64 tick_ns = (pt_i64)source->tick_ns;
    source->living_ns = all_ticks * source->tick_ns;
    pt_i64 moved_ns = (arrived_ticks - (pt_i64)tree->gone_ticks) * tick_ns +
                      difference(source->reaped_ns, source->reaped_before_ns) + source->carry_ns;
    source->reaped_before_ns = source->reaped_ns;
    /* Time that has left the ended process and is not in its parent's sum yet: it comes with the next scan, or never
     * (a parent that ignores SIGCHLD). */
    source->carry_age = moved_ns < 0 && source->carry_ns < 0 ? source->carry_age + 1 : 0;
    source->carry_ns = moved_ns < 0 && source->carry_age < CARRY_SCANS ? moved_ns : 0;
    moved_ns = moved_ns > 0 ? moved_ns : 0;
    living_ticks = living_ticks > 0 ? living_ticks : 0;
    return (pt_u64)(living_ticks * tick_ns + moved_ns);
}

/* ---- memory ---- */

static bool has_memory_of_its_own(const struct pt_tree *tree, const struct pt_tree_entry *entry)
{
    return entry->ownership == PT_PROCESS_OURS && pt_process_is_living(&entry->now) &&
           !pt_tree_shares_memory_of_parent(tree, entry);
}

static double pss_of_all(struct tree_source *source, struct pt_source_look *look)
{
    if (!source->has_pss || look->t_ns < source->pss_after_ns)
        return NAN;
    const pt_u64 start = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const struct pt_tree *tree = source->host->tree;
    double sum = NAN;
    for (size_t i = 0; i < tree->n; i++) {
        const struct pt_tree_entry *entry = &tree->entries[i];
        pt_u64 bytes = 0;
        if (entry->now.rss_bytes == 0 || !has_memory_of_its_own(tree, entry))
            continue;
        if (!pt_process_pss_bytes(entry->pid, &bytes) && pt_process_is_living(&entry->now)) {
            sum = NAN; /* another user's process, or gone since: a sum without it would be too small */
            break;
        }
        sum = isnan(sum) ? (double)bytes : sum + (double)bytes;
    }
    const pt_u64 cost_ns = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
    source->pss_after_ns = look->t_ns + cost_ns * PSS_COST_FACTOR;
    look->paid_ns += cost_ns;
    return sum;
}

static void look_at_memory(struct tree_source *source, struct pt_source_look *look)
{
    const struct pt_tree *tree = source->host->tree;
    struct pt_samples *samples = source->host->samples;
    double rss_bytes = 0, threads = 0, processes = 0;
    for (size_t i = 0; i < tree->n; i++) {
        const struct pt_tree_entry *entry = &tree->entries[i];
        if (entry->ownership != PT_PROCESS_OURS || !pt_process_is_living(&entry->now))
            continue;
        rss_bytes += has_memory_of_its_own(tree, entry) ? (double)entry->now.rss_bytes : 0;
        threads += entry->now.threads;
        processes++;
    }
    look->values[PT_RESOURCE_processes] = processes;
    if (processes > 0) { /* all have ended: nothing to measure, which is not 0 bytes */
        look->values[PT_RESOURCE_rss_bytes] = rss_bytes;
        look->values[PT_RESOURCE_threads] = threads;
    }
    samples->living = (pt_u32)processes;
    if (rss_bytes > (double)samples->rss_max_bytes)
        samples->rss_max_bytes = (pt_u64)rss_bytes;
    if (!look->is_last && look->interval_s > 0)
        look->values[PT_RESOURCE_pss_bytes] = pss_of_all(source, look);
}

/* ---- counts ---- */

static void look_at_counts(struct tree_source *source, struct pt_source_look *look)
{
    const struct pt_source_host *host = source->host;
    pt_tree_counts_look(&source->counts, host->tree, look->is_last);
    const struct pt_tree_totals totals = pt_tree_counts_totals(&source->counts);
    if (source->has_io) {
        look->values[PT_RESOURCE_disk_read_bytes] = totals.read_bytes;
        look->values[PT_RESOURCE_disk_write_bytes] = totals.write_bytes;
        if (isnan(totals.read_bytes)) {
            pt_source_unknown(host, PT_RESOURCE_disk_read_bytes, "/proc/PID/io of a process is another user's");
            pt_source_unknown(host, PT_RESOURCE_disk_write_bytes, "/proc/PID/io of a process is another user's");
        }
    }
    look->values[PT_RESOURCE_voluntary_switches] = totals.voluntary;
    look->values[PT_RESOURCE_involuntary_switches] = totals.involuntary;
    if (source->has_run_queue)
        look->values[PT_RESOURCE_run_queue_s] = totals.run_queue_s;
    if (!source->counts.has_too_many_threads)
        return;
    for (int i = PT_RESOURCE_voluntary_switches; i <= PT_RESOURCE_run_queue_s; i++)
        pt_source_unknown(host, (enum pt_resource)i, "more threads than can be looked at cheaply");
}

/* ---- the source ---- */

static void look_at_tree(void *state, struct pt_source_look *look)
{
    struct tree_source *source = state;
    pt_tree_scan(source->host->tree);
    const double cpu_ns = (double)cpu_since_last(source);
    if (look->interval_s > 0)
        look->values[PT_RESOURCE_cpu_percent] = cpu_ns / 1e7 / look->interval_s;
    look_at_memory(source, look);
    look_at_counts(source, look);
    source->host->samples->cpu_ns = source->reaped_ns + source->living_ns;
}

static bool is_foreign(const struct tree_source *source, pid_t pid)
{
    const struct pt_tree_entry *entry = pt_tree_find(source->host->tree, pid);
    return entry && entry->ownership == PT_PROCESS_FOREIGN;
}

static void tree_process_ending(void *state, pid_t pid)
{
    struct tree_source *source = state;
    if (!is_foreign(source, pid))
        pt_tree_counts_ending(&source->counts, pid);
}

static void tree_process_reaped(void *state, pid_t pid, const struct rusage *usage)
{
    struct tree_source *source = state;
    if (is_foreign(source, pid))
        return; /* a child of whatever became us by exec, or a reader of ours */
    const pt_u64 seconds = (pt_u64)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec);
    const pt_u64 micros = (pt_u64)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
    source->reaped_ns += seconds * 1000000000u + micros * 1000u;
    const pt_u64 rss_bytes = (pt_u64)usage->ru_maxrss * 1024;
    if (rss_bytes > source->host->samples->rss_max_bytes)
        source->host->samples->rss_max_bytes = rss_bytes;
    pt_tree_counts_reaped(&source->counts, pid, usage);
}

static void close_tree(void *state)
{
    struct tree_source *source = state;
    pt_tree_counts_free(&source->counts);
}

const struct pt_source pt_source_tree = {
    .name = "tree",
    .state_size = sizeof(struct tree_source),
    .open = open_tree,
    .look = look_at_tree,
    .ending = tree_process_ending,
    .reaped = tree_process_reaped,
    .close = close_tree,
};
