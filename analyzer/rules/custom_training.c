/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about phases and ranks of a training that one comparison cannot express. Threads: one. Never: sees an
 * event; complains of what the rules about workers name already; names code that a late rank does not run longer.
 */
#include <math.h>

#include "conditions.h"
#include "custom.h"
#include "finding_stacks.h"
#include "general.h"
#include "pickling.h"

#define LEAST_LATE_PERCENT 5
#define LEAST_IMPORTS_S 0.5
#define LEAST_BESIDE_PERCENT 15
#define MOST_FORWARD_S 0.005 /* with more, one sample is work enough */
enum { FEWEST_BATCHES = 20, MOST_BUSY_PERCENT = 70 };

static bool is_told_by_workers(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const enum pt_worker_complaint complaint = pt_worker_complaint(profile, finding);
    return (complaint != PT_WORKERS_FINE && complaint != PT_WORKERS_START) ||
           pt_finding_number(finding, &profile->metrics, "load.in_main.percent") >= 5 ||
           pt_finding_number(finding, &profile->metrics, "training.preparing_percent") >= 25;
}

static double stacks_s(const struct pt_profile *profile, pt_i64 stage, enum pt_stack_cost cost)
{
    double s = 0;
    for (size_t i = 0; i < profile->stacks.n; i++)
        s += (pt_i64)profile->stacks.items[i].stage == stage ? profile->stacks.items[i].cost[cost] : 0;
    return s;
}

/* What the process does for most of the time in which its own loader reads samples: it computes, or waits: for a
 * command that it starts for each, for a server. */
static void find_in_own_loader(const struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    static const enum pt_time_part waits[] = {PT_PART_file_read, PT_PART_network, PT_PART_data_wait,
                                              PT_PART_sleep,     PT_PART_lock,    PT_PART_child_wait};
    /* Places of Python, and samples from outside, are of the same time. */
    double in_part_s[2][PT_PART__COUNT] = {0}, most_s = stacks_s(profile, stage, PT_STACK_FETCH_S);
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage == stage && stack->part < PT_PART__COUNT && pt_is_in_loader(stack))
            in_part_s[(stack->frames[0].flags & PT_FRAME_OF_PYTHON) != 0][stack->part] += stack->cost[PT_STACK_CALL_S];
    }
    finding->place_kind = PT_PLACE_FETCH;
    finding->part = PT_PART_computing;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        const double s = fmax(in_part_s[0][waits[i]], in_part_s[1][waits[i]]);
        if (s > most_s) {
            most_s = s;
            finding->place_kind = PT_PLACE_FETCH_WAIT;
            finding->part = waits[i];
        }
    }
}

bool pt_rule_steps_wait_for_data(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    if (!pt_steps_wait_for_data(profile, finding) || is_told_by_workers(profile, finding))
        return false;
    /* The first batch of each epoch is another matter: slow_first_batches. */
    finding->gain_upper_s = pt_finding_number(finding, metrics, "training.waits.cost_s");
    pt_bound_by_idle_gpu(profile, finding->gain_upper_s, finding);
    finding->is_wait = true;
    pt_finding_add_metrics(finding, metrics,
                           "data_s:training.data_s share_percent:training.dataloader_percent "
                           "training_s:training.total_s workers:training.workers.count data_set:training.data_set "
                           "samples_per_s:training.samples_per_s");
    pt_finding_add_rows(finding, metrics, "training.epochs", "data_s");
    finding->place_kind = PT_PLACE_WORKERS;
    if (pt_finding_number(finding, metrics, "training.workers.count") != 0) /* or not known */
        return true;
    find_in_own_loader(profile, stage, finding);
    finding->title = "Training steps wait while the same process loads their data";
    /* On one CPU they would compute in turn with the training. */
    finding->remedy = finding->part == PT_PART_computing && pt_cpus_of_loader(profile, finding) < 2
                          ? "make a sample cheaper: do once what is the same in each epoch, and store it; more CPUs"
                          : "load the next batches in other processes: DataLoader(num_workers=2 or more)";
    return true;
}

/* Spawned workers import the program, and unpickle the data set: forked ones have both. */
static void say_what_is_pickled(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const double pickling_s = pt_pickling_at_start_s(profile, stage, finding->gain_upper_s);
    if (!(pickling_s > 0))
        return;
    finding->title = "Each epoch starts its workers anew: the data set is pickled to each of them";
    finding->remedy = "DataLoader(persistent_workers=True); hand over arrays or a file's name, no lists of objects";
    finding->advice =
        "Workers that are spawned import the program and unpickle the whole data set: keep them between epochs "
        "(persistent_workers=True), make them by fork, which hands over nothing (multiprocessing_context=\"fork\"; not "
        "where "
        "CUDA or threads were used before), or "
        "keep "
        "large lists out of the data set: NumPy arrays, a file that __getitem__ opens, shared memory. Kept workers "
        "hold "
        "the data set as it was: what the program changes in it between epochs (set_epoch, a curriculum) then reaches "
        "them only through shared memory (multiprocessing.Value).";
    pt_finding_add_evidence(finding, "pickling_s", pt_real(pickling_s));
}

