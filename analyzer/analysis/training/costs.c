/* SPDX-License-Identifier: MIT
 *
 * Owns: what rules judge of trainings. Threads: one, after the last event. Never: promises more than once what
 * trainings that run at once could each do without.
 */
#include "costs.h"

#include <math.h>
#include <stdlib.h>

#include "at_once.h"
#include "facts/workers.h"

/* What led to it, tracing for one, is found in a cache as well. */
#define WITH_TRACING 1.25

/* In seconds. */
enum cost {
    COST_RESTARTS,
    COST_VALIDATION,
    COST_CHECKPOINTS,
    COST_CHECKPOINT_FILES, /* a part of all of them: opening and closing */
    COST_SKIPPED,
    COST_PER_STEP,
    COST_WAITS,
    COST_RECOMPILE,
    COST_UNCACHED,
    COST_BESIDE, /* the steps, in the training passes, without checkpoints */
    COST_ALL,    /* the training passes */
    COST__COUNT
};

static const char *const metrics_of[COST__COUNT] = {
    [COST_RESTARTS] = "training.restarts.cost_s",
    [COST_VALIDATION] = "training.validation.cost_s",
    [COST_CHECKPOINTS] = "training.checkpoints.cost_s",
    [COST_CHECKPOINT_FILES] = "training.checkpoints.file_meta_s",
    [COST_SKIPPED] = "training.skipped.cost_s",
    [COST_PER_STEP] = "training.per_step.cost_s",
    [COST_WAITS] = "training.waits.cost_s",
    [COST_RECOMPILE] = "training.recompile.cost_s",
    [COST_UNCACHED] = "training.compile.uncached_s",
    [COST_BESIDE] = "training.beside_s",
    [COST_ALL] = "training.length_s",
};

/* ---- workers that are kept ---- */

/* Of a process, those that were started for it between two times, by itself or by a forkserver, and that lived at least
 * until a third one. */
static pt_u32 workers_of(const struct pt_session *session, const struct pt_process *process, pt_i64 from_ns,
                         pt_i64 to_ns, pt_i64 until_ns)
{
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *child = session->processes[i];
        n += child->start_ns >= from_ns && child->start_ns < to_ns && child->end_ns >= until_ns &&
             pt_is_worker(child) && pt_maker_of(child) == process;
    }
    return n;
}

/* Whether the workers of each epoch but the first are those of before, whatever a validation starts. A new iterator may
 * have the address of the last one: it tells nothing. */
static bool keeps_workers(const struct pt_session *session, const struct pt_loop_results *loop)
{
    const struct pt_pass *last = NULL;
    bool has_two = false;
    for (size_t i = 0; i < loop->n_kept; i++) {
        const struct pt_pass *pass = &loop->kept[i];
        const pt_i64 begun_ns = pass->start_ns + pass->start_cost_ns + pass->first_wait_ns;
        if (pass->kind != PT_PASS_EPOCH || !pass->workers)
            continue;
        if (last && (workers_of(session, loop->process, pass->start_ns, begun_ns, 0) >= pass->workers ||
                     workers_of(session, loop->process, 0, last->end_ns, begun_ns) < pass->workers))
            return false;
        has_two |= last != NULL;
        last = pass;
    }
    return has_two;
}

static bool all_keep_workers(const struct pt_session *session, const struct pt_world *world)
{
    for (pt_u32 i = 0; i < world->n_counted; i++)
        if (!keeps_workers(session, world->counted[i]))
            return false;
    return world->n_counted > 0;
}

/* ---- costs ---- */

/* Over the trainings that are counted. */
struct sums {
    pt_u64 updates, skipped, batches, batches_of_one;
    pt_u32 workers;
    bool are_workers_unknown, tell_no_workers;
    const char *data; /* of the last that trained */
    pt_i64 train_ns, validation_ns, by_mode_ns, late_ns, ends_ns, checkpoints_in_passes_ns;
    double waits_s;
    struct pt_saves saves;
};

static double s_of(pt_i64 ns)
{
    return (double)ns / 1e9;
}

pt_i64 pt_training_late_ns(const struct pt_loop_results *loop, size_t from)
{
    const pt_i64 usual_ns = pt_times_quantile(&loop->pace->phases[PT_PHASE_data_wait], 0.5);
    pt_i64 beyond_ns = 0;
    for (size_t i = from - 1; i < loop->n_first_batches; i++)
        if (loop->first_batches_ns[i] > usual_ns)
            beyond_ns += loop->first_batches_ns[i] - usual_ns;
    return beyond_ns;
}

/* A thread that makes steps, or waits for their data. */
static bool trains(const struct pt_phase_thread *thread)
{
    const pt_u32 kinds =
        1u << PT_PHASE_backward | 1u << PT_PHASE_optimizer_step | 1u << PT_PHASE_train_step | 1u << PT_PHASE_data_wait;
    return thread->had & kinds;
}

