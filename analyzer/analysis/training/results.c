/* SPDX-License-Identifier: MIT
 *
 * Owns: the metrics of stages that train. Threads: one. Never: replaces steps and epochs that the program marked
 * itself; says 0 of what it cannot know.
 */
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/path/critical_path.h"
#include "facts/state.h"
#include "facts/workers.h"
#include "util/text/fmt.h"
#include "util/whole.h"
#include "costs.h"
#include "imports.h"
#include "pass_tables.h"
#include "loop_places.h"
#include "phase_tables.h"

enum { WORTH_A_LINE_NS = 1000000000, MANY_COLLECTIONS = 10 };

/* Over the processes whose steps are the stage's. */
struct stage_sums {
    pt_u64 steps, epochs, exhausted, validations, samples, batches, batches_of_one;
    pt_u64 backwards, optimizer_steps, skipped, compiles, recompiles;
    pt_i64 train_ns, validation_ns, compile_ns, recompile_ns, checkpoint_ns, collector_ns, late_starts_ns;
    pt_i64 phase_ns[PT_N_PHASES];
    struct pt_times durations;
};

static pt_i64 self_of(const struct pt_trainings *results, const struct pt_process *process, enum pt_phase kind)
{
    const struct pt_phase_process *phases = results->sums->processes[process->index];
    return phases ? phases->sums[kind].self_ns : 0;
}

static void add_loop(const struct pt_trainings *results, struct stage_sums *sums, const struct pt_loop_results *loop)
{
    sums->steps += loop->steps;
    sums->epochs += loop->passes[PT_PASS_EPOCH];
    sums->exhausted += loop->exhausted;
    sums->validations += loop->passes[PT_PASS_VALIDATION];
    sums->samples += loop->samples;
    sums->batches += loop->batches;
    sums->batches_of_one += loop->batches_of_one;
    sums->backwards += loop->backwards;
    sums->optimizer_steps += loop->optimizer_steps;
    sums->skipped += loop->skipped_steps;
    sums->compiles += loop->compiles;
    sums->recompiles += loop->recompiles;
    sums->train_ns += loop->train_ns;
    sums->validation_ns += loop->pass_ns[PT_PASS_VALIDATION];
    sums->compile_ns += loop->compile_ns;
    sums->recompile_ns += loop->recompile_ns;
    sums->checkpoint_ns += self_of(results, loop->process, PT_PHASE_checkpoint);
    sums->collector_ns += self_of(results, loop->process, PT_PHASE_garbage_collection);
    sums->late_starts_ns += pt_training_late_ns(loop, 2);
    for (pt_u32 kind = 0; kind < PT_N_PHASES; kind++)
        sums->phase_ns[kind] += loop->phase_ns[kind];
    pt_times_add_all(&sums->durations, &loop->pace->durations);
}

static struct pt_value epochs_of(const struct stage_sums *sums)
{
    if (!sums->epochs)
        return pt_unknown("no data loader was seen");
    /* An endless loader, too, may be validated with in between. */
    if (!sums->exhausted && sums->epochs == 1 && sums->validations > 1)
        return pt_unknown("its data loader never came to an end");
    return pt_integer(sums->epochs);
}

static bool is_marked(const struct pt_metrics *metrics, struct pt_scope scope, const char *metric)
{
    return pt_value_number(pt_metrics_get(metrics, scope, metric)) > 0;
}

static void set_steps(struct pt_metrics *metrics, struct pt_scope scope, const struct stage_sums *sums)
{
    const struct pt_times *durations = &sums->durations;
    if (!is_marked(metrics, scope, "steps.count")) {
        pt_metrics_set(metrics, scope, "steps.count", pt_integer(sums->steps));
        pt_metrics_set(metrics, scope, "steps.p50_s", pt_seconds(pt_times_quantile(durations, 0.5)));
        pt_metrics_set(metrics, scope, "steps.p95_s", pt_seconds(pt_times_quantile(durations, 0.95)));
        pt_metrics_set(metrics, scope, "steps.mean_s",
                       pt_real((double)durations->histogram.sum / (double)durations->histogram.count / 1e9));
        pt_metrics_set(metrics, scope, "steps.max_s", pt_seconds((pt_i64)durations->histogram.max));
    }
    if (!is_marked(metrics, scope, "epochs.count"))
        pt_metrics_set(metrics, scope, "epochs.count", epochs_of(sums));
}

static struct pt_value accumulation_of(const struct stage_sums *sums)
{
    const pt_u64 updates = sums->optimizer_steps + sums->skipped;
    if (!updates)
        return pt_unknown("no optimizer step was seen");
    const double factor = round((double)sums->backwards / (double)updates);
    return pt_integer(factor > 1 ? pt_whole(factor) : 1);
}

