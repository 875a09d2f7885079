/* SPDX-License-Identifier: MIT
 *
 * Owns: the tables of epochs, validation passes and slow steps, and of what each process that trains did. Threads: one.
 * Never: has a row for each step.
 */
#include "pass_tables.h"

#include <stdlib.h>
#include <string.h>

#include "profile/process_name.h"

enum { MOST_PASSES = 200, MOST_PROCESSES = 256 };

/* ---- passes over data ---- */

struct pass_row {
    pt_u32 number, pid;
    const char *data;
    double start_s, duration_s;
    pt_u64 batches, steps;
    struct pt_value samples, samples_per_s;
    double first_batch_s, data_s, forward_s, backward_s, optimizer_s, other_s, dataloader_time_pct;
    bool is_complete;
};

static const struct pt_column pass_columns[] = {
    PT_COLUMN(struct pass_row, number, COUNT, "Number"),
    PT_COLUMN(struct pass_row, duration_s, SECONDS, "Took"),
    PT_COLUMN(struct pass_row, steps, COUNT, "Steps"),
    PT_COLUMN(struct pass_row, samples_per_s, PER_SECOND, "Samples/s"),
    PT_COLUMN(struct pass_row, dataloader_time_pct, PERCENT, "Data share"),
    PT_COLUMN(struct pass_row, first_batch_s, SECONDS, "First batch"),
    PT_COLUMN(struct pass_row, data_s, SECONDS, "Getting data"),
    PT_COLUMN(struct pass_row, forward_s, SECONDS, "Forward"),
    PT_COLUMN(struct pass_row, backward_s, SECONDS, "Backward"),
    PT_COLUMN(struct pass_row, optimizer_s, SECONDS, "Optimizer"),
    PT_COLUMN(struct pass_row, other_s, SECONDS, "Other"),
    PT_COLUMN(struct pass_row, batches, COUNT, "Batches"),
    PT_COLUMN(struct pass_row, samples, COUNT, "Samples"),
    PT_COLUMN(struct pass_row, data, TEXT, "Data set"),
    PT_COLUMN(struct pass_row, start_s, SECONDS, "Began at"),
    PT_COLUMN(struct pass_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct pass_row, is_complete, BOOL, "To the end"),
};
static const struct pt_table_kind epochs = {PT_VIEW_training_epochs, .most = MOST_PASSES, PT_COLUMNS(pass_columns)};
static const struct pt_table_kind validations = {PT_VIEW_training_validations, .most = MOST_PASSES,
                                                 PT_COLUMNS(pass_columns)};

static const char no_samples[] = "its batches do not say how many samples they hold";

static void add_pass(struct pt_rows *rows, const struct pt_loop_results *loop, const struct pt_pass *pass)
{
    const struct pt_shares shares = pt_shares_of(pass->phase_ns, pass->ns);
    const double s = (double)pass->ns / 1e9;
    if (!pt_rows_have_room(rows))
        return;
    pt_rows_add(rows, &(struct pass_row){
                          .number = pass->number,
                          .pid = loop->process->pid,
                          .data = pass->name ? pt_metrics_text(rows->metrics, pass->name) : "",
                          .start_s = (double)pass->start_ns / 1e9,
                          .duration_s = s,
                          .batches = pass->batches,
                          .steps = pass->steps,
                          .samples = pass->samples ? pt_integer(pass->samples) : pt_unknown(no_samples),
                          .samples_per_s = !pass->samples ? pt_unknown(no_samples)
                                           : pass->ns > 0 ? pt_real((double)pass->samples / s)
                                                          : pt_unknown("it took no time"),
                          .first_batch_s = (double)(pass->start_cost_ns + pass->first_wait_ns) / 1e9,
                          .data_s = (double)shares.ns[PT_SHARE_DATA] / 1e9,
                          .forward_s = (double)shares.ns[PT_SHARE_FORWARD] / 1e9,
                          .backward_s = (double)shares.ns[PT_SHARE_BACKWARD] / 1e9,
                          .optimizer_s = (double)shares.ns[PT_SHARE_OPTIMIZER] / 1e9,
                          .other_s = (double)shares.ns[PT_SHARE_OTHER] / 1e9,
                          .dataloader_time_pct = pt_percent_of(shares.ns[PT_SHARE_DATA], pass->ns),
                          .is_complete = pass->is_exhausted,
                      });
}

