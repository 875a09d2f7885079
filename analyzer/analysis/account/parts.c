/* SPDX-License-Identifier: MIT
 *
 * From the recorded time of a thread to its account. Threads: one. State: none. Never: shows what could not be recorded
 * as 0, or a part of it as all of it.
 */
#include "parts.h"

#include <math.h>

#include "proftrace/events.h"
#include "facts/python.h"
#include "model/layers.h"

/* ---- what could not be recorded ---- */

enum {
    IO = 1 << PT_LAYER_IO,
    STDIO = 1 << PT_LAYER_STDIO,
    LOCKS = 1 << PT_LAYER_LOCKS,
    WAITS = 1 << PT_LAYER_WAITS,
    NET = 1 << PT_LAYER_NET,
};

/* Without any of these a part would hold some of its time only. */
static const pt_u32 needs[PT_PART__COUNT] = {
    [PT_PART_file_read] = IO | STDIO,
    [PT_PART_file_write] = IO | STDIO,
    [PT_PART_file_meta] = IO | STDIO,
    [PT_PART_network] = IO | NET,
    [PT_PART_data_wait] = IO | WAITS | NET,
    [PT_PART_lock] = LOCKS,
    [PT_PART_idle] = WAITS | NET,
    [PT_PART_gil_wait] = LOCKS,
    [PT_PART_sleep] = WAITS,
    [PT_PART_child_wait] = IO | WAITS,
    [PT_PART_workers] = IO | LOCKS | WAITS,
};

/* Texts of the program, not of the metrics: there may be one for each part of 100,000 threads. */
static const char *reason_of_layers(pt_u32 off, pt_u32 unknown)
{
#define OFF(option) "not recorded: PROFTRACE_" option " was off; part of unattributed"
#define OLD(layer) "recorded by an older library, without '" layer "'; part of unattributed"
    static const char *const were_off[] = {
        [PT_LAYER_IO] = OFF("IO"),       [PT_LAYER_STDIO] = OFF("STDIO"), [PT_LAYER_LOCKS] = OFF("LOCKS"),
        [PT_LAYER_WAITS] = OFF("WAITS"), [PT_LAYER_NET] = OFF("NET"),
    };
    static const char *const are_old[] = {
        [PT_LAYER_IO] = OLD("io"),       [PT_LAYER_STDIO] = OLD("stdio"), [PT_LAYER_LOCKS] = OLD("locks"),
        [PT_LAYER_WAITS] = OLD("waits"), [PT_LAYER_NET] = OLD("net"),
    };
    _Static_assert(sizeof were_off / sizeof *were_off == PT_LAYER__COUNT, "a text for each");
    return off ? were_off[__builtin_ctz(off)] : are_old[__builtin_ctz(unknown)];
#undef OFF
#undef OLD
}

/* Why a part of a process is not known; NULL = it is known. */
static const char *why_unknown(const struct pt_process *process, enum pt_time_part part)
{
    const pt_u32 off = process->layers_off & needs[part], unknown = process->layers_unknown & needs[part];
    if (off || unknown)
        return reason_of_layers(off, unknown);
    if (part == PT_PART_heap && process->heap_mode == PT_HEAP_OFF)
        return "not recorded: the heap was switched off (PROFTRACE_HEAP=off)";
    if (part == PT_PART_heap)
        return pt_process_why_no_heap(process); /* calls that were not counted would take no time */
    if (part == PT_PART_gil_wait && !pt_process_knows_gil(process))
        return "the trace does not say where the GIL lies; part of locks";
    return NULL;
}

struct pt_value pt_account_part_of(const struct pt_process *process, enum pt_time_part part, double ns)
{
    const char *reason = why_unknown(process, part);
    return reason ? pt_unknown(reason) : pt_real(ns / 1e9);
}

/* ---- what was not recorded ---- */

static double sum_of(const struct pt_account_split *split)
{
    double ns = 0;
    for (int part = 0; part < PT_PART__COUNT; part++)
        ns += split->ns[part];
    return ns;
}

/* Because of rounding and two kinds of clocks, the parts may be a little longer than the whole. */
static void fit(struct pt_account_split *split, double wall_ns)
{
    const double ns = sum_of(split);
    for (int part = 0; part < PT_PART__COUNT && ns > wall_ns; part++)
        split->ns[part] *= wall_ns / ns;
}

