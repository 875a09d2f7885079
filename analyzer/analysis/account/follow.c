/* SPDX-License-Identifier: MIT
 *
 * Sums of what blockers did while a critical thread waited for them, and of what their blockers did while those waited.
 *
 * Threads: one. State: waits that are about to be followed, sums by waiter and blocker (both bounded). Never: follows a
 * wait before the blocker's call may have returned.
 */
#include "follow.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "facts/blockers.h"
#include "facts/workers.h"

/* The blocker's call may return later than that of the waiter, and a call is known only when it has returned. */
#define DUE_NS 20000000
#define LATE_NS 1000000000
#define LONG_LOCK_NS 1000000

struct wait_chain {
    struct pt_chain chain; /* first */
    struct pt_account *account;
    const struct pt_account_wait *of;
    pt_u32 stage;
    size_t rows[PT_MOST_STEPS + 2]; /* by the length of the chain: index in followed */
};

static pt_u64 mixed(pt_u64 hash, pt_u64 value)
{
    return (hash ^ value) * 0x9e3779b97f4a7c15ull;
}

/* Index in followed, plus 1; 0 = there are too many. */
static size_t followed_at(const struct wait_chain *wait, const struct pt_thread *target, enum pt_time_part part)
{
    struct pt_account *account = wait->account;
    const pt_u32 step = wait->chain.n;
    const struct pt_thread *waiter = wait->chain.threads[step - 1];
    pt_u64 key = mixed(mixed(wait->stage, step), (pt_u64)part + 1);
    key = mixed(mixed(key, pt_account_number(account, waiter)), pt_account_number(account, target)) | 1;
    const pt_u64 *found = pt_map_find(&account->by_target, key);
    if (found)
        return (size_t)*found;
    if (account->followed.n >= PT_ACCOUNT_MOST_FOLLOWED)
        return 0;
    pt_vec_push(&account->followed,
                ((struct pt_account_followed){
                    .stage = wait->stage, .step = step, .waiter = waiter, .target = target, .part = part}));
    *pt_map_at(&account->by_target, key) = account->followed.n;
    return account->followed.n;
}

static bool enter(struct pt_chain *chain, const struct pt_piece *piece, const struct pt_thread *target)
{
    struct wait_chain *wait = (struct wait_chain *)chain;
    const size_t index = followed_at(wait, target, (enum pt_time_part)piece->span->part);
    if (!index)
        return false;
    wait->account->followed.items[index - 1].total_ns += (double)(piece->end_ns - piece->start_ns);
    wait->account->followed.items[index - 1].waits++;
    wait->rows[chain->n + 1] = index - 1;
    return true;
}

/* ---- workers ---- */

/* Not: waits for times, for each other, and for what nobody knows. */
static bool is_work(enum pt_time_part part)
{
    return part != PT_PART_sleep && part != PT_PART_idle && part != PT_PART_lock && part != PT_PART_data_wait &&
           part != PT_PART_child_wait;
}

/* Where the time counts as waiting for workers; NULL = it does not. */
static struct pt_account_working *working_at(const struct wait_chain *wait, const struct pt_thread *target)
{
    const struct pt_account_wait *of = wait->of;
    struct pt_account_thread *waiter = &wait->account->threads[pt_account_number(wait->account, of->thread)];
    const bool is_copy = pt_is_worker(target->process) && pt_maker_of(target->process) == of->thread->process;
    if (of->span.part == PT_PART_child_wait)
        return is_copy ? &waiter->for_children : NULL;
    const bool is_own = is_copy || target->process == of->thread->process;
    if (of->span.part != PT_PART_lock || !of->is_for_result || !is_own)
        return NULL;
    return of->is_for_helper ? &waiter->for_helpers : &waiter->for_threads;
}

/* The last one of the chain does not wait for others. */
static void add_work(const struct wait_chain *wait, const struct pt_thread *thread, const struct pt_span *span,
                     double called_ns, double gap_ns, double sampled_ns)
{
    struct pt_account_working *working = working_at(wait, thread);
    if (!working)
        return;
    working->known_ns += !span || is_work((enum pt_time_part)span->part) ? called_ns : 0;
    working->gap_ns += gap_ns;
    working->sampled_ns += sampled_ns;
}

/* Between its calls it computed, waited for a CPU or a page, or it is unknown. */
static void show(struct pt_chain *chain, const struct pt_piece *piece, const struct pt_thread *into)
{
    struct wait_chain *wait = (struct wait_chain *)chain;
    const struct pt_account *account = wait->account;
    struct pt_account_followed *followed = &account->followed.items[wait->rows[chain->n]];
    const struct pt_thread *thread = chain->threads[chain->n - 1];
    const pt_u32 stage = pt_profile_stage_of(account->profile, thread->process);
    const pt_u32 number = pt_facts_cpu_thread(account->facts, thread);
    const struct pt_cpu_view *view = &account->facts->views[stage];
    const double ns = (double)(piece->end_ns - piece->start_ns);
    const struct pt_span *span = piece->span && piece->span->part < PT_PART__COUNT ? piece->span : NULL;
    struct pt_cpu_between between = {0};
    if (piece->is_forgotten) {
        followed->ns[PT_PART_unattributed] += ns;
        return;
    }
    if (number)
        between = pt_cpu_between(pt_facts_cpu(account->facts, stage), view, number, piece->start_ns, piece->end_ns);
    followed->ns[PT_PART_runnable] += between.preempted_ns;
    const double called_ns = span ? piece->called_ns : 0;
    if (span)
        followed->ns[span->part] += called_ns - between.preempted_ns;
    else
        followed->ns[PT_PART_page_fault] += between.fault_ns;
    const double queued_ns = span ? 0 : between.preempted_ns + between.fault_ns;
    followed->gap_ns += ns - called_ns - queued_ns;
    if (called_ns < ns && number) {
        followed->python_ns += between.python * view->sample_s[number] * 1e9;
        followed->native_ns += between.native * view->sample_s[number] * 1e9;
    }
    if (!into && number)
        add_work(wait, thread, span, called_ns + queued_ns, ns - called_ns - queued_ns,
                 (between.python + between.native) * view->sample_s[number] * 1e9);
}

