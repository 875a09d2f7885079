/* SPDX-License-Identifier: MIT
 *
 * Following waits into the thread that was waited for: one that feeds a pipe or answers on a socket, a child, one that
 * is joined or holds a lock; and on into whom that one waited for meanwhile.
 *
 * Threads: one. State: the last spans of each thread, in a ring; waits of the last moments. Never: looks further back
 * than the ring does, goes in a circle.
 */
#include "follow.h"

#include <math.h>
#include <stdlib.h>

#include "proftrace/payloads.h"
/* The one that was waited for may come back from its call later than the one that waited, and a call is known when it
 * is over. */
#define DUE_NS 20000000
#define LATE_NS 1000000000
#define LONG_LOCK_NS 1000000
#define LEAST_FOLLOWED_NS 100000 /* at the second step and behind it */

/* ---- spans ---- */

enum { NEXT_LINE = 2 }; /* with a hundred threads the CPU does not guess it */

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
    while (inner < n_kept(thread)) {
        const struct span *one = nth_last(thread, inner);
        if (one->start_ns < span->start_ns || one->end_ns > span->end_ns)
            break;
        own_ns -= one->end_ns - one->start_ns;
        inner += 1 + (pt_u64)one->n_inner; /* what is in it was taken off with it, and is not looked at ever again */
    }
    struct span *kept = &thread->last[thread->n_spans++ % PT_ACCOUNT_LAST_SPANS];
    *kept = *span;
    kept->n_inner = (pt_u32)(inner < PT_ACCOUNT_LAST_SPANS ? inner : PT_ACCOUNT_LAST_SPANS);
    __builtin_prefetch(&thread->last[(thread->n_spans + NEXT_LINE) % PT_ACCOUNT_LAST_SPANS], 1);
    return own_ns > 0 ? own_ns : 0;
}

/* ---- who was waited for ---- */

/* The thread that ends a wait for a lock, where the call tells it. */
static const struct pt_thread *thread_waited_for(const struct account *account, const struct pt_event *event)
{
    switch (event->desc->row) {
    case PT_ROW_wait_thread:
        return pt_thread_joined(&account->facts->ids, event);
    case PT_ROW_lock_mutex:
        return pt_thread_of_tid(&account->facts->ids, event->process, pt_event_as(event, lock_mutex)->owner_tid,
                                event->start_ns);
    case PT_ROW_lock_rwlock:
        return pt_thread_of_tid(&account->facts->ids, event->process, pt_event_as(event, lock_rwlock)->owner_tid,
                                event->start_ns);
    default:
        return NULL;
    }
}

static void set(struct span *span, enum account_whom whom, pt_u32 number)
{
    span->whom = (pt_u8)whom;
    span->number = number;
}

void pt_account_set_whom(const struct account *account, const struct pt_event *event, struct span *span)
{
    const pt_u32 channel = account->facts->call.channel;
    const bool writes = event->desc->row == PT_ROW_io_write || event->desc->row == PT_ROW_io_writev ||
                        event->desc->row == PT_ROW_net_send;
    if (span->part == PT_PART_lock) {
        const struct pt_thread *thread = thread_waited_for(account, event);
        if (thread)
            set(span, WHOM_THREAD, pt_account_number(account, thread));
    } else if (event->desc->row == PT_ROW_wait_child && event->result > 0) {
        const struct pt_process *child = pt_process_of_pid(&account->facts->ids, event->result, span->end_ns);
        set(span, WHOM_PROCESS, child ? child->index + 1 : 0);
    } else if (channel) {
        set(span, writes ? WHOM_READER : WHOM_WRITER, channel);
    }
}

static const struct pt_thread *target_of(const struct account *account, const struct pt_thread *waiter,
                                         const struct span *wait)
{
    switch ((enum account_whom)wait->whom) {
    case WHOM_THREAD:
        return pt_thread_of_number(&account->facts->ids, wait->number);
    case WHOM_PROCESS:
        return wait->number ? pt_main_thread(account->profile->session->processes[wait->number - 1]) : NULL;
    case WHOM_WRITER:
    case WHOM_READER:
        return pt_channels_other_thread(&account->facts->channels, waiter, wait->number, wait->whom == WHOM_WRITER,
                                        wait->end_ns);
    case WHOM_NOBODY:
        break;
    }
    return NULL;
}

/* ---- what it did meanwhile ---- */

struct chain {
    struct account *account;
    pt_u32 stage, n;
    const struct pt_thread *threads[PT_ACCOUNT_MOST_STEPS + 1]; /* the first waits for the second ... */
};

static void follow_into(struct chain *chain, const struct span *wait, const struct pt_thread *target);