bool pt_rule_slow_first_batches(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    /* Without workers there is nothing to keep: the first batch takes as long as each. */
    if (!(pt_finding_number(finding, metrics, "training.late_starts_percent") >= LEAST_LATE_PERCENT) ||
        pt_finding_number(finding, metrics, "training.workers.count") == 0)
        return false;
    finding->gain_upper_s = pt_finding_number(finding, metrics, "training.restarts.cost_s");
    pt_finding_add_metrics(finding, metrics,
                           "first_batches_s:training.late_starts_s ends_s:training.ends_s trained_epochs:epochs.count "
                           "step_s:steps.p50_s workers:training.workers.count data_set:training.data_set "
                           "where:training.epochs.place");
    pt_finding_add_rows(finding, metrics, "training.epochs", "first_batch_s");
    if (!(pt_finding_number(finding, metrics, "training.workers.kept_percent") > 0))
        say_what_is_pickled(profile, stage, finding);
    return true;
}

bool pt_rule_batches_of_one(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    const double steps = pt_finding_number(finding, metrics, "steps.count");
    const double forward_s = pt_finding_number(finding, metrics, "training.forward_s");
    /* On a GPU the forward pass only launches: with a GPU that works meanwhile, one sample is work enough. */
    if (pt_finding_number(finding, metrics, "gpu.gaps.busy_percent") >= MOST_BUSY_PERCENT)
        return false;
    if (!(pt_finding_number(finding, metrics, "training.ones_percent") >= 90) || !(steps >= FEWEST_BATCHES) ||
        !(forward_s / steps < MOST_FORWARD_S))
        return false;
    finding->gain_upper_s = fmin(pt_finding_number(finding, metrics, "training.per_step.cost_s"),
                                 pt_finding_number(finding, metrics, "gpu.gaps.all_s")); /* NAN: no GPU */
    pt_finding_add_metrics(finding, metrics,
                           "steps:steps.count step_s:steps.p50_s forward_s:training.forward_s "
                           "samples_per_s:training.samples_per_s data_set:training.data_set");
    return true;
}

/* An interpreter has to begin, and at its end what was imported is taken apart: measured with PyTorch, a third of the
 * imports. */
#define TO_BEGIN_AND_END 1.3

static void say_that_they_import_again(struct pt_finding *finding, double again_s)
{
    finding->is_observation = false;
    finding->with_what_follows = TO_BEGIN_AND_END;
    finding->gain_upper_s = TO_BEGIN_AND_END * again_s;
    finding->title = "Commands that follow each other import their modules anew";
    finding->remedy = "one process for all of them: call the function instead of the command, or a pool that stays";
    finding->advice =
        "Each new interpreter imports all modules again: do the work of all these commands in one process (import the "
        "script and call its function, multiprocessing.Pool, a process that takes the next job from a queue), or "
        "import less; python -X importtime lists each module.";
}

bool pt_rule_importing(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const double imports_s = pt_finding_number(finding, metrics, "python.imports.total_s");
    if (stage < 0 || !(imports_s >= LEAST_IMPORTS_S) || !(imports_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    finding->is_observation = true;
    finding->time_s = imports_s;
    const double again_s = pt_finding_number_or_0(finding, metrics, "python.imports.again_s");
    if (again_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding))
        say_that_they_import_again(finding, again_s);
    pt_finding_add_metrics(finding, metrics, "imports_s:python.imports.total_s modules:python.imports.most");
    return true;
}

static double parts_s(const struct pt_finding *finding, const struct pt_metrics *metrics,
                      const enum pt_time_part *parts, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += pt_finding_number_or_0(finding, metrics, pt_time_parts[parts[i]].metric);
    return s;
}

/* What the main thread waits for has a line of its own. Waits for workers are phases of their own where a loader is
 * known. The account is the stage's: before and behind the training, where it imports nothing, it may have waited all
 * the time, but not for a GPU. */
static double waits_s(const struct pt_profile *profile, const struct pt_finding *finding, double training_s)
{
    static const enum pt_time_part parts[] = {PT_PART_network, PT_PART_sleep,    PT_PART_lock,
                                              PT_PART_idle,    PT_PART_gil_wait, PT_PART_child_wait};
    static const enum pt_time_part of_workers[] = {PT_PART_data_wait, PT_PART_workers}, of_gpu[] = {PT_PART_gpu_wait};
    const struct pt_metrics *metrics = &profile->metrics;
    const double workers_s = parts_s(finding, metrics, of_workers, sizeof of_workers / sizeof *of_workers) -
                             pt_finding_number_or_0(finding, metrics, "training.data_s");
    const double all_s = parts_s(finding, metrics, parts, sizeof parts / sizeof *parts) + fmax(workers_s, 0);
    const double outside_s = pt_own_wall_s(profile, finding) - training_s -
                             pt_finding_number_or_0(finding, metrics, "python.imports.total_s");
    return parts_s(finding, metrics, of_gpu, 1) + fmax(all_s - fmax(outside_s, 0), 0);
}

/* An observation: whether a program needs it, nobody else knows. What it waits for, and checkpoints, have lines of
 * their own. The CPU time is held against that of the training: on a busy machine it is less than the time. */
bool pt_rule_beside_the_steps(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const double training_s = pt_finding_number(finding, metrics, "training.length_s");
    if (stage < 0 || !(training_s > 0))
        return false;
    const double other_s =
        pt_finding_number(finding, metrics, "training.beside_s") - waits_s(profile, finding, training_s);
    const double cpu_s = stacks_s(profile, stage, PT_STACK_TRAINING_S);
    const double beside_s = stacks_s(profile, stage, PT_STACK_BESIDE_S);
    if (!(100 * other_s >= LEAST_BESIDE_PERCENT * training_s) ||
        !(other_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)) || !(beside_s > 0) ||
        !(beside_s >= cpu_s * other_s / training_s / 2))
        return false;
    finding->is_observation = true;
    finding->time_s = other_s;
    pt_finding_add_metrics(finding, metrics,
                           "other_s:training.other_s share_percent:training.other_percent steps:steps.count "
                           "training_s:training.total_s");
    return true;
}

