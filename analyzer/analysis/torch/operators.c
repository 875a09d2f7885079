/* SPDX-License-Identifier: MIT
 *
 * PyTorch's operators in the windows of PROFTRACE_WINDOW: by name, by shapes and by epoch, and the windows themselves.
 *
 * Threads: one. State: sums by name; one window in memory at a time. Never: takes a profiler's trace for more than a
 * hostile file; counts one of a process that is not in the run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/events.h"
#include "proftrace/payloads.h"
#include "proftrace/phases.h"
#include "analysis/analysis.h"
#include "profile/window_process.h"
#include "profile/process_name.h"
#include "operator_sums.h"

enum { MOST_OPERATORS = 100, MOST_WINDOWS = 200, MOST_PROBLEMS = 50 };

struct seen_window {
    const char *name, *file, *problem; /* file, problem: NULL = none */
    pt_u32 stage, pid;
    const struct pt_process *process;
    pt_u64 steps, operators, parameters, left_out;
    pt_i64 start_ns, steps_ns, operators_ns;
    double flops;            /* NAN = not known */
    double peak_flops_per_s; /* 0 = not known */
};

struct stage_sums {
    pt_i64 operators_ns, gpu_ns; /* self time of all: shares are of it */
    bool has_memory, has_shapes;
    pt_u32 first_epoch, last_epoch; /* 0 = no window is of an epoch */
    pt_u32 n_windows, n_problems;   /* ever */
};

struct operators {
    struct pt_profile *profile;
    struct pt_operator_sums by_name, by_shapes, by_epoch;
    struct stage_sums *stages;
    struct pt_map steps; /* stage << 32 | epoch -> steps in its windows */
    struct {
        PT_VEC(struct seen_window);
    } windows;
};

/* ---- reading ---- */

static const char *name_of(struct pt_metrics *metrics, const struct pt_torch_window *window)
{
    if (window->kind == PT_TORCH_VALIDATION)
        return pt_metrics_format(metrics, "validation after step %llu", (unsigned long long)window->first_step);
    /* As everywhere, the first step of a run is 1. */
    const unsigned long long first = window->first_step + 1, last = first + (window->steps ? window->steps - 1 : 0);
    const char *steps = last > first ? pt_metrics_format(metrics, "steps %llu to %llu", first, last)
                                     : pt_metrics_format(metrics, "step %llu", first);
    return window->kind == PT_TORCH_EPOCH ? pt_metrics_format(metrics, "epoch %u, %s", window->epoch, steps) : steps;
}

/* Those with a problem do not lose their places to the others, nor the other way round. */
static void add_window(struct operators *operators, const struct seen_window *window)
{
    struct stage_sums *stage = &operators->stages[window->stage];
    if (window->problem ? stage->n_problems++ < MOST_PROBLEMS : stage->n_windows++ < MOST_WINDOWS)
        pt_vec_push(&operators->windows, *window);
}

static void sum_up(struct operators *operators, const struct pt_torch_window *window, pt_u32 stage,
                   struct seen_window *seen)
{
    struct stage_sums *sums = &operators->stages[stage];
    const struct pt_torch_span *span;
    seen->flops = NAN;
    pt_vec_each(span, &window->spans)
    {
        if (!pt_is_operator(span))
            continue;
        seen->operators++;
        *(span->kind == PT_TORCH_KERNEL ? &sums->gpu_ns : &seen->operators_ns) += span->self_ns;
        if (!isnan(span->flops))
            seen->flops = isnan(seen->flops) ? span->flops : seen->flops + span->flops;
    }
    sums->operators_ns += seen->operators_ns;
    sums->has_memory |= window->has_memory;
    sums->has_shapes |= window->has_shapes;
    pt_operator_sums_add(&operators->by_name, window, stage, PT_BY_NAME);
    pt_operator_sums_add(&operators->by_shapes, window, stage, PT_BY_SHAPES);
    if (window->kind == PT_TORCH_VALIDATION || !window->epoch)
        return;
    if (!sums->first_epoch || window->epoch < sums->first_epoch)
        sums->first_epoch = window->epoch;
    if (window->epoch > sums->last_epoch)
        sums->last_epoch = window->epoch;
    *pt_map_at(&operators->steps, (pt_u64)stage << 32 | window->epoch) += window->steps;
    pt_operator_sums_add(&operators->by_epoch, window, stage, PT_BY_EPOCH);
}