/* Where the kernel was not sampled, its share of the time is what samples do not cover. */
static double python_share(const struct pt_account_cpu *cpu, double on_ns)
{
    if (isnan(cpu->python_share))
        return 0;
    return isnan(cpu->samples_s) || on_ns <= cpu->samples_s * 1e9 ? cpu->python_share
                                                                  : cpu->python_share * cpu->samples_s * 1e9 / on_ns;
}

/* Samples show which of the two it was; without them it is known only of a program without an interpreter. */
static bool knows_kind(const struct pt_account_cpu *cpu)
{
    return !isnan(cpu->python_share) || !cpu->has_python;
}

static void add_computing(struct pt_account_split *split, double most_ns, const struct pt_account_cpu *cpu)
{
    const double on_ns = isnan(cpu->on_s) ? cpu->computing_s * 1e9 - split->ns[PT_PART_heap]
                                          : cpu->on_s * 1e9 - split->ns[PT_PART_heap] - split->ns[PT_PART_native];
    const double computing_ns = fmax(fmin(most_ns, on_ns), 0),
                 python_ns = computing_ns * python_share(cpu, computing_ns);
    if (knows_kind(cpu)) {
        split->ns[PT_PART_python] += python_ns;
        split->ns[PT_PART_native] += computing_ns - python_ns;
        return;
    }
    split->ns[PT_PART_computing] += computing_ns + split->ns[PT_PART_native];
    split->ns[PT_PART_native] = 0;
}

/* Calls that are the kernel's work (mapping memory, starting processes) took no more of the CPU than the kernel counted
 * for the thread: in the rest it was off it. Who starts a program waits until that has begun. */
static void bind_native(struct pt_account_split *split, const struct pt_account_cpu *cpu)
{
    double excess_ns = split->ns[PT_PART_native] + split->ns[PT_PART_heap] - cpu->most_s * 1e9;
    if (!(excess_ns > 0))
        return;
    excess_ns = fmin(excess_ns, split->ns[PT_PART_native]);
    split->ns[PT_PART_native] -= excess_ns;
    split->ns[PT_PART_child_wait] += fmin(excess_ns, split->starting_ns);
}

/* What is left after the recorded calls is computation, as far as the CPU time says; then waiting for a CPU. */
static void add_cpu(struct pt_account_split *split, double wall_ns, const struct pt_account_cpu *cpu)
{
    const double preempted_ns = fmin(fmax(wall_ns - sum_of(split), 0), cpu->preempted_s * 1e9);
    split->ns[PT_PART_runnable] += preempted_ns;
    double rest_ns = wall_ns - sum_of(split);
    if (isnan(cpu->on_s) && isnan(cpu->computing_s)) {
        /* Of the computing only what hooks saw is known (fork, mmap): too little to be shown as all of it. */
        split->ns[PT_PART_unattributed] += fmax(rest_ns, 0) + split->ns[PT_PART_native];
        split->ns[PT_PART_native] = 0;
        return;
    }
    add_computing(split, fmax(rest_ns, 0), cpu);
    rest_ns = wall_ns - sum_of(split);
    const double queued_ns = isnan(cpu->runnable_s) ? fmax(cpu->between_preempted_s * 1e9, 0)
                                                    : fmax(cpu->runnable_s * 1e9 - preempted_ns, 0);
    const double runnable_ns = fmin(fmax(rest_ns, 0), queued_ns);
    split->ns[PT_PART_runnable] += runnable_ns;
    rest_ns = fmax(wall_ns - sum_of(split), 0);
    const double starting_ns = fmin(rest_ns, cpu->starting_s * 1e9);
    split->ns[PT_PART_child_wait] += starting_ns;
    split->ns[PT_PART_unattributed] += rest_ns - starting_ns;
}

/* ---- the stage ---- */

static bool calls_cuda(const struct pt_profile *profile, pt_u32 stage)
{
    pt_u64 calls = 0;
    for (pt_u32 kind = PT_KIND_cuda_call; kind <= PT_KIND_cuda_memory; kind++)
        calls += pt_profile_stage_totals(profile, stage, kind).calls;
    return calls > 0;
}

