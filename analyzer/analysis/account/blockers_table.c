/* SPDX-License-Identifier: MIT
 *
 * The table of waits that were followed: the waiter, its blocker, and what the blocker did during the wait, split as an
 * account is.
 *
 * Threads: one. State: none. Never: counts as computing what the CPU profile did not see computing.
 */
#include "blockers_table.h"

#include <math.h>
#include <stdlib.h>

#include "profile/process_name.h"
#include "parts.h"

/* ---- one row ---- */

static bool has_cpu(const struct pt_account *account, const struct pt_account_followed *followed)
{
    return pt_facts_cpu_thread(account->facts, followed->target);
}

/* How much of the gaps was computing, by samples. They come once in a period, so a shorter time is no gap. */
static void share_gaps(const struct pt_account *account, const struct pt_account_followed *followed,
                       double ns[PT_PART__COUNT])
{
    const struct pt_cpu_data *data = pt_account_profile_of(account, followed->target)->data;
    const double sampled_ns = followed->python_ns + followed->native_ns, gap_ns = fmax(followed->gap_ns, 0);
    const bool covers = has_cpu(account, followed) && sampled_ns > gap_ns - (double)data->header.period_ns;
    const double computing_ns = covers ? gap_ns : fmin(sampled_ns, gap_ns);
    const double python_ns = sampled_ns > 0 ? computing_ns * followed->python_ns / sampled_ns : 0;
    for (int part = 0; part < PT_PART__COUNT; part++)
        ns[part] = followed->ns[part];
    ns[PT_PART_python] += python_ns;
    ns[PT_PART_native] += computing_ns - python_ns;
    ns[PT_PART_unattributed] += gap_ns - computing_ns;
}

/* The label of the largest part. */
static const char *mostly(struct pt_profile *profile, const struct pt_account_followed *followed, const double ns[],
                          bool has_cpu)
{
    int most = 0;
    for (int part = 1; part < PT_PART__COUNT; part++)
        if (ns[part] > ns[most])
            most = part;
    const double percent = followed->total_ns > 0 ? 100 * ns[most] / followed->total_ns : 0;
    const char *what =
        most == PT_PART_unattributed && !has_cpu ? "computing, or not recorded" : pt_time_parts[most].label;
    return pt_metrics_format(&profile->metrics, "%s %.0f %%", what, percent);
}

static const char *name_of(struct pt_profile *profile, const struct pt_thread *thread)
{
    const struct pt_process *process = thread->process;
    if (thread != pt_main_thread(process))
        return pt_thread_label(profile, thread);
    return pt_process_name(profile, process);
}

static const char *why_unknown(const struct pt_account *account, const struct pt_account_followed *followed, int part)
{
    const bool needs_profile = part == PT_PART_page_fault || part == PT_PART_python || part == PT_PART_native ||
                               part == PT_PART_computing || part == PT_PART_runnable;
    const bool needs_gpu = part == PT_PART_gpu_wait || part == PT_PART_copy;
    if (needs_profile && !has_cpu(account, followed))
        return pt_account_profile_of(account, followed->target)->data
                   ? "the thread is not in the CPU profile; part of unattributed"
                   : pt_profile_why_not_sampled(account->profile, followed->stage);
    if (needs_gpu && !pt_account_calls_cuda(followed->target))
        return pt_account_no_gpu;
    return pt_account_part_of(followed->target->process, (enum pt_time_part)part, 0).reason;
}

struct wait_row {
    const char *wait, *waited_for, *waiter, *mostly;
    pt_u32 pid, step, tid, part;
    pt_u32 is_own; /* 1: a wait of the account: of the critical thread, or of one of its process that it waits for */
    pt_u64 waits;
    double total_s;
    struct pt_value parts[PT_PART__COUNT];
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct wait_row, wait, TEXT, "Wait"),
    PT_COLUMN(struct wait_row, waited_for, TEXT, "Waited for"),
    PT_COLUMN(struct wait_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct wait_row, step, NUMBER, "Step"),
    PT_COLUMN(struct wait_row, waiter, TEXT, "Who waited"),
    PT_COLUMN(struct wait_row, waits, COUNT, "Waits"),
    PT_COLUMN(struct wait_row, total_s, SECONDS, "Total"),
    PT_COLUMN(struct wait_row, mostly, TEXT, "Which meanwhile was"),