static void seen(void *context, const struct pt_torch_window *window, const char *file, const struct pt_error *problem)
{
    struct operators *operators = context;
    struct pt_profile *profile = operators->profile;
    struct seen_window row = {.file = pt_metrics_text(&profile->metrics, file), .flops = NAN};
    pt_i64 shift_ns = 0;
    row.process = window ? pt_window_process(profile->session, window, &shift_ns) : NULL;
    if (!row.process) {
        row.problem =
            pt_metrics_text(&profile->metrics, window ? "of a process that is not in this run" : problem->text);
        add_window(operators, &row);
        return;
    }
    row.stage = pt_profile_stage_of(profile, row.process);
    row.pid = row.process->pid;
    row.start_ns = window->start_ns + shift_ns;
    row.name = name_of(&profile->metrics, window);
    row.steps = window->steps;
    row.steps_ns = window->steps ? window->steps_ns : window->end_ns - window->start_ns;
    row.parameters = window->parameters;
    row.peak_flops_per_s = window->peak_flops_per_s;
    row.left_out = window->left_out;
    if (window->is_cut)
        row.problem = "its file is not whole";
    sum_up(operators, window, row.stage, &row);
    add_window(operators, &row);
}

static void begin(void *state, struct pt_profile *profile)
{
    struct operators *operators = state;
    operators->profile = profile;
    operators->stages = pt_calloc(profile->stages.n ? profile->stages.n : 1, sizeof *operators->stages);
    if (profile->stages.n)
        pt_torch_windows_each(profile->session->path, seen, operators);
}

/* Why there is none: said in a phase's name. */
static void event(void *state, const struct pt_event *e)
{
    struct operators *operators = state;
    if (e->desc->kind != PT_KIND_phase_begin || e->tag != PT_PHASE_profiler)
        return;
    const char *name = pt_process_string(e->process, e->aux);
    if (!name || !strcmp(name, "start") || !strcmp(name, "write"))
        return;
    add_window(operators, &(struct seen_window){.name = "none",
                                                .problem = name,
                                                .process = e->process,
                                                .pid = e->process->pid,
                                                .flops = NAN,
                                                .stage = pt_profile_stage_of(operators->profile, e->process),
                                                .start_ns = e->start_ns});
}

/* ---- tables ---- */

struct operator_row {
    const char *operator_name, *shapes, *where;
    pt_u64 calls;
    double self_s, total_s, percent;
    struct pt_value flops, self_bytes, peak_bytes;
};

static const struct pt_column operator_columns[] = {
    PT_COLUMN_AT(struct operator_row, operator_name, "operator", TEXT, "Operator"),
    PT_COLUMN_AT(struct operator_row, where, "on", TEXT, "On"),
    PT_COLUMN(struct operator_row, percent, PERCENT, "Share"),
    PT_COLUMN(struct operator_row, self_s, SECONDS, "Self"),
    PT_COLUMN(struct operator_row, total_s, SECONDS, "Total"),
    PT_COLUMN(struct operator_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct operator_row, flops, NUMBER, "FLOPs"),
    PT_COLUMN(struct operator_row, self_bytes, BYTES, "Allocated"),
    PT_COLUMN(struct operator_row, peak_bytes, BYTES, "Held at most"),
};
static const struct pt_column shape_columns[] = {
    PT_COLUMN_AT(struct operator_row, operator_name, "operator", TEXT, "Operator"),
    PT_COLUMN(struct operator_row, shapes, TEXT, "Shapes of inputs"),
    PT_COLUMN(struct operator_row, percent, PERCENT, "Share"),
    PT_COLUMN(struct operator_row, self_s, SECONDS, "Self"),
    PT_COLUMN(struct operator_row, total_s, SECONDS, "Total"),
    PT_COLUMN(struct operator_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct operator_row, flops, NUMBER, "FLOPs"),
};
static const struct pt_table_kind operators_kind = {PT_VIEW_operators, .most = MOST_OPERATORS,
                                                    PT_COLUMNS(operator_columns)};