/* What is saved; loading happens once. Of the threads that train in the processes whose steps are counted: what another
 * thread saves holds up no step, and ranks save at the same time. */
static struct pt_saves saves_of(const struct pt_phase_sums *sums, const struct pt_process *process)
{
    struct pt_saves all = {0};
    for (size_t i = 0; i < sums->threads.n; i++) {
        const struct pt_phase_thread *thread = sums->threads.items[i];
        if (thread->thread->process != process || !trains(thread))
            continue;
        all.n += thread->saves.n;
        all.total_ns += thread->saves.total_ns;
        all.file_meta_ns += thread->saves.file_meta_ns;
        all.longest_ns += thread->saves.longest_ns;
    }
    return all;
}

/* One validation is what any training needs, at its end: the longest, as a test on other data may take longer than
 * those before. */
static pt_i64 avoidable_validation_ns(const struct pt_loop_results *loop)
{
    const pt_i64 all_ns = loop->pass_ns[PT_PASS_VALIDATION];
    return all_ns > loop->longest_validation_ns ? all_ns - loop->longest_validation_ns : 0;
}

static void costs_of(const struct pt_loop_results *loop, const struct pt_saves *saves, double costs[COST__COUNT])
{
    const struct pt_shares shares = pt_shares_of(loop->phase_ns, loop->train_ns);
    const pt_i64 data_ns = shares.ns[PT_SHARE_DATA];
    const pt_u64 updates = loop->optimizer_steps + loop->skipped_steps;
    const double skipped = updates ? (double)loop->skipped_steps / (double)updates : 0;
    costs[COST_RESTARTS] = s_of(pt_training_late_ns(loop, 2) + loop->ends_ns);
    costs[COST_VALIDATION] = s_of(avoidable_validation_ns(loop));
    costs[COST_CHECKPOINTS] = s_of(saves->total_ns - saves->longest_ns);
    costs[COST_CHECKPOINT_FILES] = s_of(saves->file_meta_ns);
    costs[COST_SKIPPED] = skipped * s_of(loop->train_ns);
    costs[COST_PER_STEP] = fmax(s_of(loop->train_ns - data_ns), 0);
    costs[COST_WAITS] = fmax(s_of(data_ns - pt_training_late_ns(loop, 1)), 0);
    costs[COST_RECOMPILE] = s_of(loop->recompile_ns);
    /* Where the compiler found nothing in its cache, the next run does. */
    costs[COST_UNCACHED] = fmin(s_of(loop->compile_ns), WITH_TRACING * s_of(loop->uncached_ns));
    costs[COST_BESIDE] = fmax(s_of(shares.ns[PT_SHARE_OTHER] - loop->phase_ns[PT_PHASE_checkpoint]), 0);
    costs[COST_ALL] = s_of(loop->train_ns);
}

static void add(struct sums *sums, const struct pt_loop_results *loop, const struct pt_saves *saves)
{
    sums->updates += loop->optimizer_steps + loop->skipped_steps;
    sums->skipped += loop->skipped_steps;
    sums->batches += loop->batches;
    sums->batches_of_one += loop->batches_of_one;
    sums->workers = loop->workers > sums->workers ? loop->workers : sums->workers;
    sums->are_workers_unknown |= loop->are_workers_unknown;
    sums->tell_no_workers |= loop->tell_no_workers;
    sums->data = loop->data ? loop->data : sums->data;
    sums->train_ns += loop->train_ns;
    sums->validation_ns += loop->pass_ns[PT_PASS_VALIDATION];
    sums->by_mode_ns += loop->by_mode_ns;
    sums->late_ns += pt_training_late_ns(loop, 2);
    sums->ends_ns += loop->ends_ns;
    sums->checkpoints_in_passes_ns += loop->phase_ns[PT_PHASE_checkpoint];
    sums->saves.n += saves->n;
    sums->saves.total_ns += saves->total_ns;
}