void pt_training_pass_tables(const struct pt_trainings *results, pt_u32 stage, const struct pt_world *world)
{
    struct pt_metrics *metrics = &results->profile->metrics;
    struct pt_rows of_epochs = pt_rows(metrics, pt_scope_stage(stage), &epochs);
    struct pt_rows of_validations = pt_rows(metrics, pt_scope_stage(stage), &validations);
    for (pt_u32 i = 0; i < world->n_counted; i++) {
        const struct pt_loop_results *loop = world->counted[i];
        pt_u64 kept[sizeof loop->passes / sizeof *loop->passes] = {0};
        for (size_t j = 0; j < loop->n_kept; j++) {
            const struct pt_pass *pass = &loop->kept[j];
            kept[pass->kind]++;
            if (pass->kind != PT_PASS_ALONGSIDE)
                add_pass(pass->kind == PT_PASS_EPOCH ? &of_epochs : &of_validations, loop, pass);
        }
        pt_rows_leave_out(&of_epochs, loop->passes[PT_PASS_EPOCH] - kept[PT_PASS_EPOCH]);
        pt_rows_leave_out(&of_validations, loop->passes[PT_PASS_VALIDATION] - kept[PT_PASS_VALIDATION]);
    }
}

/* ---- slow steps ---- */

struct step_row {
    pt_u64 step;
    pt_u32 pid;
    struct pt_value epoch;
    double start_s, duration_s;
    bool is_first;
    struct pt_value grew;
    double by_s, data_s, forward_s, backward_s, optimizer_s, other_s;
};

static const struct pt_column step_columns[] = {
    PT_COLUMN(struct step_row, step, COUNT, "Step"),
    PT_COLUMN(struct step_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct step_row, epoch, COUNT, "Epoch"),
    PT_COLUMN(struct step_row, start_s, SECONDS, "Began at"),
    PT_COLUMN(struct step_row, duration_s, SECONDS, "Took"),
    PT_COLUMN(struct step_row, is_first, BOOL, "First"),
    PT_COLUMN(struct step_row, grew, TEXT, "What grew"),
    PT_COLUMN(struct step_row, by_s, SECONDS, "By"),
    PT_COLUMN(struct step_row, data_s, SECONDS, "Getting data"),
    PT_COLUMN(struct step_row, forward_s, SECONDS, "Forward"),
    PT_COLUMN(struct step_row, backward_s, SECONDS, "Backward"),
    PT_COLUMN(struct step_row, optimizer_s, SECONDS, "Optimizer"),
    PT_COLUMN(struct step_row, other_s, SECONDS, "Other"),
};
static const struct pt_table_kind slowest = {PT_VIEW_slowest_steps, .most = PT_SLOWEST_STEPS, PT_COLUMNS(step_columns)};

struct slow_step {
    const struct pt_loop_results *loop;
    const struct pt_step *step;
};

static int by_duration(const void *a, const void *b)
{
    const struct slow_step *x = a, *y = b;
    if (x->step->ns != y->step->ns)
        return x->step->ns < y->step->ns ? 1 : -1;
    return x->step->start_ns > y->step->start_ns ? 1 : -1;
}

/* By more than steps differ anyway. */
static bool is_slow(const struct slow_step *slow)
{
    return (double)slow->step->ns > 1.1 * (double)pt_times_quantile(&slow->loop->pace->durations, 0.5);
}

static void add_slow_step(struct pt_rows *rows, const struct slow_step *slow)
{
    const struct pt_step *step = slow->step;
    const struct pt_shares shares = pt_shares_of(step->phase_ns, step->ns);
    pt_i64 by_ns;
    const enum pt_phase grew = pt_pace_what_grew(slow->loop->pace, step, &by_ns);
    pt_rows_add(rows, &(struct step_row){
                          .step = step->number,
                          .pid = slow->loop->process->pid,
                          .epoch = step->pass ? pt_integer(step->pass) : pt_unknown("no loader was seen"),
                          .start_s = (double)step->start_ns / 1e9,
                          .duration_s = (double)step->ns / 1e9,
                          .is_first = step->is_first,
                          .grew = by_ns <= 0 ? pt_unknown("nothing took longer than usual")
                                  : grew     ? pt_text(pt_phase_names[grew])
                                             : pt_named("other", "outside of phases"),
                          .by_s = (double)by_ns / 1e9,
                          .data_s = (double)shares.ns[PT_SHARE_DATA] / 1e9,
                          .forward_s = (double)shares.ns[PT_SHARE_FORWARD] / 1e9,
                          .backward_s = (double)shares.ns[PT_SHARE_BACKWARD] / 1e9,
                          .optimizer_s = (double)shares.ns[PT_SHARE_OPTIMIZER] / 1e9,
                          .other_s = (double)shares.ns[PT_SHARE_OTHER] / 1e9,
                      });
}