static const struct pt_table_kind shapes_kind = {PT_VIEW_operator_shapes, .most = MOST_OPERATORS,
                                                 PT_COLUMNS(shape_columns)};

static double share(pt_i64 part_ns, pt_i64 all_ns)
{
    return all_ns > 0 ? 100.0 * (double)part_ns / (double)all_ns : 0;
}

static void add_operators(struct operators *operators, struct pt_operator_sums *sums, const struct pt_table_kind *kind)
{
    struct pt_metrics *metrics = &operators->profile->metrics;
    const struct pt_operator_sum *sum;
    pt_operator_sums_sort(sums);
    struct pt_rows rows = {0};
    pt_u32 stage = UINT32_MAX;
    pt_vec_each(sum, sums)
    {
        const struct stage_sums *all = &operators->stages[sum->stage];
        if (sum->stage != stage)
            rows = pt_rows(metrics, pt_scope_stage(stage = sum->stage), kind);
        if (!pt_rows_have_room(&rows))
            continue;
        pt_rows_add(&rows,
                    &(struct operator_row){
                        .operator_name = pt_metrics_text(metrics, sum->name),
                        .shapes = sum->shapes ? pt_metrics_text(metrics, sum->shapes) : NULL,
                        .where = sum->is_gpu ? "GPU" : "CPU",
                        .calls = sum->calls,
                        .self_s = (double)sum->self_ns / 1e9,
                        .total_s = (double)sum->total_ns / 1e9,
                        .percent = share(sum->self_ns, sum->is_gpu ? all->gpu_ns : all->operators_ns),
                        .flops = !isnan(sum->flops) ? pt_real(sum->flops)
                                                    : pt_unknown(all->has_shapes ? "no formula for this operator"
                                                                                 : "record_shapes was not asked for"),
                        .self_bytes =
                            all->has_memory ? pt_real(sum->self_bytes) : pt_unknown("profile_memory was not asked for"),
                        .peak_bytes = sum->peak_bytes >= 0 ? pt_real(sum->peak_bytes)
                                      : all->has_memory    ? pt_unknown("it allocated nothing")
                                                           : pt_unknown("profile_memory was not asked for"),
                    });
    }
}

struct epoch_row {
    const char *operator_name;
    pt_u64 epoch, calls;
    double self_s_per_step;
    struct pt_value change_percent;
};

static const struct pt_column epoch_columns[] = {
    PT_COLUMN_AT(struct epoch_row, operator_name, "operator", TEXT, "Operator"),
    PT_COLUMN(struct epoch_row, epoch, NUMBER, "Epoch"),
    PT_COLUMN(struct epoch_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct epoch_row, self_s_per_step, SECONDS, "Self for each step"),
    PT_COLUMN(struct epoch_row, change_percent, PERCENT, "More than in the first"),
};
static const struct pt_table_kind epochs_kind = {PT_VIEW_operator_epochs, .most = MOST_OPERATORS,
                                                 PT_COLUMNS(epoch_columns)};

static double seconds_of_step(struct operators *operators, const struct pt_operator_sum *sum)
{
    const pt_u64 *steps = pt_map_find(&operators->steps, (pt_u64)sum->stage << 32 | sum->epoch);
    return steps && *steps ? (double)sum->self_ns / 1e9 / (double)*steps : 0;
}

