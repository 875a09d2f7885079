/* SPDX-License-Identifier: MIT
 *
 * Following waits into the thread that was waited for: of a DataLoader worker that feeds a pipe, of a child, one that
 * is joined or holds a lock.
 *
 * Threads: one. State: the last spans of each main thread, in a ring. Never: looks further back than the ring does;
 * what it no longer holds counts as not recorded.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"

/* ---- spans ---- */

static const struct span *nth_last(const struct account_thread *thread, pt_u64 n)
{
    return &thread->last[(thread->n_spans - 1 - n) % PT_ACCOUNT_LAST_SPANS];
}

static pt_u64 n_kept(const struct account_thread *thread)
{
    return !thread->last ? 0 : thread->n_spans < PT_ACCOUNT_LAST_SPANS ? thread->n_spans : PT_ACCOUNT_LAST_SPANS;
}

pt_i64 pt_account_keep_span(struct account *account, struct account_thread *thread, const struct span *span)
{
    if (!thread->last && account->n_kept < PT_ACCOUNT_MOST_THREADS) {
        thread->last = pt_calloc(PT_ACCOUNT_LAST_SPANS, sizeof *thread->last);
        account->n_kept++;
    }
    if (!thread->last)
        return span->end_ns - span->start_ns;
    pt_i64 own_ns = span->end_ns - span->start_ns;
    pt_u64 inner = 0;
    for (; inner < n_kept(thread) && nth_last(thread, inner)->start_ns >= span->start_ns &&
           nth_last(thread, inner)->end_ns <= span->end_ns;
         inner++)
        own_ns -= nth_last(thread, inner)->end_ns - nth_last(thread, inner)->start_ns;
    thread->last[thread->n_spans++ % PT_ACCOUNT_LAST_SPANS] = *span;
    return own_ns > 0 ? own_ns : 0;
}

/* ---- who was waited for ---- */

static pt_u32 process_of_pid(const struct account *account, pt_u32 pid, pt_i64 at_ns)
{
    const struct pt_session *session = account->profile->session;
    for (pt_u32 i = session->n_processes; i-- > 0;)
        if (session->processes[i]->pid == pid && session->processes[i]->start_ns <= at_ns)
            return i + 1;
    return 0;
}

static pt_u32 target_of(const struct account *account, const struct pt_event *event, enum pt_time_part part,
                        const char *path)
{
    if (event->desc->row == PT_ROW_wait_child && event->result > 0)
        return process_of_pid(account, (pt_u32)event->result, pt_event_end_ns(event));
    if (part != PT_PART_data_wait)
        return 0;
    const bool writes = event->desc->row == PT_ROW_io_write || event->desc->row == PT_ROW_io_writev ||
                        event->desc->row == PT_ROW_net_send;
    return pt_peers_other(&account->peers, event->process, path, !writes);
}

enum pt_time_part pt_account_part(const struct account *account, const struct pt_event *event, const char **ret_path)
{
    const enum pt_time_part part = pt_time_part_of_event(event, ret_path);
    (void)account;
    return part;
}

/* ---- what it did meanwhile ---- */

static pt_u32 number_of(const struct account *account, const struct pt_thread *thread)
{
    return account->first_thread[thread->process->index] + thread->index;
}

static struct followed *followed_at(struct account *account, pt_u32 stage, const struct pt_thread *target,
                                    enum pt_time_part part)
{
    const pt_u64 key = (pt_u64)stage << 40 | (pt_u64)number_of(account, target) << 8 | part;
    pt_u64 *slot = pt_map_at(&account->by_target, key);
    if (!*slot) {
        pt_vec_push(&account->followed, ((struct followed){.stage = stage, .target = target, .part = part}));
        *slot = account->followed.n;
    }
    return &account->followed.items[*slot - 1];
}

static pt_i64 overlap(const struct span *span, pt_i64 start_ns, pt_i64 end_ns)
{
    const pt_i64 from = span->start_ns > start_ns ? span->start_ns : start_ns;
    const pt_i64 to = span->end_ns < end_ns ? span->end_ns : end_ns;
    return to > from ? to - from : 0;
}