/* Of the images of a process any may have recorded less. */
static const char *why_unknown_in_images(const struct pt_process *last, enum pt_time_part part)
{
    const char *reason = NULL;
    for (const struct pt_process *image = last; image; image = image->previous_image) {
        const char *here = why_unknown(image, part);
        reason = here ? here : reason;
    }
    return reason;
}

static const char *why_no_cpu(const struct pt_account_cpu *cpu, enum pt_time_part part)
{
    const char *no_sampler = cpu->no_sampler;
    const bool knows_cpu = !isnan(cpu->on_s) || !isnan(cpu->computing_s);
    if (part == PT_PART_computing)
        return knows_cpu ? NULL : no_sampler;
    if (part == PT_PART_native || part == PT_PART_python)
        return !knows_cpu ? no_sampler : knows_kind(cpu) ? NULL : cpu->python_reason;
    if (part == PT_PART_workers)
        return isnan(cpu->on_s) ? "needs the launcher's sampling; part of locks and child wait" : NULL;
    if (part == PT_PART_page_fault)
        return isnan(cpu->fault_s) ? cpu->fault_reason : NULL;
    return part == PT_PART_runnable && isnan(cpu->runnable_s) && isnan(cpu->between_preempted_s) ? no_sampler : NULL;
}

const char pt_account_no_gpu[] = "GPU work is not recorded; part of unattributed";

void pt_account_finish_split(const struct pt_process *last, struct pt_account_split *split, double wall_ns,
                             const struct pt_account_cpu *cpu, bool has_gpu, struct pt_account_result *result)
{
    split->ns[PT_PART_page_fault] += isnan(cpu->fault_s) ? 0 : cpu->fault_s * 1e9;
    fit(split, wall_ns);
    bind_native(split, cpu);
    add_cpu(split, wall_ns, cpu);
    for (int part = 0; part < PT_PART_unattributed; part++) {
        const char *reason = why_unknown_in_images(last, (enum pt_time_part)part);
        if (!reason)
            reason = why_no_cpu(cpu, (enum pt_time_part)part);
        if (!has_gpu && (part == PT_PART_gpu_wait || part == PT_PART_copy))
            reason = pt_account_no_gpu;
        if (reason)
            split->ns[PT_PART_unattributed] += split->ns[part];
        result->parts[part] = reason ? pt_unknown(reason) : pt_real(split->ns[part] / 1e9);
    }
    if (result->parts[PT_PART_computing].type != PT_VALUE_UNKNOWN)
        result->parts[PT_PART_computing] =
            pt_real((split->ns[PT_PART_computing] + split->ns[PT_PART_python] + split->ns[PT_PART_native]) / 1e9);
    result->parts[PT_PART_unattributed] = pt_real(split->ns[PT_PART_unattributed] / 1e9);
}

/* Major ones, of all threads. */
static void set_faults(struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_cpu_data *data = pt_facts_cpu(profile->facts, stage)->data;
    double faults = 0, ns = 0;
    if (!data || !(data->header.flags & PT_CPU_FAULTS))
        return;
    for (size_t i = 1; i < data->n_threads; i++) {
        faults += (double)data->fault_sums[i].faults;
        ns += (double)data->fault_sums[i].waits_ns;
    }
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "fault.major.calls", pt_real(faults));
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "fault.wait_s", pt_real(ns / 1e9));
}

void pt_account_set_parts(struct pt_account *account, pt_u32 stage, struct pt_account_split *split)
{
    struct pt_profile *profile = account->profile;
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const double wall_ns = (double)pt_profile_stage_wall_ns(profile, stage);
    const struct pt_account_cpu cpu = pt_account_cpu(account, stage);
    struct pt_account_result result;
    pt_account_finish_split(account->facts->paths->stages[stage].longest, split, wall_ns, &cpu,
                            calls_cuda(profile, stage), &result);
    for (int part = 0; part < PT_PART__COUNT; part++)
        pt_metrics_set(metrics, scope, pt_time_parts[part].metric, result.parts[part]);
    pt_metrics_set(metrics, scope, "time.copied_read_s", pt_real(split->copied_read_ns / 1e9));
    pt_metrics_set(metrics, scope, "time.copied_write_s", pt_real(split->copied_write_ns / 1e9));
    set_faults(profile, stage);
    pt_metrics_set(metrics, scope, "time.wall_s", pt_real(wall_ns / 1e9));
}