static const struct pt_operator_sum *same_in_first(struct operators *operators, const struct pt_operator_sum *sum)
{
    const struct pt_operator_sum *other;
    pt_vec_each(other, &operators->by_epoch) if (other->stage == sum->stage &&
                                                 other->epoch == operators->stages[sum->stage].first_epoch &&
                                                 other->is_gpu == sum->is_gpu &&
                                                 !strcmp(other->name, sum->name)) return other;
    return NULL;
}

/* Only where there is something to compare. */
static void add_epochs(struct operators *operators)
{
    struct pt_metrics *metrics = &operators->profile->metrics;
    const struct pt_operator_sum *sum;
    pt_operator_sums_sort(&operators->by_epoch);
    struct pt_rows rows = {0};
    pt_u32 stage = UINT32_MAX, epoch = 0, n = 0;
    pt_vec_each(sum, &operators->by_epoch)
    {
        const struct stage_sums *all = &operators->stages[sum->stage];
        if (all->first_epoch == all->last_epoch)
            continue;
        if (sum->stage != stage)
            rows = pt_rows(metrics, pt_scope_stage(stage = sum->stage), &epochs_kind), epoch = 0;
        n = sum->epoch == epoch ? n + 1 : 0;
        epoch = sum->epoch;
        if (n >= 10 || !pt_rows_have_room(&rows))
            continue;
        const struct pt_operator_sum *first = same_in_first(operators, sum);
        const double s = seconds_of_step(operators, sum), first_s = first ? seconds_of_step(operators, first) : 0;
        pt_rows_add(&rows, &(struct epoch_row){
                               .operator_name = pt_metrics_text(metrics, sum->name),
                               .epoch = sum->epoch,
                               .calls = sum->calls,
                               .self_s_per_step = s,
                               .change_percent = first_s > 0 && s > 0 ? pt_real(100 * (s / first_s - 1))
                                                                      : pt_unknown("it was not called there"),
                           });
    }
}

struct window_row {
    const char *window, *process, *file, *problem;
    struct pt_value pid, steps, step_s, operators, operators_s, flops_per_step, flops_per_parameter, flops_per_s,
        flops_utilization_percent;
    pt_u64 left_out;
};

static const struct pt_column window_columns[] = {
    PT_COLUMN(struct window_row, window, TEXT, "Window"),
    PT_COLUMN(struct window_row, process, TEXT, "Process"),
    PT_COLUMN(struct window_row, pid, NUMBER, NULL),
    PT_COLUMN(struct window_row, steps, COUNT, "Steps"),
    PT_COLUMN(struct window_row, step_s, SECONDS, "Each"),
    PT_COLUMN(struct window_row, operators, COUNT, "Operators"),
    PT_COLUMN(struct window_row, operators_s, SECONDS, "In operators"),
    PT_COLUMN(struct window_row, flops_per_step, NUMBER, "FLOPs of a step"),
    PT_COLUMN(struct window_row, flops_per_parameter, NUMBER, "For each parameter"),
    PT_COLUMN(struct window_row, flops_per_s, PER_SECOND, "FLOPs a second"),
    PT_COLUMN(struct window_row, flops_utilization_percent, PERCENT, NULL),
    PT_COLUMN(struct window_row, left_out, COUNT, NULL),
    PT_COLUMN(struct window_row, problem, TEXT, "Problem"),
    PT_COLUMN(struct window_row, file, TEXT, "File"),
};
static const struct pt_table_kind windows_kind = {PT_VIEW_profiler_windows, .most = MOST_WINDOWS + MOST_PROBLEMS,
                                                  PT_COLUMNS(window_columns)};

