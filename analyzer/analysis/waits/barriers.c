/* SPDX-License-Identifier: MIT
 *
 * Barriers: how long threads waited there for the straggler, which thread that was, and what it did during that time.
 *
 * Threads: one. State: one struct per barrier, at most MAX_BARRIERS; the current round. Never: mixes the waits of two
 * rounds; counts barriers between processes, of which each trace has only its own threads.
 */
#include <math.h>
#include <stdlib.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/state.h"
#include "profile/process_name.h"
#include "lock_holders.h"

enum { MAX_BARRIERS = 1024, MAX_ROWS = 50 };

struct barrier {
    const struct pt_process *process;
    pt_u64 addr;
    pt_u32 stage, number;
    struct {
        pt_u32 n;
        pt_i64 first_ns, last_ns, open_ns;
        double starts_ns; /* sum, since first_ns */
        const struct pt_thread *last;
    } round;
    pt_u64 rounds, threads;    /* threads: of the largest round */
    double waited_ns, cost_ns; /* of all; what equal shares of work would have saved */
    double own_cost_ns;        /* the same, had the last one never queued for a CPU meanwhile */
    pt_i64 longest_ns;
    struct pt_map came_last;           /* thread -> rounds */
    const struct pt_thread *latecomer; /* mostly */
    pt_u64 latecomer_rounds;
};

struct barriers {
    struct pt_profile *profile;
    struct {
        PT_VEC(struct barrier *);
    } all;
    struct pt_map by_key;
    struct pt_lock_holders places;
};

static void begin(void *state, struct pt_profile *profile)
{
    ((struct barriers *)state)->profile = profile;
}

static struct barrier *barrier_at(struct barriers *barriers, const struct pt_event *e)
{
    const pt_u64 addr = pt_event_as(e, lock_barrier)->addr;
    const pt_u64 key = pt_lock_key(e->process, addr, PT_KIND_lock_barrier);
    if (barriers->all.n >= MAX_BARRIERS && !pt_map_find(&barriers->by_key, key))
        return NULL;
    pt_u64 *slot = pt_map_at(&barriers->by_key, key);
    if (!*slot) {
        struct barrier *barrier = pt_calloc(1, sizeof *barrier);
        barrier->process = e->process;
        barrier->addr = addr;
        barrier->stage = pt_profile_stage_of(barriers->profile, e->process);
        pt_vec_push(&barriers->all, barrier);
        *slot = barriers->all.n;
        barrier->number = (pt_u32)*slot;
    }
    return barriers->all.items[*slot - 1];
}

/* Of a thread that is late because something else had its CPU, none other would be the better for its work. */
static double queued_ns(const struct barriers *barriers, pt_u32 stage, const struct pt_lock_share *share)
{
    const struct pt_facts *facts = barriers->profile->facts;
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, stage);
    const pt_u32 thread = cpu->data ? pt_facts_cpu_thread(facts, share->thread) : 0;
    return thread ? pt_cpu_between(cpu, &facts->views[stage], thread, share->from_ns, share->until_ns).preempted_ns : 0;
}

static void came_last(struct barrier *barrier, const struct pt_thread *thread)
{
    const pt_u64 rounds = ++*pt_map_at(&barrier->came_last, thread->index);
    if (rounds <= barrier->latecomer_rounds)
        return;
    barrier->latecomer_rounds = rounds;
    barrier->latecomer = thread;
}

static void end_round(struct barriers *barriers, struct barrier *barrier)
{
    const pt_u32 n = barrier->round.n;
    if (n > 1) {
        const struct pt_lock_share share = {
            .thread = barrier->round.last, .from_ns = barrier->round.first_ns, .until_ns = barrier->round.last_ns};
        const double mean_ns = (double)(share.until_ns - share.from_ns) - barrier->round.starts_ns / n;
        barrier->rounds++;
        barrier->cost_ns += mean_ns;
        barrier->own_cost_ns += fmax(mean_ns - queued_ns(barriers, barrier->stage, &share), 0);
        barrier->waited_ns += mean_ns * n;
        barrier->threads = n > barrier->threads ? n : barrier->threads;
        came_last(barrier, share.thread);
        if (share.until_ns - share.from_ns > barrier->longest_ns)
            barrier->longest_ns = share.until_ns - share.from_ns;
        pt_lock_holders_note(&barriers->places, barriers->profile, barrier->number, &share);
    }
    barrier->round.n = 0;
}