/* ---- processes that train ---- */

struct rank_row {
    struct pt_value rank;
    pt_u32 pid;
    const char *process;
    pt_u64 steps;
    double step_p50_s, step_p95_s, data_s, forward_s, backward_s, optimizer_s, other_s;
    struct pt_value samples_per_s;
};

static const struct pt_column rank_columns[] = {
    PT_COLUMN(struct rank_row, rank, COUNT, "Rank"),
    PT_COLUMN(struct rank_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct rank_row, process, TEXT, "Process"),
    PT_COLUMN(struct rank_row, steps, COUNT, "Steps"),
    PT_COLUMN(struct rank_row, step_p50_s, SECONDS, "Step p50"),
    PT_COLUMN(struct rank_row, step_p95_s, SECONDS, "Step p95"),
    PT_COLUMN(struct rank_row, data_s, SECONDS, "Getting data"),
    PT_COLUMN(struct rank_row, forward_s, SECONDS, "Forward"),
    PT_COLUMN(struct rank_row, backward_s, SECONDS, "Backward"),
    PT_COLUMN(struct rank_row, optimizer_s, SECONDS, "Optimizer"),
    PT_COLUMN(struct rank_row, other_s, SECONDS, "Other"),
    PT_COLUMN(struct rank_row, samples_per_s, PER_SECOND, "Samples/s"),
};
static const struct pt_table_kind by_process = {PT_VIEW_training_processes, .most = MOST_PROCESSES,
                                                PT_COLUMNS(rank_columns)};

static void add_process(struct pt_profile *profile, struct pt_rows *rows, const struct pt_loop_results *loop)
{
    const struct pt_shares shares = pt_shares_of(loop->phase_ns, loop->train_ns);
    const double train_s = (double)loop->train_ns / 1e9;
    pt_rows_add(rows, &(struct rank_row){
                          .rank = loop->process->rank >= 0 ? pt_integer((pt_u64)loop->process->rank)
                                                           : pt_unknown("it has none"),
                          .pid = loop->process->pid,
                          .process = pt_process_name(profile, loop->process),
                          .steps = loop->steps,
                          .step_p50_s = pt_times_quantile_s(&loop->pace->durations, 0.5),
                          .step_p95_s = pt_times_quantile_s(&loop->pace->durations, 0.95),
                          .data_s = (double)shares.ns[PT_SHARE_DATA] / 1e9,
                          .forward_s = (double)shares.ns[PT_SHARE_FORWARD] / 1e9,
                          .backward_s = (double)shares.ns[PT_SHARE_BACKWARD] / 1e9,
                          .optimizer_s = (double)shares.ns[PT_SHARE_OPTIMIZER] / 1e9,
                          .other_s = (double)shares.ns[PT_SHARE_OTHER] / 1e9,
                          .samples_per_s = loop->samples && train_s > 0 ? pt_real((double)loop->samples / train_s)
                                                                        : pt_unknown(no_samples),
                      });
}

void pt_training_step_tables(const struct pt_trainings *results, pt_u32 stage, const struct pt_world *world)
{
    struct pt_metrics *metrics = &results->profile->metrics;
    struct pt_rows steps = pt_rows(metrics, pt_scope_stage(stage), &slowest);
    struct pt_rows processes = pt_rows(metrics, pt_scope_stage(stage), &by_process);
    struct slow_step *slow = pt_calloc((size_t)world->n_counted * PT_SLOWEST_STEPS, sizeof *slow);
    size_t n = 0;
    for (pt_u32 i = 0; i < world->n_counted; i++)
        for (pt_u32 j = 0; j < world->counted[i]->pace->n_slowest; j++)
            slow[n++] = (struct slow_step){world->counted[i], &world->counted[i]->pace->slowest[j]};
    if (n)
        qsort(slow, n, sizeof *slow, by_duration);
    for (size_t i = 0; i < n && i < PT_SLOWEST_STEPS; i++)
        if (is_slow(&slow[i]))
            add_slow_step(&steps, &slow[i]);
    for (pt_u32 i = 0; i < world->n && world->n > 1; i++)
        if (pt_rows_have_room(&processes))
            add_process(results->profile, &processes, world->all[i]);
    free(slow);
}
