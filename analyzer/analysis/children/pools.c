/* SPDX-License-Identifier: MIT
 *
 * Owns: which workers were started together, lived together and were gone before the next ones: a pool that is made
 * anew for each batch; and how long its maker's main thread waited while the second one and later ones started and
 * ended. And those that took the place of another one in their pool (maxtasksperchild), and how long that was empty.
 * Threads: one, after the last event. Never: counts the first pool, which somebody has to start, or those for
 * which nobody waits; or what the workers do between their first and their last piece of work.
 */
#include "pools.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_WAITS = 1 << 16 };
/* A shorter one is no wait; between two waits of a loop that asks again and again. */
#define LEAST_WAIT_NS 1000000
#define CLOSE_NS 100000
/* Of a wait before a pool's first call or behind its last one; and how soon after that a wait is for its end. */
#define MOST_AROUND_NS 500000000
enum { CLOSE_BEHIND = 100 };

void pt_children_pools_wait(struct pt_children_waits *waits, const struct pt_event *event)
{
    struct pt_children_wait *last = waits->n ? &waits->items[waits->n - 1] : NULL;
    const pt_i64 until_ns = pt_event_end_ns(event);
    const bool goes_on = last && last->process == event->process && event->start_ns - last->until_ns <= CLOSE_NS;
    if (goes_on && until_ns > last->until_ns)
        last->until_ns = until_ns;
    else if (!goes_on && event->duration_ns >= LEAST_WAIT_NS && waits->n < MOST_WAITS)
        pt_vec_push(waits, ((struct pt_children_wait){event->process, event->start_ns, until_ns}));
}

/* The maker's own threads, queues and pickles for a pool of two, in CPU time: 2.5 to 3.7 ms, measured. */
#define MAKING_NS 4e6

/* Workers of one maker that lived beside each other. */
struct pool {
    const struct pt_process *maker;
    pt_i64 before_end_ns;                       /* the end of the one before; 0 = this is the first */
    pt_i64 start_ns, ready_ns, sent_ns, end_ns; /* ready: all of them; sent: the last result of any, 0 = none */
    double forks_ns;
    pt_u32 n;
};

struct made {
    pt_u32 pools, workers; /* without the first pool of each maker */
    double start_ns, end_ns;
    pt_u32 replaced;
    double empty_ns; /* places of them, of the time of their pool */
};

static int by_start(const void *a, const void *b)
{
    const struct pt_process *x = *(const struct pt_process *const *)a, *y = *(const struct pt_process *const *)b;
    return x->start_ns != y->start_ns ? (x->start_ns < y->start_ns ? -1 : 1)
                                      : (x->index > y->index) - (x->index < y->index);
}