static int by_stage_and_time(const void *a, const void *b)
{
    const struct seen_window *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* What is known of a window without a file: nothing but why. */
static struct window_row row_without(struct pt_profile *profile, const struct seen_window *window)
{
    const struct pt_value none = pt_unknown("there is no window");
    return (struct window_row){
        .window = window->name ? window->name : "unreadable",
        .process = window->process ? pt_process_name(profile, window->process) : NULL,
        .pid = window->process ? pt_integer(window->pid) : none,
        .file = window->file,
        .problem = window->problem,
        .steps = none,
        .step_s = none,
        .operators = none,
        .operators_s = none,
        .flops_per_step = none,
        .flops_per_parameter = none,
        .flops_per_s = none,
        .flops_utilization_percent = none,
    };
}

static void set_flops(struct window_row *row, const struct seen_window *window)
{
    const double of_step = window->flops / (window->steps ? (double)window->steps : 1);
    row->flops_utilization_percent =
        pt_unknown("PROFTRACE_WINDOW does not say how many the device can do at most (peak_gflops)");
    if (isnan(window->flops)) {
        row->flops_per_step = row->flops_per_parameter = row->flops_per_s =
            pt_unknown("no operator with known FLOPs, or record_shapes was not asked for");
        return;
    }
    row->flops_per_step = pt_real(of_step);
    row->flops_per_parameter = window->parameters ? pt_real(of_step / (double)window->parameters)
                                                  : pt_unknown("no optimizer said how many there are");
    row->flops_per_s = window->steps_ns > 0 ? pt_real(window->flops / ((double)window->steps_ns / 1e9))
                                            : pt_unknown("it took no time");
    if (!(window->peak_flops_per_s > 0) || window->steps_ns <= 0)
        return;
    const double percent = 100 * window->flops / ((double)window->steps_ns / 1e9) / window->peak_flops_per_s;
    row->flops_utilization_percent =
        percent <= 100 ? pt_real(percent)
                       : pt_unknown("it did more than peak_gflops of PROFTRACE_WINDOW says is possible");
}

static struct window_row row_of(struct pt_profile *profile, const struct seen_window *window)
{
    struct window_row row = row_without(profile, window);
    if (!window->name || !window->file)
        return row;
    row.left_out = window->left_out;
    row.steps = pt_integer(window->steps);
    row.step_s = window->steps ? pt_real((double)window->steps_ns / 1e9 / (double)window->steps)
                               : pt_unknown("no whole step is in it");
    row.operators = pt_integer(window->operators);
    row.operators_s = pt_seconds(window->operators_ns);
    set_flops(&row, window);
    return row;
}

static void add_windows(struct operators *operators)
{
    struct pt_profile *profile = operators->profile;
    struct pt_rows rows = {0};
    pt_u32 stage = UINT32_MAX;
    const struct seen_window *window;
    if (operators->windows.n)
        qsort(operators->windows.items, operators->windows.n, sizeof *operators->windows.items, by_stage_and_time);
    pt_vec_each(window, &operators->windows)
    {
        if (window->stage != stage)
            rows = pt_rows(&profile->metrics, pt_scope_stage(stage = window->stage), &windows_kind);
        const struct window_row row = row_of(profile, window);
        const struct stage_sums *all = &operators->stages[stage];
        pt_rows_add(&rows, &row);
        rows.table->rows_left_out = all->n_windows + all->n_problems - rows.table->n_rows;
    }
}

static void finish(void *state, struct pt_profile *profile)
{
    struct operators *operators = state;
    (void)profile;
    add_operators(operators, &operators->by_name, &operators_kind);
    add_operators(operators, &operators->by_shapes, &shapes_kind);
    add_epochs(operators);
    add_windows(operators);
    pt_operator_sums_fini(&operators->by_name);
    pt_operator_sums_fini(&operators->by_shapes);
    pt_operator_sums_fini(&operators->by_epoch);
    pt_map_fini(&operators->steps);
    free(operators->windows.items);
    free(operators->stages);
}

const struct pt_analysis pt_analysis_operators = {
    .name = "operators",
    .summary = "operators of PyTorch in profiler windows",
    .categories = PT_CATEGORY_USER,
    .state_size = sizeof(struct operators),
    .begin = begin,
    .event = event,
    .finish = finish,
};