/* In which phase of its steps the late rank takes longer than the others do; they wait for it in the backward pass. */
static void name_late_phase(struct pt_metrics *metrics, pt_u32 stage, double late, struct pt_finding *finding)
{
    static const char *const phases[][2] = {
        {"data_s", "data"}, {"forward_s", "forward"}, {"optimizer_s", "optimizer"}, {"other_s", "other"}};
    const struct pt_table *ranks = pt_view_rows(metrics, stage, PT_VIEW_training_processes);
    double most_s = 0;
    const char *where = NULL;
    for (size_t i = 0; ranks && i < sizeof phases / sizeof *phases; i++) {
        double late_s = 0, others_s = 0;
        for (size_t row = 0; row < ranks->n_rows; row++) {
            const double s = pt_table_number(ranks, row, phases[i][0]);
            const struct pt_value rank = pt_table_cell(ranks, row, "rank");
            const bool is_late = rank.type != PT_VALUE_UNKNOWN && pt_value_number(rank) == late;
            late_s += is_late ? s : 0;
            others_s += is_late ? 0 : s;
        }
        const double beyond_s = ranks->n_rows > 1 ? late_s - others_s / (double)(ranks->n_rows - 1) : 0;
        if (beyond_s > most_s) {
            most_s = beyond_s;
            where = phases[i][1];
        }
    }
    if (where)
        pt_finding_add_evidence(finding, "late_in", pt_text(where));
}

/* Whether what it does more than the others, in its own code, is what it is late for. On a machine that others keep
 * busy it queues several times as long as it computes. */
static bool is_late_in_code(const struct pt_profile *profile, pt_i64 stage, double late_s)
{
    double s = 0;
    for (size_t i = 0; i < profile->stacks.n; i++)
        s += (pt_i64)profile->stacks.items[i].stage == stage ? profile->stacks.items[i].cost[PT_STACK_RANK_S] : 0;
    return s >= late_s / 5;
}

/* Where a GPU's collectives say it, they are nearer to it. */
bool pt_rule_rank_imbalance(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    if (stage < 0 || !(pt_finding_number(finding, metrics, "ranks.count") >= 2) ||
        !(pt_finding_number(finding, metrics, "ranks.imbalance_percent") >= 20) ||
        pt_finding_number(finding, metrics, "gpu.collectives.ranks.count") >= 2)
        return false;
    const double late = pt_finding_number(finding, metrics, "ranks.late");
    finding->gain_upper_s = pt_finding_number(finding, metrics, "ranks.imbalance.cost_s");
    finding->title = pt_finding_number(finding, metrics, "ranks.count") > 2
                         ? pt_metrics_format(metrics, "Rank %.0f has more to do: the other ranks wait for it", late)
                         : pt_metrics_format(metrics, "Rank %.0f has more to do: rank %.0f waits for it", late,
                                             pt_finding_number(finding, metrics, "ranks.waits_most"));
    pt_finding_add_metrics(finding, metrics,
                           "ranks:ranks.count late_rank:ranks.late most_s:ranks.most_s least_s:ranks.least_s");
    name_late_phase(metrics, (pt_u32)stage, late, finding);
    if (!is_late_in_code(profile, stage,
                         pt_finding_number_or_0(finding, metrics, "ranks.most_s") -
                             pt_finding_number_or_0(finding, metrics, "ranks.least_s")))
        finding->place_kind = PT_PLACE_NOWHERE;
    pt_finding_add_rows(finding, metrics, "ranks", "waited_s");
    return true;
}