static pt_u64 mixed(pt_u64 hash, pt_u64 value)
{
    return (hash ^ value) * 0x9e3779b97f4a7c15ull;
}

/* Index in followed, plus 1; 0 = there are too many. */
static size_t followed_at(const struct chain *chain, const struct pt_thread *target, enum pt_time_part part)
{
    struct account *account = chain->account;
    const struct pt_thread *waiter = chain->threads[chain->n - 1];
    pt_u64 key = mixed(mixed(chain->stage, chain->n), (pt_u64)part + 1);
    key = mixed(mixed(key, pt_account_number(account, waiter)), pt_account_number(account, target)) | 1;
    const pt_u64 *found = pt_map_find(&account->by_target, key);
    if (found)
        return (size_t)*found;
    if (account->followed.n >= PT_ACCOUNT_MOST_FOLLOWED)
        return 0;
    pt_vec_push(
        &account->followed,
        ((struct followed){.stage = chain->stage, .step = chain->n, .waiter = waiter, .target = target, .part = part}));
    *pt_map_at(&account->by_target, key) = account->followed.n;
    return account->followed.n;
}

/* Between its calls it computed, waited for a CPU or a page, or nobody knows. */
static void add_gap(const struct chain *chain, const struct pt_thread *target, struct followed *followed,
                    pt_i64 start_ns, pt_i64 end_ns)
{
    const struct account *account = chain->account;
    const pt_u32 stage = pt_profile_stage_of(account->profile, target->process);
    const pt_u32 number = pt_facts_cpu_thread(account->facts, target);
    followed->gap_ns += (double)(end_ns - start_ns);
    if (!number)
        return;
    const struct pt_cpu_view *view = &account->facts->views[stage];
    const struct pt_cpu_between between =
        pt_cpu_between(pt_facts_cpu(account->facts, stage), view, number, start_ns, end_ns);
    const double sample_ns = view->sample_s[number] * 1e9;
    followed->ns[PT_PART_runnable] += between.preempted_ns;
    followed->ns[PT_PART_page_fault] += between.fault_ns;
    followed->gap_ns -= between.preempted_ns + between.fault_ns;
    followed->python_ns += between.python * sample_ns;
    followed->native_ns += between.native * sample_ns;
}

static void add_call(struct chain *chain, const struct pt_thread *target, size_t index, const struct span *piece)
{
    struct account *account = chain->account;
    const pt_u32 stage = pt_profile_stage_of(account->profile, target->process);
    const pt_u32 number = pt_facts_cpu_thread(account->facts, target);
    struct pt_cpu_between between = {0};
    if (number)
        between = pt_cpu_between(pt_facts_cpu(account->facts, stage), &account->facts->views[stage], number,
                                 piece->start_ns, piece->end_ns);
    struct followed *followed = &account->followed.items[index - 1];
    followed->ns[PT_PART_runnable] += between.preempted_ns;
    followed->ns[piece->part] += (double)(piece->end_ns - piece->start_ns) - between.preempted_ns;
    if (chain->n > PT_ACCOUNT_MOST_STEPS || piece->end_ns - piece->start_ns < LEAST_FOLLOWED_NS)
        return;
    const struct pt_thread *next = target_of(account, target, piece);
    if (next)
        follow_into(chain, piece, next);
}

/* Spans are in the order of their ends; an inner one comes before the one around it and is counted there. */
static void split_meanwhile(struct chain *chain, const struct pt_thread *target, size_t index, pt_i64 start_ns,
                            pt_i64 end_ns)
{
    struct account *account = chain->account;
    const struct account_thread *thread = &account->threads[pt_account_number(account, target)];
    pt_i64 outer_start_ns = INT64_MAX, at_ns = end_ns;
    pt_u64 i = 0;
    for (; i < n_kept(thread); i++) {
        struct span piece = *nth_last(thread, i);
        if (piece.end_ns <= start_ns)
            break;
        if (piece.start_ns >= outer_start_ns)
            continue;
        outer_start_ns = piece.start_ns;
        piece.start_ns = piece.start_ns > start_ns ? piece.start_ns : start_ns;
        piece.end_ns = piece.end_ns < at_ns ? piece.end_ns : at_ns;
        if (piece.start_ns >= piece.end_ns)
            continue;
        if (at_ns > piece.end_ns)
            add_gap(chain, target, &account->followed.items[index - 1], piece.end_ns, at_ns);
        at_ns = piece.start_ns;
        add_call(chain, target, index, &piece);
    }
    if (at_ns > start_ns && i == n_kept(thread) && thread->n_spans > i)
        account->followed.items[index - 1].ns[PT_PART_unattributed] += (double)(at_ns - start_ns);
    else if (at_ns > start_ns)
        add_gap(chain, target, &account->followed.items[index - 1], start_ns, at_ns);
}