static void set_counts(struct pt_metrics *metrics, struct pt_scope scope, const struct stage_sums *sums)
{
    pt_metrics_set(metrics, scope, "training.optimizer_steps.count", pt_integer(sums->optimizer_steps));
    pt_metrics_set(metrics, scope, "training.skipped_steps.count", pt_integer(sums->skipped));
    pt_metrics_set(metrics, scope, "training.accumulation.count", accumulation_of(sums));
    pt_metrics_set(metrics, scope, "training.validations.count", pt_integer(sums->validations));
    pt_metrics_set(metrics, scope, "training.compiles.count", pt_integer(sums->compiles));
    pt_metrics_set(metrics, scope, "training.recompiles.count", pt_integer(sums->recompiles));
    pt_metrics_set(metrics, scope, "training.batches.count", pt_integer(sums->batches));
    pt_metrics_set(metrics, scope, "training.batches_of_one.count", pt_integer(sums->batches_of_one));
}

static void set_times(struct pt_metrics *metrics, struct pt_scope scope, const struct stage_sums *sums)
{
    static const char *const names[PT_SHARE__COUNT][2] = {
        [PT_SHARE_DATA] = {"training.data_s", "training.dataloader_percent"},
        [PT_SHARE_FORWARD] = {"training.forward_s", "training.forward_percent"},
        [PT_SHARE_BACKWARD] = {"training.backward_s", "training.backward_percent"},
        [PT_SHARE_OPTIMIZER] = {"training.optimizer_s", "training.optimizer_percent"},
        [PT_SHARE_OTHER] = {"training.other_s", "training.other_percent"},
    };
    const struct pt_shares shares = pt_shares_of(sums->phase_ns, sums->train_ns);
    for (pt_u32 share = 0; share < PT_SHARE__COUNT; share++) {
        pt_metrics_set(metrics, scope, names[share][0], pt_seconds(shares.ns[share]));
        pt_metrics_set(metrics, scope, names[share][1],
                       sums->train_ns > 0 ? pt_real(pt_percent_of(shares.ns[share], sums->train_ns))
                                          : pt_unknown("no step was seen from its beginning to its end"));
    }
    pt_metrics_set(metrics, scope, "training.total_s", pt_seconds(sums->train_ns));
    pt_metrics_set(metrics, scope, "training.validation_s", pt_seconds(sums->validation_ns));
    pt_metrics_set(metrics, scope, "training.checkpoint_s", pt_seconds(sums->checkpoint_ns));
    pt_metrics_set(metrics, scope, "training.collector_s", pt_seconds(sums->collector_ns));
    pt_metrics_set(metrics, scope, "training.compile_s", pt_seconds(sums->compile_ns));
    pt_metrics_set(metrics, scope, "training.recompile_s", pt_seconds(sums->recompile_ns));
    pt_metrics_set(metrics, scope, "training.late_starts_s", pt_seconds(sums->late_starts_ns));
}

/* ---- the garbage collector ---- */

/* How much of the time that its main thread computes it has a CPU: what others took of a phase is no cost of it. 1 =
 * that is not known. */
static double share_on_cpu(const struct pt_profile *profile, pt_u32 stage, const struct pt_process *process)
{
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(profile->facts, stage);
    const pt_u32 thread =
        cpu->data && process->n_threads ? pt_facts_cpu_thread(profile->facts, &process->threads[0]) : 0;
    const struct pt_cpu_times *times = thread ? &cpu->data->times[thread] : NULL;
    return times && times->on_cpu_ns ? (double)times->on_cpu_ns / (double)(times->on_cpu_ns + times->preempted_ns) : 1;
}

/* Of the process that had most of it. What it takes while modules are imported happens once: that counts apart. */
static void set_collector(const struct pt_trainings *results, pt_u32 stage)
{
    struct pt_metrics *metrics = &results->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_phase_process *most = NULL;
    pt_i64 most_ns = 0, lived_ns = 0;
    double share = 1;
    for (pt_u32 i = 0; i < results->sums->n_processes; i++) {
        const struct pt_process *process = results->profile->session->processes[i];
        const struct pt_phase_process *phases = results->sums->processes[i];
        if (!phases || pt_profile_stage_of(results->profile, process) != stage || pt_is_worker(process))
            continue;
        const pt_i64 ns = phases->sums[PT_PHASE_garbage_collection].total_ns;
        if (ns > most_ns) {
            most = phases;
            most_ns = ns;
            lived_ns = process->end_ns - process->start_ns;
            share = share_on_cpu(results->profile, stage, process);
        }
    }
    if (!most)
        return;
    /* A second of imports is worth a line, a tenth of one is not; nor are the few collections at the end of a process.
     */
    const pt_u64 calls = most->sums[PT_PHASE_garbage_collection].calls;
    const double of_imports_ns = share * (double)most->import_collector_ns;
    const double imports_ns = of_imports_ns > WORTH_A_LINE_NS ? of_imports_ns : 0;
    const double running_ns =
        calls - most->import_collections >= MANY_COLLECTIONS ? share * (double)most_ns - of_imports_ns : 0;
    pt_metrics_set(metrics, scope, "python.collector.calls", pt_integer(calls));
    pt_metrics_set(metrics, scope, "python.collector.cost_s", pt_real((imports_ns + running_ns) / 1e9));
    pt_metrics_set(metrics, scope, "python.collector.imports_s", pt_real(of_imports_ns / 1e9));
    pt_metrics_set(metrics, scope, "python.collector.percent",
                   pt_real(lived_ns > 0 ? 100 * (imports_ns + running_ns) / (double)lived_ns : 0));
}