#define PART(id, label) PT_COLUMN_AT(struct wait_row, parts[PT_PART_##id], #id "_s", SECONDS, label),
#include "facts/time_parts.def"
#undef PART
    PT_COLUMN(struct wait_row, tid, NUMBER, NULL),
    PT_COLUMN(struct wait_row, part, NOWHERE, NULL),
    PT_COLUMN(struct wait_row, is_own, NOWHERE, NULL),
};
static const struct pt_table_kind by_wait = {PT_VIEW_waits, PT_COLUMNS(columns)};

static bool is_own(const struct pt_account *account, const struct pt_account_followed *followed)
{
    const struct pt_path_helpers *helpers = &account->facts->paths->processes[followed->waiter->process->index].helpers;
    bool is_helper = false;
    for (size_t i = 0; i < helpers->n; i++)
        is_helper |= helpers->items[i].thread == followed->waiter;
    return followed->step == 1 || is_helper;
}

static void add_row(struct pt_account *account, struct pt_table *table, struct pt_account_followed *followed)
{
    struct pt_profile *profile = account->profile;
    double ns[PT_PART__COUNT];
    const char *reasons[PT_PART__COUNT] = {0};
    share_gaps(account, followed, ns);
    for (int part = 0; part < PT_PART_unattributed; part++) {
        reasons[part] = why_unknown(account, followed, part);
        ns[PT_PART_unattributed] += reasons[part] ? ns[part] : 0;
        ns[part] = reasons[part] ? 0 : ns[part];
    }
    const char *most = mostly(profile, followed, ns, has_cpu(account, followed));
    ns[PT_PART_computing] += ns[PT_PART_python] + ns[PT_PART_native];
    struct wait_row row = {
        .wait = pt_time_parts[followed->part].label,
        .waited_for = name_of(profile, followed->target),
        .pid = followed->target->process->pid,
        .step = followed->step,
        .waiter = name_of(profile, followed->waiter),
        .waits = followed->waits,
        .total_s = followed->total_ns / 1e9,
        .mostly = most,
        .tid = followed->target->tid,
        .part = followed->part,
        .is_own = is_own(account, followed),
    };
    for (int part = 0; part < PT_PART__COUNT; part++)
        row.parts[part] = reasons[part] ? pt_unknown(reasons[part]) : pt_real(ns[part] / 1e9);
    pt_table_add(table, &row);
    followed->is_shown = true;
}

/* ---- all of them ---- */

static int by_total(const void *a, const void *b)
{
    const struct pt_account_followed *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    if (x->target->process->index != y->target->process->index)
        return x->target->process->index < y->target->process->index ? -1 : 1;
    if (x->target->index != y->target->index)
        return x->target->index < y->target->index ? -1 : 1;
    return x->step != y->step ? (x->step < y->step ? -1 : 1) : (int)x->part - (int)y->part;
}

/* Each wait is followed by those of its blocker. */
static void add_rows(struct pt_account *account, struct pt_table *table, pt_u32 stage, pt_u32 step,
                     const struct pt_thread *waiter)
{
    for (size_t i = 0; i < account->followed.n; i++) {
        struct pt_account_followed *followed = &account->followed.items[i];
        if (followed->is_shown || followed->stage != stage || followed->step != step ||
            (waiter && followed->waiter != waiter))
            continue;
        add_row(account, table, followed);
        add_rows(account, table, stage, step + 1, followed->target);
    }
}

static struct pt_table *new_table(struct pt_profile *profile, pt_u32 stage)
{
    struct pt_table *table = pt_metrics_add_table(&profile->metrics, pt_scope_stage(stage), &by_wait);
    pt_table_drop_column(table, pt_time_parts[PT_PART_heap].key); /* the heap has no times */
    return table;
}

void pt_account_set_followed(struct pt_account *account, pt_u32 stage)
{
    bool is_any = false;
    if (account->followed.n)
        qsort(account->followed.items, account->followed.n, sizeof *account->followed.items, by_total);
    for (size_t i = 0; i < account->followed.n; i++)
        is_any |= account->followed.items[i].stage == stage;
    if (is_any)
        add_rows(account, new_table(account->profile, stage), stage, 1, NULL);
}