static pt_i64 later(pt_i64 a_ns, pt_i64 b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* Until when it started. A fork of its maker has what that one has imported: what it imports besides is a part of its
 * work, unless it gives back a result after that. */
static pt_i64 started_ns(const struct pt_children_process *own, const struct pt_process *worker)
{
    const bool is_fork = own->fork_ns > 0 && pt_maker_of(worker) == worker->parent;
    return later(own->results ? own->ready_ns : is_fork ? 0 : own->loaded_ns, worker->start_ns);
}

static void join(const struct pt_children *children, struct pool *pool, const struct pt_process *worker)
{
    const struct pt_children_process *own = &children->processes[worker->index];
    pool->ready_ns = later(pool->ready_ns, started_ns(own, worker));
    pool->sent_ns = later(pool->sent_ns, own->last_sent_ns);
    pool->end_ns = later(pool->end_ns, worker->end_ns);
    pool->forks_ns += own->fork_ns;
    pool->n++;
}

/* A time, and how far a wait that began before it or lasts beyond it is of it. */
struct span {
    pt_i64 from_ns, until_ns, before_ns, behind_ns;
};

/* How long the maker waited for its workers then. */
static double waited_ns(const struct pt_children *children, const struct pt_process *maker, struct span in)
{
    double ns = 0;
    for (size_t i = 0; i < children->pools.n; i++) {
        const struct pt_children_wait *wait = &children->pools.items[i];
        const pt_i64 from_ns = later(wait->from_ns, in.from_ns - in.before_ns);
        const pt_i64 most_ns = in.until_ns + in.behind_ns;
        const pt_i64 until_ns = wait->until_ns < most_ns ? wait->until_ns : most_ns;
        const bool is_in_it = wait->from_ns <= in.until_ns + in.behind_ns / CLOSE_BEHIND && wait->until_ns > in.from_ns;
        ns += wait->process == maker && is_in_it && until_ns > from_ns ? (double)(until_ns - from_ns) : 0;
    }
    return ns;
}

static pt_i64 half_of_gap(pt_i64 from_ns, pt_i64 until_ns)
{
    const pt_i64 half_ns = (until_ns - from_ns) / 2;
    return half_ns < MOST_AROUND_NS ? half_ns : MOST_AROUND_NS;
}

/* A process begins before its first call, and the kernel takes its memory back behind its last one. */
static void add_pool(const struct pt_children *children, const struct pool *pool, pt_i64 next_ns, struct made *made)
{
    const struct span starts = {pool->start_ns, pool->ready_ns,
                                .before_ns = half_of_gap(pool->before_end_ns, pool->start_ns)};
    const struct span ends = {later(pool->sent_ns, pool->ready_ns), pool->end_ns,
                              .behind_ns = half_of_gap(pool->end_ns, next_ns)};
    const struct span all = {pool->start_ns, pool->end_ns, starts.before_ns, ends.behind_ns};
    if (!pool->before_end_ns ||
        !(waited_ns(children, pool->maker, all) > 0)) /* the first one, or nobody waits for it */
        return;
    made->pools++;
    made->workers += pool->n;
    made->start_ns += waited_ns(children, pool->maker, starts) + pool->forks_ns + MAKING_NS;
    made->end_ns += pool->sent_ns ? waited_ns(children, pool->maker, ends) : 0;
}

/* ---- workers that take the place of others ---- */

/* Behind a fork parent and child fault on each page that they write next. Measured with a pool of two: the gain is
 * larger than the time of empty places by about twice that of the forks. */
#define FAULTS_OF_FORKS 2

/* When a place in a pool is taken, and left with the last result. */
struct turn {
    pt_i64 at_ns;
    int by;
};

/* Of the workers that give their results by one queue. */
struct turns {
    PT_VEC(struct turn);
    pt_i64 first_end_ns, last_start_ns;
    double forks_ns;
    pt_u32 replaced;
};

struct queues {
    PT_VEC(struct turns);
    struct pt_map by_results; /* -> index, plus 1 */
};

static int by_time(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    return x->at_ns != y->at_ns ? (x->at_ns < y->at_ns ? -1 : 1) : x->by - y->by;
}

static void add_turn(const struct pt_children *children, const struct pt_process *worker, struct queues *queues)
{
    const struct pt_children_process *own = &children->processes[worker->index];
    const pt_i64 from_ns = later(own->asked_ns, started_ns(own, worker));
    if (own->last_sent_ns <= from_ns)
        return;
    pt_u64 *slot = own->results ? pt_map_at(&queues->by_results, own->results) : NULL;
    if (slot && !*slot) {
        pt_vec_push(queues, ((struct turns){.first_end_ns = INT64_MAX}));
        *slot = queues->n;
    }
    if (!queues->n)
        return;
    struct turns *turns = &queues->items[(slot ? *slot : queues->n) - 1];
    turns->replaced += worker->start_ns >= turns->first_end_ns; /* another one has ended before */
    turns->first_end_ns = worker->end_ns < turns->first_end_ns ? worker->end_ns : turns->first_end_ns;
    turns->forks_ns += own->fork_ns;
    turns->last_start_ns = later(turns->last_start_ns, from_ns);
    pt_vec_push(turns, ((struct turn){from_ns, 1}));
    pt_vec_push(turns, ((struct turn){own->last_sent_ns, -1}));
}

/* Until the last one has started: behind that there is less and less to do. */
static double empty_ns(struct turns *turns)
{
    int places = 0, taken = 0;
    double ns = 0;
    qsort(turns->items, turns->n, sizeof *turns->items, by_time);
    for (size_t i = 0; i < turns->n; i++) {
        taken += turns->items[i].by;
        places = taken > places ? taken : places;
    }
    taken = 0;
    for (size_t i = 0; i + 1 < turns->n && turns->items[i].at_ns < turns->last_start_ns; i++) {
        taken += turns->items[i].by;
        ns += (double)(places - taken) * (double)(turns->items[i + 1].at_ns - turns->items[i].at_ns);
    }
    return places ? ns / places : 0;
}

static void free_queues(struct queues *queues)
{
    for (size_t i = 0; i < queues->n; i++)
        free(queues->items[i].items);
    free(queues->items);
    pt_map_fini(&queues->by_results);
}

/* Whose result one was is not always known: then it was of the pool that was the last one, if workers are replaced at
 * all. False = they are not. */
static bool are_replaced(const struct pt_children *children, const struct pt_process *maker,
                         const struct pt_process *const *workers, pt_u32 n, struct made *made)
{
    struct queues queues = {0};
    struct made here = {0};
    size_t all = 0;
    for (pt_u32 i = 0; i < n; i++) {
        if (pt_maker_of(workers[i]) != maker)
            continue;
        add_turn(children, workers[i], &queues);
    }
    for (size_t i = 0; i < queues.n; i++) {
        struct turns *turns = &queues.items[i];
        const double ns = empty_ns(turns);
        const struct span of_pool = {turns->items[0].at_ns, turns->items[turns->n - 1].at_ns, 0, 0};
        const double waited = waited_ns(children, maker, of_pool) / (double)(of_pool.until_ns - of_pool.from_ns);
        all += turns->n / 2;
        here.replaced += turns->replaced;
        here.empty_ns += (ns + FAULTS_OF_FORKS * turns->forks_ns) * fmin(waited, 1);
    }
    free_queues(&queues);
    if (2 * (size_t)here.replaced <= all)
        return false;
    made->replaced += here.replaced;
    made->empty_ns += here.empty_ns;
    return true;
}

/* `workers` of all makers, in the order of their starts. */
static void made_by(const struct pt_children *children, const struct pt_process *maker,
                    const struct pt_process *const *workers, pt_u32 n, struct made *made)
{
    struct pool pool = {.maker = maker};
    if (are_replaced(children, maker, workers, n, made))
        return;
    for (pt_u32 i = 0; i < n; i++) {
        if (pt_maker_of(workers[i]) != maker)
            continue;
        if (pool.n && workers[i]->start_ns >= pool.end_ns) {
            add_pool(children, &pool, workers[i]->start_ns, made);
            pool = (struct pool){.maker = maker, .before_end_ns = pool.end_ns};
        }
        pool.start_ns = pool.n ? pool.start_ns : workers[i]->start_ns;
        join(children, &pool, workers[i]);
    }
    if (pool.n)
        add_pool(children, &pool, later(maker->end_ns, pool.end_ns), made);
}

void pt_children_pools_results(const struct pt_children *children, pt_u32 stage)
{
    const struct pt_session *session = children->profile->session;
    struct pt_metrics *metrics = &children->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_process **workers = pt_calloc(session->n_processes + 1, sizeof *workers);
    struct made made = {0};
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (children->processes[session->processes[i]->index].is_worker &&
            pt_profile_stage_of(children->profile, session->processes[i]) == stage)
            workers[n++] = session->processes[i];
    qsort(workers, n, sizeof *workers, by_start);
    for (pt_u32 i = 0; n && i < session->n_processes; i++)
        if (children->processes[session->processes[i]->index].n_workers > 2)
            made_by(children, session->processes[i], workers, n, &made);
    free(workers);
    pt_metrics_set(metrics, scope, "helpers.again.pools.count", pt_integer(made.pools));
    pt_metrics_set(metrics, scope, "helpers.again.workers.count", pt_integer(made.workers));
    pt_metrics_set(metrics, scope, "helpers.again.replaced.count", pt_integer(made.replaced));
    pt_metrics_set(metrics, scope, "helpers.again.empty_s", pt_real(made.empty_ns / 1e9));
    pt_metrics_set(metrics, scope, "helpers.again.start_s", pt_real(made.start_ns / 1e9));
    pt_metrics_set(metrics, scope, "helpers.again.end_s", pt_real(made.end_ns / 1e9));
}