/* Spans are in the order of their ends; an inner one comes before the one around it and is counted there. */
static void split_meanwhile(const struct account_thread *thread, pt_i64 start_ns, pt_i64 end_ns, double ns[])
{
    pt_i64 outer_start_ns = INT64_MAX;
    double rest_ns = (double)(end_ns - start_ns);
    for (pt_u64 i = 0; i < n_kept(thread); i++) {
        const struct span *span = nth_last(thread, i);
        if (span->end_ns <= start_ns)
            break;
        if (span->start_ns >= outer_start_ns)
            continue;
        const double part_ns = (double)overlap(span, start_ns, end_ns);
        outer_start_ns = span->start_ns;
        ns[span->part] += part_ns;
        rest_ns -= part_ns;
    }
    ns[PT_PART_unattributed] += rest_ns > 0 ? rest_ns : 0;
}

static void follow_into(struct account *account, const struct pt_event *event, enum pt_time_part part,
                        const struct pt_thread *target)
{
    const struct pt_process *process = target->process;
    const pt_i64 start_ns = event->start_ns > process->start_ns ? event->start_ns : process->start_ns;
    const pt_i64 end_ns = pt_event_end_ns(event) < process->end_ns ? pt_event_end_ns(event) : process->end_ns;
    if (end_ns <= start_ns)
        return;
    struct followed *followed =
        followed_at(account, pt_profile_stage_of(account->profile, event->process), target, part);
    split_meanwhile(&account->threads[number_of(account, target)], start_ns, end_ns, followed->ns);
    followed->total_ns += (double)(end_ns - start_ns);
    followed->waits++;
}

static void follow_into_process(struct account *account, const struct pt_event *event, enum pt_time_part part,
                                const struct pt_process *process)
{
    const struct pt_thread *main_thread = pt_account_main_thread(process);
    if (main_thread)
        follow_into(account, event, part, main_thread);
}

static const struct pt_thread *thread_of_tid(const struct pt_process *process, pt_u32 tid)
{
    for (pt_u32 i = process->n_threads; tid && i-- > 0;)
        if (process->threads[i].tid == tid)
            return &process->threads[i];
    return NULL;
}

/* The thread that ends a wait for a lock, where the call tells it. */
static const struct pt_thread *thread_waited_for(const struct account *account, const struct pt_event *event)
{
    switch (event->desc->row) {
    case PT_ROW_wait_thread:
        return pt_joins_target(&account->joins, event);
    case PT_ROW_lock_mutex:
        return thread_of_tid(event->process, pt_event_as(event, lock_mutex)->owner_tid);
    case PT_ROW_lock_rwlock:
        return thread_of_tid(event->process, pt_event_as(event, lock_rwlock)->owner_tid);
    default:
        return NULL;
    }
}

/* A condition says nothing about why: a pool's main thread waits for a future that a helper thread completes when a
 * worker process has sent its result. What the worker processes did meanwhile is the closest there is. */
static void follow_lock(struct account *account, const struct pt_event *event)
{
    const struct pt_session *session = account->profile->session;
    const struct pt_thread *thread = thread_waited_for(account, event);
    pt_u32 followed = 0;
    if (thread) {
        follow_into(account, event, PT_PART_lock, thread);
        return;
    }
    for (pt_u32 i = event->process->index + 1; i < session->n_processes && followed < PT_ACCOUNT_MOST_CHILDREN; i++) {
        if (session->processes[i]->parent != event->process || session->processes[i]->pid == event->process->pid)
            continue;
        follow_into_process(account, event, PT_PART_lock, session->processes[i]);
        followed++;
    }
}

void pt_account_follow(struct account *account, const struct pt_event *event, enum pt_time_part part, const char *path)
{
    if (part == PT_PART_lock && event->duration_ns >= PT_ACCOUNT_LONG_LOCK_NS) {
        follow_lock(account, event);
        return;
    }
    const pt_u32 target = target_of(account, event, part, path);
    if (target && event->duration_ns > 0)
        follow_into_process(account, event, part, account->profile->session->processes[target - 1]);
    else if (part == PT_PART_data_wait && (!account->late.path || event->duration_ns > account->late.event.duration_ns))
        account->late = (struct account_late){*event, path};
}

