/* SPDX-License-Identifier: MIT
 *
 * Owns: what can be gained of time that others than the critical path took, too. Threads: one per struct. Never:
 * promises what nobody waits for.
 */
#include "split_time.h"

#include <math.h>

#include "facts/workers.h"
#include "critical_path.h"
#include "path_time.h"

/* The path may wait for others in these; it polls for them, too. */
enum {
    WAITS = 1 << PT_PART_data_wait | 1 << PT_PART_child_wait | 1 << PT_PART_network | 1 << PT_PART_lock |
            1 << PT_PART_idle | 1 << PT_PART_sleep
};

enum pt_whose pt_whose_time(const struct pt_critical_paths *paths, const struct pt_thread *thread, pt_i64 start_ns,
                            pt_i64 end_ns)
{
    if (pt_is_worker(thread->process))
        return PT_OF_WORKERS;
    if (!pt_path_has(paths, thread->process))
        return PT_BESIDE;
    /* An event that took no time, too, is somebody's. */
    const pt_i64 until_ns = end_ns > start_ns ? end_ns : start_ns + 1;
    return 2 * pt_path_critical_ns(paths, thread, start_ns, until_ns) > until_ns - start_ns ? PT_ON_PATH : PT_BESIDE;
}

enum pt_whose pt_whose_process(const struct pt_critical_paths *paths, const struct pt_process *process)
{
    if (pt_is_worker(process))
        return PT_OF_WORKERS;
    return pt_path_has(paths, process) && 2 * pt_path_share(paths, process) > 1 ? PT_ON_PATH : PT_BESIDE;
}

static bool waits(enum pt_time_part part)
{
    return part < PT_PART__COUNT && WAITS >> part & 1;
}

/* A thread keeps the main one from the GIL; ranks wait for each other on their GPUs. */
static void note_others(struct pt_split_time *time, const struct pt_critical_paths *paths,
                        const struct pt_process *process)
{
    time->more_parts |= pt_path_has(paths, process) ? 1 << PT_PART_gil_wait : 0;
    time->more_parts |= process->rank >= 0 ? 1 << PT_PART_gpu_wait : 0;
}

/* Returns by how much that of the path has grown. */
static pt_i64 add(struct pt_split_time *time, enum pt_whose whose, const struct pt_critical_paths *paths,
                  const struct pt_process *process, struct pt_path_window window)
{
    const pt_i64 before_ns = time->of[whose].total_ns;
    pt_time_union_add(&time->of[whose], window.from_ns, window.until_ns);
    if (whose == PT_ON_PATH)
        return time->of[whose].total_ns - before_ns;
    note_others(time, paths, process);
    return 0;
}

void pt_split_time_add_as(struct pt_split_time *time, enum pt_whose whose, const struct pt_critical_paths *paths,
                          const struct pt_event *event, pt_i64 start_ns)
{
    const pt_i64 more_ns =
        add(time, whose, paths, event->process, (struct pt_path_window){start_ns, pt_event_end_ns(event), NULL});
    if (more_ns && waits(pt_time_part_of_event(event)))
        time->path_waits_ns += more_ns;
}

void pt_split_time_add(struct pt_split_time *time, const struct pt_critical_paths *paths, const struct pt_event *event,
                       pt_i64 start_ns)
{
    const enum pt_whose whose = pt_whose_time(paths, event->thread, start_ns, pt_event_end_ns(event));
    pt_split_time_add_as(time, whose, paths, event, start_ns);
}

void pt_split_time_add_span(struct pt_split_time *time, const struct pt_critical_paths *paths,
                            const struct pt_event *event, const struct pt_span *span)
{
    const pt_i64 more_ns = add(time, pt_whose_time(paths, event->thread, span->start_ns, span->end_ns), paths,
                               event->process, (struct pt_path_window){span->start_ns, span->end_ns, NULL});
    if (waits((enum pt_time_part)span->part))
        time->path_waits_ns += more_ns;
}

void pt_split_time_add_waits(struct pt_split_time *time, const struct pt_critical_paths *paths,
                             const struct pt_process *process, pt_i64 ns)
{
    const enum pt_whose whose = pt_whose_process(paths, process);
    time->of[whose].total_ns += ns;
    time->path_waits_ns += whose == PT_ON_PATH ? ns : 0;
}

/* A fraction of each wait for a worker is receiving its result. It ranks the finding about the workers above one
 * about a single thing that they wait for. */
#define SHARE_OF_A_WAIT 0.97

/* Workers and what else runs beside the path are hidden behind the same waits. */
static double cost_s(const struct pt_split_time *time, const double *seconds, const struct pt_profile *profile,
                     pt_u32 stage)
{
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_value waited = pt_metrics_get(&profile->metrics, scope, "helpers.wait_s");
    /* An only child for which its parent does nothing but wait is the program itself. */
    const double on_path_s = pt_value_number(pt_metrics_get(&profile->metrics, scope, "helpers.on_path_s"));
    const double most_s =
        waited.type == PT_VALUE_UNKNOWN ? INFINITY : SHARE_OF_A_WAIT * pt_value_number(waited) + fmax(on_path_s, 0);
    const double workers_s = fmin(seconds[PT_OF_WORKERS], most_s);
    const double hidden_s = pt_path_time_s(profile->facts, stage, WAITS | time->more_parts) -
                            (double)time->path_waits_ns / 1e9 - fmax(workers_s - fmax(on_path_s, 0), 0);
    return fmax(seconds[PT_ON_PATH], 0) + workers_s + fmin(seconds[PT_BESIDE], fmax(hidden_s, 0));
}

double pt_path_waits_s(const struct pt_profile *profile, pt_u32 stage)
{
    return pt_path_time_s(profile->facts, stage, WAITS);
}

struct pt_value pt_split_time_cost(const struct pt_split_time *time, const struct pt_profile *profile, pt_u32 stage)
{
    double seconds[PT_WHOSE__COUNT];
    for (int i = 0; i < PT_WHOSE__COUNT; i++)
        seconds[i] = (double)time->of[i].total_ns / 1e9;
    return pt_real(cost_s(time, seconds, profile, stage));
}

double pt_split_time_part_s(const struct pt_split_time *time, const struct pt_split_sum *part,
                            const struct pt_profile *profile, pt_u32 stage)
{
    double seconds[PT_WHOSE__COUNT];
    for (int i = 0; i < PT_WHOSE__COUNT; i++)
        seconds[i] = fmin(part->ns[i], (double)time->of[i].total_ns) / 1e9;
    return cost_s(time, seconds, profile, stage);
}