static void follow_into(struct chain *chain, const struct span *wait, const struct pt_thread *target)
{
    const struct pt_process *process = target->process;
    const struct account_life life = pt_account_life(chain->account, target);
    const bool is_main = target == pt_main_thread(process);
    const pt_i64 born_ns = is_main || !life.is_exact ? process->start_ns : life.start_ns;
    const pt_i64 start_ns = wait->start_ns > born_ns ? wait->start_ns : born_ns;
    const pt_i64 end_ns = wait->end_ns < process->end_ns ? wait->end_ns : process->end_ns;
    for (pt_u32 i = 0; i < chain->n; i++)
        if (chain->threads[i] == target)
            return; /* it waited for one of those that wait for it */
    if (end_ns <= start_ns)
        return;
    const size_t index = followed_at(chain, target, (enum pt_time_part)wait->part);
    if (!index)
        return;
    chain->account->followed.items[index - 1].total_ns += (double)(end_ns - start_ns);
    chain->account->followed.items[index - 1].waits++;
    chain->threads[chain->n++] = target;
    split_meanwhile(chain, target, index, start_ns, end_ns);
    chain->n--;
}

/* A condition says nothing about why: a pool's main thread waits for a future that a helper thread completes when a
 * worker process has sent its result. What the worker processes did meanwhile is the closest there is. */
static void follow_into_children(struct chain *chain, const struct span *wait)
{
    const struct pt_session *session = chain->account->profile->session;
    const struct pt_process *parent = chain->threads[0]->process;
    pt_u32 followed = 0;
    for (pt_u32 i = parent->index + 1; i < session->n_processes && followed < PT_ACCOUNT_MOST_CHILDREN; i++) {
        const struct pt_process *child = session->processes[i];
        const struct pt_thread *thread = pt_main_thread(child);
        if (child->parent != parent || child->pid == parent->pid || !thread)
            continue;
        follow_into(chain, wait, thread);
        followed++;
    }
}

/* False = nobody knows yet whom it was for. */
static bool follow(struct account *account, const struct account_wait *wait)
{
    struct chain chain = {account, pt_profile_stage_of(account->profile, wait->thread->process), 1, {wait->thread}};
    const struct pt_thread *target = target_of(account, wait->thread, &wait->span);
    if (target)
        follow_into(&chain, &wait->span, target);
    else if (wait->span.part == PT_PART_lock)
        follow_into_children(&chain, &wait->span);
    return target || wait->span.whom < WHOM_WRITER;
}

/* ---- a moment later ---- */

static pt_i64 length(const struct account_wait *wait)
{
    return wait->thread ? wait->span.end_ns - wait->span.start_ns : 0;
}

static void follow_first(struct account *account)
{
    const struct account_wait *wait = &account->waiting[account->n_followed++ % PT_ACCOUNT_WAITING];
    if (!follow(account, wait) && length(wait) > length(&account->late))
        account->late = *wait;
}

/* The write that woke the reader may come later still. */
static void follow_late(struct account *account, pt_i64 now_ns)
{
    if (follow(account, &account->late) || now_ns - account->late.span.end_ns > LATE_NS)
        account->late.thread = NULL;
}

void pt_account_follow_due(struct account *account, pt_i64 now_ns)
{
    while (account->n_followed < account->n_waiting &&
           account->waiting[account->n_followed % PT_ACCOUNT_WAITING].span.end_ns + DUE_NS <= now_ns)
        follow_first(account);
    if (account->late.thread)
        follow_late(account, now_ns);
}

void pt_account_follow_all(struct account *account)
{
    while (account->n_followed < account->n_waiting)
        follow_first(account);
    if (account->late.thread)
        follow_late(account, account->late.span.end_ns);
}

void pt_account_follow(struct account *account, const struct pt_thread *thread, const struct span *span)
{
    const bool is_lock = span->part == PT_PART_lock && span->end_ns - span->start_ns >= LONG_LOCK_NS;
    const bool is_other =
        span->part == PT_PART_data_wait || span->part == PT_PART_network || span->part == PT_PART_child_wait;
    if ((!is_other || span->whom == WHOM_NOBODY) && !is_lock)
        return;
    if (account->n_waiting - account->n_followed == PT_ACCOUNT_WAITING)
        follow_first(account);
    account->waiting[account->n_waiting++ % PT_ACCOUNT_WAITING] = (struct account_wait){thread, *span};
}

void pt_account_follow_fini(struct account *account)
{
    free(account->followed.items);
    pt_map_fini(&account->by_target);
}