/* ---- a stage ---- */

/* All ranks together; of others that train the mean. */
static struct pt_value samples_per_s(const struct pt_world *world)
{
    pt_u64 samples = 0;
    pt_i64 ns = 0;
    for (pt_u32 i = 0; i < world->n; i++) {
        samples += world->all[i]->samples;
        ns += world->all[i]->train_ns;
    }
    if (!samples || ns <= 0)
        return pt_unknown(samples ? "no step was seen from its beginning to its end"
                                  : "no batch said how many samples it holds");
    return pt_real((double)samples / ((double)ns / 1e9) * world->ranks);
}

/* A model is called, and nothing learns: a server, or one that goes over its data once. */
static bool only_calls(const struct pt_trainings *results, pt_u32 stage)
{
    bool calls = false, learns = false;
    for (pt_u32 i = 0; i < results->n_loops; i++) {
        const struct pt_loop_results *loop = &results->loops[i];
        const bool is_here = pt_profile_stage_of(results->profile, loop->process) == stage;
        calls |= is_here && loop->has_forward;
        learns |= is_here && (loop->backwards || loop->optimizer_steps);
    }
    return calls && !learns;
}

/* Seen in phases, which are PyTorch's: to have a framework loaded is not to use it. */
static bool calls_torch(const struct pt_trainings *results, pt_u32 stage)
{
    for (pt_u32 i = 0; i < results->n_loops; i++) {
        const struct pt_loop_results *loop = &results->loops[i];
        if ((loop->has_forward || loop->backwards) && pt_profile_stage_of(results->profile, loop->process) == stage)
            return true;
    }
    return false;
}

/* Whether it trains or not. */
static void set_batches_of_workers(const struct pt_trainings *results, pt_u32 stage)
{
    pt_u64 batches = 0;
    for (pt_u32 i = 0; i < results->n_loops; i++)
        if (pt_profile_stage_of(results->profile, results->loops[i].process) == stage)
            batches += results->loops[i].batches_of_workers;
    pt_metrics_set(&results->profile->metrics, pt_scope_stage(stage), "training.batches_of_workers.count",
                   pt_integer(batches));
}

static void set_unknown(struct pt_metrics *metrics, struct pt_scope scope, bool only_calls)
{
    static const char reason[] = "no training step was seen in phases";
    pt_metrics_set(metrics, scope, "training.only_calls_percent", pt_real(only_calls ? 100 : 0));
    pt_metrics_set(metrics, scope, "training.samples_per_s", pt_unknown(reason));
    pt_metrics_set(metrics, scope, "training.dataloader_percent", pt_unknown(reason));
}

static void set_stage(const struct pt_trainings *results, pt_u32 stage)
{
    struct pt_metrics *metrics = &results->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    struct pt_world world = pt_world_of(results, stage);
    struct stage_sums *sums = pt_calloc(1, sizeof *sums);
    for (pt_u32 i = 0; i < world.n_counted; i++)
        add_loop(results, sums, world.counted[i]);
    if (sums->steps) {
        set_steps(metrics, scope, sums);
        set_counts(metrics, scope, sums);
        set_times(metrics, scope, sums);
        pt_training_costs(results, stage, &world);
        pt_metrics_set(metrics, scope, "training.samples_per_s", samples_per_s(&world));
    } else
        set_unknown(metrics, scope, only_calls(results, stage));
    pt_metrics_set(metrics, scope, "training.by_torch_percent", pt_real(calls_torch(results, stage) ? 100 : 0));
    set_batches_of_workers(results, stage);
    set_collector(results, stage);
    pt_training_imports(results->profile, results->sums, stage);
    pt_training_phase_tables(results, stage);
    pt_training_places(results, stage, &world);
    pt_training_pass_tables(results, stage, &world);
    pt_training_step_tables(results, stage, &world);
    free(sums);
    pt_world_free(&world);
}

void pt_training_results(const struct pt_trainings *results)
{
    for (pt_u32 stage = 0; stage < results->profile->stages.n; stage++)
        set_stage(results, stage);
}
