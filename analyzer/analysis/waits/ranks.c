/* SPDX-License-Identifier: MIT
 *
 * Ranks of a distributed program: how long each waits for the others, and which of them is late.
 *
 * Threads: one. State: one small struct per process that has a rank, a bit per thread of them. Never: takes a rank's
 * wait for its own workers, or for its own threads that compute, for one for another rank.
 */
#include <stdlib.h>

#include "proftrace/events.h"
#include "analysis/analysis.h"
#include "facts/path/critical_path.h"
#include "facts/workers.h"
#include "profile/process_name.h"
#include "util/auto.h"
#include "rank_stacks.h"

/* Shorter ones are the exchange itself. */
#define LEAST_WAIT_NS 100000
/* A thread that hands over what came from others is seldom on a CPU. */
#define MOST_OF_CARRIER 0.3
enum { MOST_RANKS = 1024 };

struct rank {
    pt_i64 waited_ns;
    pt_u64 waits;
};

struct ranks {
    struct pt_profile *profile;
    const struct pt_facts *facts;
    struct rank *processes;
    bool *feeds; /* by number of a thread: it takes data from its process's workers */
    bool has_any;
};

static void begin(void *state, struct pt_profile *profile)
{
    struct ranks *ranks = state;
    ranks->profile = profile;
    ranks->facts = profile->facts;
    ranks->processes = pt_calloc(profile->session->n_processes, sizeof *ranks->processes);
    ranks->feeds = pt_calloc(pt_n_threads(&ranks->facts->ids) + 1, sizeof *ranks->feeds);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++)
        ranks->has_any |= profile->session->processes[i]->rank >= 0;
}

/* Workers of a rank have its number, too; a shell that starts it is not it. */
static bool is_rank(const struct ranks *ranks, const struct pt_process *process)
{
    const struct pt_critical_paths *paths = ranks->facts->paths;
    const struct pt_process *starter = process->parent;
    while (starter && starter->pid == process->pid)
        starter = starter->parent;
    return process->rank >= 0 && !pt_path_is_launcher(paths, process) &&
           (!starter || starter->rank != process->rank || pt_path_is_launcher(paths, starter));
}

/* ---- whom a wait is for ---- */

static bool is_of_workers(const struct ranks *ranks, const struct pt_event *e, const struct pt_span *span)
{
    if (span->blocker_kind != PT_BLOCKER_WRITER && span->blocker_kind != PT_BLOCKER_READER)
        return span->blocker_kind == PT_BLOCKER_PROCESS;
    const struct pt_process *other = pt_channels_other_process(&ranks->facts->channels, e->process, span->blocker,
                                                               span->blocker_kind == PT_BLOCKER_WRITER);
    return other && other->parent == e->process;
}

static bool computes(const struct ranks *ranks, const struct pt_thread *thread)
{
    const pt_u32 number = pt_facts_cpu_thread(ranks->facts, thread);
    const struct pt_thread_life life = pt_thread_life(ranks->facts, thread);
    const pt_u32 stage = pt_profile_stage_of(ranks->profile, thread->process);
    return number && (double)pt_facts_cpu(ranks->facts, stage)->data->times[number].on_cpu_ns >
                         MOST_OF_CARRIER * (double)(life.end_ns - life.start_ns);
}

/* A thread of its own gave the signal: it brings what others sent, or does work. */
static bool is_of_own_thread(const struct ranks *ranks, const struct pt_event *e, const struct pt_span *span)
{
    if (span->blocker_kind != PT_BLOCKER_THREAD)
        return false;
    const struct pt_thread *other = pt_thread_of_number(&ranks->facts->ids, span->blocker);
    return other->process == e->process && (ranks->feeds[span->blocker] || computes(ranks, other));
}

static bool may_be_of_ranks(const struct pt_event *e, const struct pt_span *span)
{
    return span->part == PT_PART_network || span->part == PT_PART_data_wait || span->part == PT_PART_idle ||
           e->desc->kind == PT_KIND_lock_cond || e->desc->kind == PT_KIND_lock_sem;
}

static bool wants(const void *state, pt_u32 kind)
{
    const struct ranks *ranks = state;
    return ranks->has_any && pt_event_descs[kind].role == PT_ROLE_SPAN;
}

static void event(void *state, const struct pt_event *e)
{
    struct ranks *ranks = state;
    const struct pt_span *span = &ranks->facts->call.span;
    if (!is_rank(ranks, e->process) || span->part == PT_PART_gil_wait)
        return;
    const bool is_for_workers = is_of_workers(ranks, e, span);
    if (!pt_is_main_thread(e)) {
        ranks->feeds[pt_thread_number(&ranks->facts->ids, e->thread)] |= is_for_workers;
        return;
    }
    if (e->duration_ns < LEAST_WAIT_NS || !may_be_of_ranks(e, span) || is_for_workers ||
        is_of_own_thread(ranks, e, span))
        return;
    struct rank *rank = &ranks->processes[e->process->index];
    rank->waited_ns += ranks->facts->call.own_ns;
    rank->waits++;
}

/* ---- results ---- */