/* The reader may be done before the write that woke it: then the writer is known a moment later. */
void pt_account_follow_late(struct account *account, pt_i64 now_ns)
{
    struct account_late *late = &account->late;
    const pt_u32 target = target_of(account, &late->event, PT_PART_data_wait, late->path);
    if (target)
        follow_into_process(account, &late->event, PT_PART_data_wait, account->profile->session->processes[target - 1]);
    if (target || now_ns - pt_event_end_ns(&late->event) > PT_ACCOUNT_LATE_NS)
        late->path = NULL;
}

/* ---- results ---- */

static int by_total(const void *a, const void *b)
{
    const struct followed *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    if (x->target->process->index != y->target->process->index)
        return x->target->process->index < y->target->process->index ? -1 : 1;
    return (x->target->index > y->target->index) - (x->target->index < y->target->index);
}

/* The part with the most, as people say it. */
static const char *mostly(struct pt_profile *profile, const struct followed *followed)
{
    int most = 0;
    for (int part = 1; part < PT_PART__COUNT; part++)
        if (followed->ns[part] > followed->ns[most])
            most = part;
    const double percent = followed->total_ns > 0 ? 100 * followed->ns[most] / followed->total_ns : 0;
    const char *what = most == PT_PART_unattributed ? "computing, or not recorded" : pt_time_parts[most].label;
    return pt_metrics_format(&profile->metrics, "%s %.0f %%", what, percent);
}

static void add_row(struct pt_profile *profile, struct pt_table *table, const struct followed *followed)
{
    const struct pt_process *target = followed->target->process;
    const bool is_main = followed->target == pt_account_main_thread(target);
    struct pt_value *row = pt_table_add_row(table);
    row[0] = pt_text(pt_time_parts[followed->part].label);
    row[1] = pt_text(!is_main       ? pt_thread_label(profile, followed->stage, followed->target)
                     : target->comm ? target->comm
                                    : pt_base_name(target->exe));
    row[2] = pt_integer(target->pid);
    row[3] = pt_integer(followed->waits);
    row[4] = pt_real(followed->total_ns / 1e9);
    row[5] = pt_text(mostly(profile, followed));
    row[6] = pt_real(
        (followed->ns[PT_PART_file_read] + followed->ns[PT_PART_file_write] + followed->ns[PT_PART_file_meta]) / 1e9);
    row[7] = pt_real(followed->ns[PT_PART_network] / 1e9);
    row[8] = pt_real((followed->ns[PT_PART_lock] + followed->ns[PT_PART_gil_wait]) / 1e9);
    row[9] = pt_real(followed->ns[PT_PART_sleep] / 1e9);
    row[10] = pt_real(
        (followed->ns[PT_PART_data_wait] + followed->ns[PT_PART_idle] + followed->ns[PT_PART_child_wait]) / 1e9);
    row[11] = pt_real((followed->ns[PT_PART_unattributed] + followed->ns[PT_PART_native]) / 1e9);
}

void pt_account_set_followed(struct account *account, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"wait", "Wait", PT_SHOW_TEXT},
        {"waited_for", "Waited for", PT_SHOW_TEXT},
        {"pid", "PID", PT_SHOW_NUMBER},
        {"waits", "Waits", PT_SHOW_COUNT},
        {"total_s", "Total", PT_SHOW_SECONDS},
        {"mostly", "Which meanwhile was", PT_SHOW_TEXT},
        {"file_s", "Files", PT_SHOW_SECONDS},
        {"network_s", "Network", PT_SHOW_SECONDS},
        {"lock_s", "Locks", PT_SHOW_SECONDS},
        {"sleep_s", "Sleep", PT_SHOW_SECONDS},
        {"wait_s", "Other waits", PT_SHOW_SECONDS},
        {"compute_s", "Computing", PT_SHOW_SECONDS},
    };
    struct pt_profile *profile = account->profile;
    struct pt_table *table = NULL;
    if (account->followed.n)
        qsort(account->followed.items, account->followed.n, sizeof *account->followed.items, by_total);
    for (size_t i = 0; i < account->followed.n; i++) {
        if (account->followed.items[i].stage != stage)
            continue;
        if (!table)
            table =
                pt_metrics_table(&profile->metrics, pt_scope_stage(stage), "waits",
                                 "Waits for other processes and threads", columns, sizeof columns / sizeof *columns);
        add_row(profile, table, &account->followed.items[i]);
    }
}

void pt_account_follow_fini(struct account *account)
{
    free(account->followed.items);
    pt_map_fini(&account->by_target);
}