static void set_shares(struct pt_metrics *metrics, struct pt_scope scope, const struct sums *sums)
{
    pt_metrics_set(metrics, scope, "training.late_starts_percent",
                   pt_real(pt_percent_of(sums->late_ns, sums->train_ns)));
    pt_metrics_set(metrics, scope, "training.ends_s", pt_seconds(sums->ends_ns));
    pt_metrics_set(metrics, scope, "training.validation_percent",
                   pt_real(pt_percent_of(sums->validation_ns, sums->train_ns + sums->validation_ns)));
    pt_metrics_set(metrics, scope, "training.validation.by_mode_percent",
                   pt_real(pt_percent_of(sums->by_mode_ns, sums->validation_ns)));
    pt_metrics_set(metrics, scope, "training.skipped_percent",
                   pt_real(sums->updates ? 100 * (double)sums->skipped / (double)sums->updates : 0));
    pt_metrics_set(metrics, scope, "training.ones_percent",
                   pt_real(sums->batches ? 100 * (double)sums->batches_of_one / (double)sums->batches : 0));
    pt_metrics_set(metrics, scope, "training.waits_percent",
                   pt_real(sums->train_ns > 0 ? 100 * sums->waits_s / s_of(sums->train_ns) : 0));
    /* Where the start of one pass is not known, the others of a long training tell: they mostly have as many. */
    pt_metrics_set(
        metrics, scope, "training.workers.count",
        sums->are_workers_unknown && !sums->workers
            ? pt_unknown("a loader was started before the window, or that it was is lost, or it tells none (tf.data)")
            : pt_integer(sums->workers));
    pt_metrics_set(metrics, scope, "training.loads_ahead_percent",
                   sums->workers || sums->tell_no_workers ? pt_real(100)
                   : sums->are_workers_unknown            ? pt_unknown("a loader was started before the window")
                                                          : pt_real(0));
    pt_metrics_set(metrics, scope, "training.data_set",
                   sums->data ? pt_text(pt_metrics_text(metrics, sums->data)) : pt_unknown("no loader named it"));
}

/* What is saved in the middle of an epoch is a part of the training passes already. */
static void set_checkpoints(struct pt_metrics *metrics, struct pt_scope scope, const struct sums *sums)
{
    const pt_i64 total_ns = sums->saves.total_ns, in_passes_ns = sums->checkpoints_in_passes_ns;
    const pt_i64 beside_ns = total_ns > in_passes_ns ? total_ns - in_passes_ns : 0;
    pt_metrics_set(metrics, scope, "training.checkpoints.count", pt_integer(sums->saves.n));
    pt_metrics_set(metrics, scope, "training.checkpoints.total_s", pt_seconds(total_ns));
    pt_metrics_set(metrics, scope, "training.checkpoints.percent",
                   pt_real(pt_percent_of(total_ns, sums->train_ns + beside_ns)));
}

/* From when until when steps were made, each end as far out as two of them are apart: what one begins with comes before
 * its phases. Of several trainings nobody knows which one the critical thread is in. */
static void set_steps(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_world *world)
{
    const struct pt_loop_results *loop = world->n_counted == 1 ? world->counted[0] : NULL;
    if (!loop || loop->steps < 2 || !loop->steps_until_ns)
        return;
    const pt_i64 apart_ns = (loop->steps_until_ns - loop->steps_from_ns) / ((pt_i64)loop->steps - 1);
    pt_metrics_set(metrics, scope, "training.steps.from_s", pt_seconds(loop->steps_from_ns - apart_ns));
    pt_metrics_set(metrics, scope, "training.steps.until_s", pt_seconds(loop->steps_until_ns + apart_ns));
}

static void set_costs(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_world *world,
                      double (*costs)[COST__COUNT], double wall_s)
{
    struct pt_at_once once = pt_at_once_of(world);
    for (int cost = 0; cost < COST__COUNT; cost++)
        pt_metrics_set(metrics, scope, metrics_of[cost], pt_real(pt_at_once_cost(&once, &costs[0][cost], COST__COUNT)));
    if (wall_s > 0)
        pt_metrics_set(metrics, scope, "training.compile.uncached_percent",
                       pt_real(100 * pt_at_once_cost(&once, &costs[0][COST_UNCACHED], COST__COUNT) / wall_s));
    pt_at_once_free(&once);
}

void pt_training_costs(const struct pt_trainings *results, pt_u32 stage, const struct pt_world *world)
{
    struct pt_metrics *metrics = &results->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    double(*costs)[COST__COUNT] = pt_calloc(world->n_counted, sizeof *costs);
    struct sums sums = {0};
    for (pt_u32 i = 0; i < world->n_counted; i++) {
        const struct pt_saves saves = saves_of(results->sums, world->counted[i]->process);
        costs_of(world->counted[i], &saves, costs[i]);
        add(&sums, world->counted[i], &saves);
        sums.waits_s += costs[i][COST_WAITS];
    }
    set_shares(metrics, scope, &sums);
    set_steps(metrics, scope, world);
    pt_metrics_set(metrics, scope, "training.processes.at_once", pt_integer(pt_world_at_once(world)));
    pt_metrics_set(metrics, scope, "training.workers.kept_percent",
                   pt_real(all_keep_workers(results->profile->session, world) ? 100 : 0));
    set_costs(metrics, scope, world, costs, (double)pt_profile_stage_wall_ns(results->profile, stage) / 1e9);
    if (sums.saves.n)
        set_checkpoints(metrics, scope, &sums);
    free(costs);
}