/* False = its blocker is not known yet. */
static bool follow(struct pt_account *account, const struct pt_account_wait *wait)
{
    const struct pt_piece piece = {.span = &wait->span, .start_ns = wait->span.start_ns, .end_ns = wait->span.end_ns};
    struct wait_chain chain = {.chain = {.facts = account->facts, .show = show, .enter = enter},
                               .account = account,
                               .of = wait,
                               .stage = pt_profile_stage_of(account->profile, wait->thread->process)};
    return pt_chain_follow(&chain.chain, wait->thread, &wait->span) || !pt_blocker_may_come(&wait->span) ||
           pt_blocker_of(account->facts, wait->thread, &piece);
}

/* ---- later ---- */

static pt_i64 length(const struct pt_account_wait *wait)
{
    return wait->thread ? wait->span.end_ns - wait->span.start_ns : 0;
}

/* Often nobody in sight writes to it: a driver does, or who has it from a fork. */
static bool is_for_eventfd(const struct pt_account_wait *wait)
{
    const char *path = pt_process_string(wait->thread->process, wait->span.subject);
    return pt_blocker_may_come(&wait->span) && path && !strcmp(path, "anon_inode:[eventfd]");
}

static void follow_first(struct pt_account *account)
{
    const struct pt_account_wait *wait = &account->waiting[account->n_followed++ % PT_ACCOUNT_WAITING];
    if (follow(account, wait))
        return;
    struct pt_account_wait *place = &account->unresolved[is_for_eventfd(wait)];
    if (length(wait) > length(place))
        *place = *wait;
}

/* The write that woke the reader may come later still. */
static void follow_unresolved(struct pt_account *account, struct pt_account_wait *wait, pt_i64 now_ns)
{
    if (follow(account, wait) || now_ns - wait->span.end_ns > LATE_NS)
        wait->thread = NULL;
}

/* Only traffic on a channel tells who was on the other side of the wait: is the current call some? */
static bool may_resolve(const struct pt_account *account, const struct pt_account_wait *wait, pt_i64 now_ns)
{
    return wait->thread && (pt_blocker_may_come(&account->facts->call.span) || now_ns - wait->span.end_ns > LATE_NS);
}

void pt_account_follow_due(struct pt_account *account, pt_i64 now_ns)
{
    while (account->n_followed < account->n_waiting &&
           account->waiting[account->n_followed % PT_ACCOUNT_WAITING].span.end_ns + DUE_NS <= now_ns)
        follow_first(account);
    for (int i = 0; i < 2; i++)
        if (may_resolve(account, &account->unresolved[i], now_ns))
            follow_unresolved(account, &account->unresolved[i], now_ns);
}

void pt_account_follow_all(struct pt_account *account)
{
    while (account->n_followed < account->n_waiting)
        follow_first(account);
    for (int i = 0; i < 2; i++)
        if (account->unresolved[i].thread)
            follow_unresolved(account, &account->unresolved[i], account->unresolved[i].span.end_ns);
}

static void add_wait(struct pt_account *account, const struct pt_thread *thread, const struct pt_span *wait,
                     bool is_for_result)
{
    if (account->n_waiting - account->n_followed == PT_ACCOUNT_WAITING)
        follow_first(account);
    const pt_i64 handed_ns = pt_path_helper_ns(account->facts->paths, thread, wait->start_ns, wait->end_ns);
    account->waiting[account->n_waiting++ % PT_ACCOUNT_WAITING] =
        (struct pt_account_wait){thread, *wait, is_for_result, 2 * handed_ns > wait->end_ns - wait->start_ns};
}

void pt_account_follow(struct pt_account *account, const struct pt_thread *thread, const struct pt_span *span)
{
    const bool is_followed =
        span->part == PT_PART_data_wait || span->part == PT_PART_network || span->part == PT_PART_child_wait;
    if (is_followed && span->blocker_kind != PT_BLOCKER_NONE)
        add_wait(account, thread, span, false);
}

/* A join, a condition, a semaphore that those who post it do not take. */
static bool is_for_result(const struct pt_facts *facts, pt_u32 kind, pt_u32 share)
{
    if (kind == PT_KIND_lock_sem)
        return share >= facts->call.n_shares || !facts->call.shares[share].takes_it;
    return kind == PT_KIND_lock_cond || kind == PT_KIND_wait_thread;
}

/* Several may have held a lock, one after the other. */
void pt_account_follow_call(struct pt_account *account, const struct pt_thread *thread, pt_u32 kind)
{
    const struct pt_span *span = &account->facts->call.span;
    struct pt_span waits[PT_LOCK_HANDOFFS + 1];
    if (span->part != PT_PART_lock) {
        pt_account_follow(account, thread, span);
        return;
    }
    if (span->end_ns - span->start_ns < LONG_LOCK_NS)
        return;
    const pt_u32 n = pt_blocker_waits(account->facts, waits);
    for (pt_u32 i = 0; i < n; i++)
        add_wait(account, thread, &waits[i], is_for_result(account->facts, kind, i));
}

void pt_account_follow_fini(struct pt_account *account)
{
    free(account->followed.items);
    pt_map_fini(&account->by_target);
}