static bool wants(const void *state, pt_u32 kind)
{
    (void)state;
    return kind == PT_KIND_lock_barrier;
}

/* The end of the first wait is when the barrier opened: a thread that came later is in the next round. Which threads
 * have come does not matter: a mark per thread was one for several where there are many, or new ones in each epoch. */
static void event(void *state, const struct pt_event *e)
{
    if (e->result < 0)
        return;
    struct barrier *barrier = barrier_at(state, e);
    if (!barrier)
        return;
    if (barrier->round.n && e->start_ns > barrier->round.open_ns)
        end_round(state, barrier);
    if (!barrier->round.n) {
        barrier->round.open_ns = pt_event_end_ns(e);
        barrier->round.first_ns = barrier->round.last_ns = e->start_ns;
        barrier->round.starts_ns = 0;
        barrier->round.last = e->thread;
    }
    barrier->round.n++;
    if (e->start_ns < barrier->round.first_ns) {
        barrier->round.starts_ns += (double)(barrier->round.first_ns - e->start_ns) * (barrier->round.n - 1);
        barrier->round.first_ns = e->start_ns;
    }
    barrier->round.starts_ns += (double)(e->start_ns - barrier->round.first_ns);
    if (e->start_ns > barrier->round.last_ns) {
        barrier->round.last_ns = e->start_ns;
        barrier->round.last = e->thread;
    }
}

/* ---- results ---- */

static int by_time(const void *a, const void *b)
{
    const struct barrier *x = *(struct barrier *const *)a, *y = *(struct barrier *const *)b;
    if (x->waited_ns != y->waited_ns)
        return x->waited_ns < y->waited_ns ? 1 : -1;
    return x->number < y->number ? -1 : 1;
}

static struct pt_value share_of_last(const struct barrier *barrier)
{
    return pt_real(100 * (double)barrier->latecomer_rounds / (double)barrier->rounds);
}

static struct pt_value last_in(const struct barriers *barriers, const struct barrier *barrier)
{
    struct pt_profile *profile = barriers->profile;
    return pt_facts_cpu(profile->facts, barrier->stage)->data
               ? pt_lock_holders_place(&barriers->places, profile, barrier->stage, barrier->number)
               : pt_unknown(pt_profile_why_no_cpu_profile(profile, barrier->stage));
}

struct barrier_row {
    const char *barrier, *process, *last;
    pt_u32 pid;
    pt_u64 rounds, threads;
    double total_s, longest_s;
    struct pt_value last_percent, last_in, python_place;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct barrier_row, barrier, TEXT, "Barrier"),
    PT_COLUMN(struct barrier_row, process, TEXT, "Process"),
    PT_COLUMN(struct barrier_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct barrier_row, rounds, COUNT, "Rounds"),
    PT_COLUMN(struct barrier_row, threads, COUNT, "Threads"),
    PT_COLUMN(struct barrier_row, total_s, SECONDS, "Time of all"),
    PT_COLUMN(struct barrier_row, last, TEXT, "Came last mostly"),
    PT_COLUMN(struct barrier_row, last_percent, PERCENT, "Of the rounds"),
    PT_COLUMN(struct barrier_row, last_in, TEXT, "Which was in"),
    PT_COLUMN(struct barrier_row, longest_s, SECONDS, "Longest"),
    PT_PYTHON_PLACE_COLUMN(struct barrier_row),
};
static const struct pt_table_kind by_barrier = {PT_VIEW_barriers, .most = MAX_ROWS, PT_COLUMNS(columns)};