struct rank_row {
    pt_u64 rank;
    pt_u32 pid;
    const char *process;
    double lived_s, waited_s, worked_s;
    pt_u64 waits;
    struct pt_value cpu_s;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct rank_row, rank, COUNT, "Rank"),
    PT_COLUMN(struct rank_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct rank_row, process, TEXT, "Process"),
    PT_COLUMN(struct rank_row, lived_s, SECONDS, "Lived"),
    PT_COLUMN(struct rank_row, waited_s, SECONDS, "Waited for others"),
    PT_COLUMN(struct rank_row, worked_s, SECONDS, "Did else"),
    PT_COLUMN(struct rank_row, waits, COUNT, "Waits"),
    PT_COLUMN(struct rank_row, cpu_s, SECONDS, "CPU"),
};
static const struct pt_table_kind by_rank = {PT_VIEW_ranks, .most = MOST_RANKS, PT_COLUMNS(columns)};

static void add_row(struct ranks *ranks, struct pt_rows *rows, const struct pt_process *process)
{
    const double lived_s = (double)(process->end_ns - process->start_ns) / 1e9;
    const double waited_s = (double)ranks->processes[process->index].waited_ns / 1e9;
    pt_rows_add(rows, &(struct rank_row){
                          .rank = (pt_u64)process->rank,
                          .pid = process->pid,
                          .process = pt_process_name(ranks->profile, process),
                          .lived_s = lived_s,
                          .waited_s = waited_s,
                          .worked_s = lived_s > waited_s ? lived_s - waited_s : 0,
                          .waits = ranks->processes[process->index].waits,
                          .cpu_s = pt_image_cpu_s(ranks->facts, process), /* as in the other tables */
                      });
}

/* The last image of each rank of a stage. */
static bool is_of_stage(const struct ranks *ranks, pt_u32 stage, const struct pt_process *process)
{
    return is_rank(ranks, process) && process->state != PT_PROCESS_EXECED &&
           pt_profile_stage_of(ranks->profile, process) == stage;
}

struct world {
    const struct pt_process *late, *waits_most;
    double sum_ns, least_ns, most_ns;
    pt_u32 n;
};

/* What the late one does more than the others. */
static void compare(const struct ranks *ranks, pt_u32 stage, const struct pt_process *late)
{
    const struct pt_session *session = ranks->profile->session;
    PT_AUTO(pt_freep) const struct pt_process **of_stage = pt_calloc(session->n_processes, sizeof *of_stage);
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (is_of_stage(ranks, stage, session->processes[i]))
            of_stage[n++] = session->processes[i];
    pt_rank_stacks(ranks->profile, stage, of_stage, n, late);
}

static struct world world_of(const struct ranks *ranks, pt_u32 stage)
{
    const struct pt_session *session = ranks->profile->session;
    struct world world = {0};
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const double ns = (double)ranks->processes[i].waited_ns;
        if (!is_of_stage(ranks, stage, session->processes[i]))
            continue;
        if (!world.n || ns < world.least_ns) {
            world.late = session->processes[i];
            world.least_ns = ns;
        }
        if (!world.n || ns > world.most_ns) {
            world.waits_most = session->processes[i];
            world.most_ns = ns;
        }
        world.sum_ns += ns;
        world.n++;
    }
    return world;
}

static void finish_stage(struct ranks *ranks, pt_u32 stage)
{
    const struct pt_session *session = ranks->profile->session;
    struct pt_metrics *metrics = &ranks->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct world world = world_of(ranks, stage);
    if (world.n < 2 || world.most_ns <= 0)
        return;
    compare(ranks, stage, world.late);
    struct pt_rows rows = pt_rows(metrics, scope, &by_rank);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (is_of_stage(ranks, stage, session->processes[i]) && pt_rows_have_room(&rows))
            add_row(ranks, &rows, session->processes[i]);
    pt_metrics_set(metrics, scope, "ranks.count", pt_integer(world.n));
    pt_metrics_set(metrics, scope, "ranks.late", pt_integer((pt_u64)world.late->rank));
    pt_metrics_set(metrics, scope, "ranks.waits_most", pt_integer((pt_u64)world.waits_most->rank));
    pt_metrics_set(metrics, scope, "ranks.most_s", pt_real(world.most_ns / 1e9));
    pt_metrics_set(metrics, scope, "ranks.least_s", pt_real(world.least_ns / 1e9));
    pt_metrics_set(metrics, scope, "ranks.imbalance_percent",
                   pt_real(100 * (world.most_ns - world.least_ns) / world.most_ns));
    /* What the late one has too much is divided by all of them. */
    pt_metrics_set(metrics, scope, "ranks.imbalance.cost_s", pt_real((world.sum_ns / world.n - world.least_ns) / 1e9));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct ranks *ranks = state;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        finish_stage(ranks, stage);
    free(ranks->processes);
    free(ranks->feeds);
}

const struct pt_analysis pt_analysis_ranks = {
    .name = "ranks",
    .summary = "how long each rank waits for the others",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_WAIT | PT_CATEGORY_NET,
    .state_size = sizeof(struct ranks),
    .begin = begin,
    .wants = wants,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
