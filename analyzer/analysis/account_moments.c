/* SPDX-License-Identifier: MIT
 *
 * What the kernel's records say about the critical thread beside its calls: when it was preempted, when it waited for a
 * page, where it was seen computing. What lies inside of a recorded call is part of that.
 *
 * Threads: one. State: the moments of one thread per stage, as many as the CPU profile keeps. Never: takes libc's code
 * for native when the interpreter called it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/cpu_data.h"
#include "../model/python.h"
#include "account.h"

static const char no_launcher[] = "needs the launcher's sampling: start the command with proftrace run";

/* ---- reading ---- */

/* copying and allocating are what the caller does: libc, and ourselves around it */
static bool is_servant(const char *path)
{
    static const char *const names[] = {"libc.so", "libc-", "libm.so", "libm-", "libpthread", "libproftrace"};
    const char *base = pt_base_name(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(base, names[i], strlen(names[i])))
            return true;
    return false;
}

static bool is_python(const struct pt_cpu_data *data, pt_u32 node)
{
    while (node && is_servant(data->modules[data->nodes[node].module].path))
        node = data->nodes[node].parent;
    return node && pt_is_python_file(data->modules[data->nodes[node].module].path);
}

static int by_time(const void *a, const void *b)
{
    const struct account_moment *x = a, *y = b;
    return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

/* exec keeps the thread, and its number. */
static bool is_of(const struct pt_cpu_data *data, pt_u32 thread, const struct pt_process *root)
{
    return data->threads[thread].tid == root->pid && data->threads[thread].pid == root->pid;
}

static void take_all(struct account_moments *moments, const struct pt_cpu_data *data, const struct pt_process *root)
{
    const pt_i64 shift_ns = root->start_ns + (pt_i64)(data->header.begin_monotonic_ns - root->start_monotonic_ns);
    double kept_fault_ns = 0, all_fault_ns = 0;
    moments->items = pt_calloc(data->n_intervals + data->n_samples + 1, sizeof *moments->items);
    for (size_t i = 0; i < data->n_intervals; i++) {
        const struct pt_cpu_interval *interval = &data->intervals[i];
        if (interval->kind > PT_CPU_INTERVAL_FAULT || !is_of(data, interval->thread, root))
            continue;
        const bool is_fault = interval->kind == PT_CPU_INTERVAL_FAULT;
        moments->items[moments->n++] = (struct account_moment){
            .t_ns = (pt_i64)(interval->t_ns + interval->duration_ns / 2) + shift_ns,
            .duration_ns = (pt_i64)interval->duration_ns,
            .kind = is_fault ? MOMENT_FAULT : MOMENT_PREEMPTED,
        };
        kept_fault_ns += is_fault ? (double)interval->duration_ns : 0;
    }
    for (size_t i = 0; i < data->n_samples; i++)
        if (is_of(data, data->samples[i].thread, root))
            moments->items[moments->n++] = (struct account_moment){
                .t_ns = (pt_i64)data->samples[i].t_ns + shift_ns,
                .kind = is_python(data, data->samples[i].node) ? MOMENT_PYTHON : MOMENT_NATIVE,
            };
    for (pt_u32 i = 1; i < data->n_threads; i++) {
        const double waits_ns = (double)data->fault_sums[i].waits_ns;
        all_fault_ns += is_of(data, i, root) ? waits_ns : 0;
        moments->faults += (double)data->fault_sums[i].faults;
        moments->fault_ns += waits_ns;
    }
    moments->more_fault_ns = fmax(all_fault_ns - kept_fault_ns, 0);
    qsort(moments->items, moments->n, sizeof *moments->items, by_time);
}

void pt_account_moments_open(struct account *account, pt_u32 stage)
{
    struct pt_profile *profile = account->profile;
    struct account_moments *moments = &account->moments[stage];
    const struct pt_stage *one = &profile->stages.items[stage];
    struct pt_cpu_data *data = NULL;
    struct pt_error err = {0};
    moments->fault_reason = no_launcher;
    /* The launcher's stages come first, in its order. What is wrong with the file is said by the analysis `cpu`. */
    if (!one->run || !one->root || pt_cpu_data_read(profile->session->path, stage, &data, &err) < 0 || !data)
        return;
    const pt_u32 flags = data->header.flags;
    moments->has_intervals = flags & PT_CPU_INTERVALS;
    moments->has_faults = flags & PT_CPU_FAULTS;
    moments->is_user_only = flags & PT_CPU_USER_ONLY;
    moments->period_ns = (double)data->header.period_ns;
    moments->has_samples = data->totals.samples <= data->n_samples;
    moments->fault_reason = data->note
                                ? pt_metrics_text(&profile->metrics, data->note)
                                : "the CPU profile has no page faults: the kernel refused them, or it is an old one";
    take_all(moments, data, one->root);
    pt_cpu_data_free(data);
}

/* ---- inside or outside ---- */

pt_i64 pt_account_moments_in(struct account_moments *moments, pt_i64 start_ns, pt_i64 end_ns)
{
    size_t low = 0, high = moments->n;
    pt_i64 preempted_ns = 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (moments->items[middle].t_ns < start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < moments->n && moments->items[low].t_ns <= end_ns; low++) {
        struct account_moment *moment = &moments->items[low];
        if (!moment->is_inside && moment->kind == MOMENT_PREEMPTED)
            preempted_ns += moment->duration_ns;
        moment->is_inside = true;
    }
    return preempted_ns;
}

void pt_account_moments_result(const struct account_moments *moments, struct account_cpu *cpu)
{
    double outside[MOMENT__COUNT] = {0}, preempted_ns = 0, n[MOMENT__COUNT] = {0};
    for (size_t i = 0; i < moments->n; i++) {
        const struct account_moment *moment = &moments->items[i];
        preempted_ns += moment->kind == MOMENT_PREEMPTED ? (double)moment->duration_ns : 0;
        if (moment->is_inside)
            continue;
        outside[moment->kind] += (double)moment->duration_ns;
        n[moment->kind]++;
    }
    const double samples = n[MOMENT_PYTHON] + n[MOMENT_NATIVE];
    cpu->preempted_s = preempted_ns / 1e9;
    cpu->fault_s = moments->has_faults ? (outside[MOMENT_FAULT] + moments->more_fault_ns) / 1e9 : NAN;
    cpu->fault_reason = moments->fault_reason;
    cpu->samples_s = moments->is_user_only && moments->has_samples ? samples * moments->period_ns / 1e9 : NAN;
    if (moments->has_samples && samples > 0)
        cpu->python_share = n[MOMENT_PYTHON] / samples;
}