static void add_row(const struct barriers *barriers, struct pt_rows *rows, const struct barrier *barrier)
{
    const struct pt_process *process = barrier->process;
    if (!pt_rows_have_room(rows))
        return;
    pt_rows_add(rows, &(struct barrier_row){
                          .barrier = pt_metrics_format(rows->metrics, "0x%llx", (unsigned long long)barrier->addr),
                          .process = pt_process_name(barriers->profile, process),
                          .pid = process->pid,
                          .rounds = barrier->rounds,
                          .threads = barrier->threads,
                          .total_s = barrier->waited_ns / 1e9,
                          .last = pt_thread_label(barriers->profile, barrier->latecomer),
                          .last_percent = share_of_last(barrier),
                          .last_in = last_in(barriers, barrier),
                          .longest_s = (double)barrier->longest_ns / 1e9,
                          .python_place = pt_python_place_of(&barriers->profile->facts->places, barriers->profile,
                                                             PT_PLACE_OF_LOCK, process->index, barrier->addr),
                      });
}

/* Work that is not divided equally queues, too, where others use the CPUs: that goes with it. But where most of the
 * cost is queueing, the work is not to blame for it. */
static double cost_of(const struct barrier *barrier)
{
    return barrier->own_cost_ns >= barrier->cost_ns / 2 ? barrier->cost_ns : barrier->own_cost_ns;
}

static void finish_stage(struct barriers *barriers, pt_u32 stage)
{
    struct pt_metrics *metrics = &barriers->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct barrier *worst = NULL;
    struct pt_rows rows = pt_rows(metrics, scope, &by_barrier);
    rows.without = pt_without_python_place(&barriers->profile->facts->places);
    pt_u64 rounds = 0;
    double waited_ns = 0, cost_ns = 0;
    for (size_t i = 0; i < barriers->all.n; i++) {
        const struct barrier *barrier = barriers->all.items[i];
        if (barrier->stage != stage || !barrier->rounds)
            continue;
        worst = worst ? worst : barrier;
        rounds += barrier->rounds;
        waited_ns += barrier->waited_ns;
        cost_ns += barrier->process == worst->process ? cost_of(barrier) : 0;
        add_row(barriers, &rows, barrier);
    }
    const struct pt_value none = pt_unknown("no barrier was waited at");
    pt_metrics_set(metrics, scope, "barrier.rounds.count", pt_integer(rounds));
    pt_metrics_set(metrics, scope, "barrier.total_s", pt_real(waited_ns / 1e9));
    pt_metrics_set(metrics, scope, "barrier.cost_s", pt_real(cost_ns / 1e9));
    pt_metrics_set(metrics, scope, "barrier.last",
                   worst ? pt_text(pt_thread_label(barriers->profile, worst->latecomer)) : none);
    pt_metrics_set(metrics, scope, "barrier.last_percent", worst ? share_of_last(worst) : none);
    pt_metrics_set(metrics, scope, "barrier.last_in", worst ? last_in(barriers, worst) : none);
}

static void finish(void *state, struct pt_profile *profile)
{
    struct barriers *barriers = state;
    for (size_t i = 0; i < barriers->all.n; i++)
        end_round(barriers, barriers->all.items[i]);
    if (barriers->all.n)
        qsort(barriers->all.items, barriers->all.n, sizeof *barriers->all.items, by_time);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        finish_stage(barriers, stage);
    for (size_t i = 0; i < barriers->all.n; i++) {
        pt_map_fini(&barriers->all.items[i]->came_last);
        free(barriers->all.items[i]);
    }
    free(barriers->all.items);
    pt_map_fini(&barriers->by_key);
    pt_lock_holders_fini(&barriers->places);
}

const struct pt_analysis pt_analysis_barriers = {
    .name = "barriers",
    .summary = "barriers, and which thread came last",
    .categories = PT_CATEGORY_WAIT,
    .state_size = sizeof(struct barriers),
    .begin = begin,
    .wants = wants,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
