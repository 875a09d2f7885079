/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about what steps of a training compute, and what code beside them does. Threads: one. Never: sees an
 * event.
 */
#include <math.h>
#include <string.h>

#include "rules/conditions.h"
#include "rules/custom.h"
#include "rules/general.h"
#include "lists.h"
#include "rules/own_functions.h"

/* What the steps of a training compute. */
struct computed {
    double dispatch_s, python_s, operations_s;
    bool is_in_loading;  /* most of it */
    double least_beside; /* so many times as long as operations is the rest, where these hardly matter */
};

#define LEAST_DISPATCH_PERCENT 10
#define LEAST_BESIDE_OPERATIONS 4
#define LEAST_BESIDE_SOME 2
#define LEAST_OF_CELLS (1.0 / 3) /* as remedies.def asks for */

/* Called once for each step of a sequence: nn.LSTM, nn.GRU and nn.RNN do all of them at once. Before Python 3.11 the
 * method of a cell is called "forward", as theirs is in the same file: there the operation tells. */
static bool is_in_cell(const struct pt_stack *stack)
{
    static const char *const methods[] = {"LSTMCell.forward", "GRUCell.forward", "RNNCell.forward", NULL};
    static const char *const operations[] = {"::lstm_cell", "::gru_cell", "::rnn_tanh_cell", "::rnn_relu_cell", NULL};
    for (pt_u32 i = 0; i < stack->n; i++) {
        const bool is_method = stack->frames[i].flags & PT_FRAME_OF_PYTHON;
        const char *function = stack->frames[i].function;
        for (const char *const *name = is_method ? methods : operations; *name; name++)
            if (is_method ? !strcmp(function, *name) : strstr(function, *name) != NULL)
                return true;
    }
    return false;
}

static bool has_cells(const struct pt_profile *profile, pt_i64 stage)
{
    double all_s = 0, cells_s = 0;
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage != stage || !(stack->cost[PT_STACK_FORWARD_S] > 0))
            continue;
        all_s += stack->cost[PT_STACK_FORWARD_S];
        cells_s += is_in_cell(stack) ? stack->cost[PT_STACK_FORWARD_S] : 0;
    }
    return cells_s > 0 && cells_s >= LEAST_OF_CELLS * all_s;
}

/* Not what is called behind them, nor what a loader does beside a model: larger batches save nothing of either. */
static struct computed in_steps(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    struct computed steps = {
        .dispatch_s = pt_finding_number(finding, metrics, "training.dispatch_s") -
                      pt_finding_number_or_0(finding, metrics, "training.behind.dispatch_s"),
        .python_s = pt_finding_number(finding, metrics, "training.python_s") -
                    pt_finding_number_or_0(finding, metrics, "training.behind.python_s"),
        .operations_s = pt_finding_number(finding, metrics, "training.operations_s") -
                        pt_finding_number_or_0(finding, metrics, "training.behind.operations_s"),
        .is_in_loading = pt_finding_number(finding, metrics, "training.dispatch_in_loading_percent") >= 50,
    };
    if (!steps.is_in_loading) {
        steps.dispatch_s -= pt_finding_number_or_0(finding, metrics, "training.loading.dispatch_s");
        steps.python_s -= pt_finding_number_or_0(finding, metrics, "training.loading.python_s");
    }
    /* Less clearly where samples are made of operations, for the model's are among them; or where cells go through
     * sequences: the backward pass of x[:, t] fills a tensor as large as x with zeros, for each t. */
    const bool is_some = steps.is_in_loading || has_cells(profile, finding->stage);
    steps.least_beside = is_some ? LEAST_BESIDE_SOME : LEAST_BESIDE_OPERATIONS;
    return steps;
}

/* What has a rule of its own: a function that hardly does anything but run Python asks for no operations. */
static double apart_s(struct pt_profile *profile, pt_i64 stage)
{
    struct pt_own_line line;
    struct pt_own_functions functions;
    double most_s = pt_tensors_of_lists_s(profile, stage, &line);
    pt_own_functions(profile, stage, true, &functions);
    for (size_t i = 0; i < functions.n; i++)
        if (pt_own_function_is_python(&functions, &functions.items[i]))
            most_s = fmax(most_s, functions.items[i].with_s);
    pt_own_functions_free(&functions);
    return most_s;
}

/* Operations hardly matter beside what finds out which to do. Where a loader does nearly all, the little that is left
 * says nothing. */
static bool is_dispatch(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const struct computed steps = in_steps(profile, finding);
    const double share = steps.dispatch_s / pt_finding_number(finding, metrics, "training.dispatch_s");
    return share * pt_finding_number(finding, metrics, "training.dispatch_percent") >= LEAST_DISPATCH_PERCENT &&
           steps.dispatch_s >= steps.python_s / 3 &&
           steps.dispatch_s + steps.python_s >= steps.least_beside * steps.operations_s &&
           !(pt_finding_number(finding, metrics, "gpu.kernels.calls") > 0);
}

/* Of a training on CPUs; where a GPU computes, see gpu_launch_bound. */
bool pt_rule_tiny_operations(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct computed steps = in_steps(profile, finding);
    if (!is_dispatch(profile, finding))
        return false;
    finding->gain_upper_s = steps.dispatch_s + steps.python_s - (steps.is_in_loading ? 0 : apart_s(profile, stage));
    if (finding->gain_upper_s < steps.least_beside * steps.operations_s && !steps.is_in_loading)
        return false;
    pt_finding_add_evidence(finding, "dispatch_s", pt_real(steps.dispatch_s));
    pt_finding_add_evidence(finding, "python_s", pt_real(steps.python_s));
    pt_finding_add_evidence(finding, "operations_s", pt_real(steps.operations_s));
    pt_finding_add_metrics(finding, metrics, "alloc_calls:heap.allocs.calls");
    return true;
}

/* What Python takes beside the steps is an estimate: of less than a quarter it may be what the framework needs. A
 * function that does nothing but compute is known by itself, with the small ones of the program that it calls. */
#define LEAST_PREPARING_PERCENT 25
#define MOSTLY_NATIVE_PERCENT 70
#define LEAST_OF_FUNCTION_PERCENT 10
#define LEAST_FRAMEWORK 0.1
#define ABOUT_THE_SAME 0.9
#define LEAST_OWN 0.5  /* of a step of a training, about a third */
#define MOSTLY_OWN 0.8 /* of what is behind the steps: operations on tensors are the rest */
#define MOSTLY_BEHIND 0.5
#define MOSTLY_LOADING 0.5

static bool keeps_waiting(const struct pt_own_functions *functions, const struct pt_own_function *one)
{
    return !pt_own_function_trains(one) &&
           (pt_own_function_is_leaf(functions, one, LEAST_OWN) || pt_own_function_is_python(functions, one) ||
            pt_own_function_is_behind(functions, one));
}

/* Of functions that cost about the same, each called by the one before, the one that does most itself. With operations
 * on tensors or without: a loop over steps also has those that the model needs. */
static struct pt_own_function costliest_function(struct pt_profile *profile, pt_i64 stage)
{
    struct pt_own_function most = {0};
    struct pt_own_functions functions;
    double most_s = 0, most_beside_s = 0;
    pt_own_functions(profile, stage, true, &functions);
    for (size_t i = 0; i < functions.n; i++)
        if (keeps_waiting(&functions, &functions.items[i])) {
            most_s = fmax(most_s, functions.items[i].with_s);
            most_beside_s = fmax(most_beside_s, functions.items[i].beside_s);
        }
    for (size_t i = 0; i < functions.n; i++) {
        const struct pt_own_function *one = &functions.items[i];
        const bool is_most = one->with_s >= ABOUT_THE_SAME * most_s || one->beside_s >= ABOUT_THE_SAME * most_beside_s;
        if (keeps_waiting(&functions, one) && is_most && (!most.function || one->own_s > most.own_s))
            most = *one;
    }
    pt_own_functions_free(&functions);
    return most;
}

/* Beside workers, which load its data, a process that never steps, and hardly ever asks a framework for anything,
 * trains nothing: its Python is the program. */
static bool trains(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const double framework_s = pt_finding_number(finding, metrics, "training.operations_s") +
                               pt_finding_number(finding, metrics, "training.dispatch_s");
    return pt_finding_number(finding, metrics, "training.optimizer_steps.count") > 0 ||
           !(pt_finding_number(finding, metrics, "helpers.workers.count") > 0) ||
           !(framework_s < LEAST_FRAMEWORK * pt_finding_number(finding, metrics, "training.python_s"));
}

static void set_percent(struct pt_profile *profile, pt_i64 stage, const char *metric, bool is_so)
{
    pt_metrics_set(&profile->metrics, pt_scope_stage((pt_u32)stage), metric, pt_real(is_so ? 100 : 0));
}

/* What is known of the code beside the steps, and where it is called. */
struct whereabouts {
    bool is_native, is_behind, is_in_loading;
};

/* For the remedies: loops in Python are no cause of what native code computes, to write them in NumPy would do nothing;
 * what is called behind the steps prepares no data; what a loader calls does nothing else. */
static void say_what_it_is(struct pt_profile *profile, pt_i64 stage, struct whereabouts code,
                           struct pt_finding *finding)
{
    const bool is_native_loading = code.is_native && code.is_in_loading;
    set_percent(profile, stage, "training.function.native_behind_percent", code.is_native && code.is_behind);
    set_percent(profile, stage, "training.function.native_loading_percent", is_native_loading);
    set_percent(profile, stage, "training.function.mostly_native_percent", code.is_native);
    set_percent(profile, stage, "training.function.behind_percent", code.is_behind);
    if (code.is_native)
        finding->title = is_native_loading ? "Data is loaded in the training process, which does not train meanwhile"
                                           : "Native code beside the model (NumPy's, say) keeps the training waiting";
    if (code.is_behind)
        finding->place_kind = PT_PLACE_BEHIND;
}

/* Seconds that a rule about files names for certain: where it takes a tenth of the stage it fires, however few calls.
 */
static double named_s(const struct pt_profile *profile, const struct pt_finding *finding, const char *metric)
{
    const double s = pt_finding_number_or_0(finding, &profile->metrics, metric);
    return s >= PT_LARGE_PART * pt_own_wall_s(profile, finding) ? s : 0;
}

/* What the function waits for beside its CPU time: calls about files, not other processes, for whoever reads from a
 * loader waits for its workers. `other_rules_s`: of it, what rules about files promise already. */
struct waits {
    double s, other_rules_s;
};

static struct waits waits_of(const struct pt_profile *profile, const struct pt_finding *finding,
                             const struct pt_own_function *function)
{
    const struct {
        enum pt_time_part part;
        double named_s;
    } parts[] = {{PT_PART_file_read, 0},
                 {PT_PART_file_write, named_s(profile, finding, "storage.sync.avoidable_s") +
                                          named_s(profile, finding, "io.write_small.cost_s")},
                 {PT_PART_file_meta, named_s(profile, finding, "meta.changes.cost_s")}};
    struct waits waits = {.s = -function->in_calls_s};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct pt_in_calls calls = pt_own_function_in_calls(profile, finding->stage, function, parts[i].part);
        waits.s += calls.function_s;
        waits.other_rules_s += calls.all_s > 0 ? calls.function_s * fmin(parts[i].named_s / calls.all_s, 1) : 0;
    }
    waits.s = fmax(waits.s, 0);
    return waits;
}

/* What a training does behind its steps, in the loop itself or in functions: all of it, and what is no operation on
 * tensors. */
struct behind {
    double all_s, own_s;
};

static struct behind what_is_behind(const struct pt_profile *profile, pt_i64 stage)
{
    struct behind behind = {0};
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        behind.all_s += (pt_i64)stack->stage == stage ? stack->cost[PT_STACK_BEHIND_S] : 0;
        behind.own_s += (pt_i64)stack->stage == stage ? stack->cost[PT_STACK_BEHIND_OWN_S] : 0;
    }
    return behind;
}

/* Calls are timed on the clock: waiting for CPUs does not stretch them, nor do cold caches. Where they are most of it,
 * all of it is given in seconds of the clock. */
static void set_bound(const struct pt_profile *profile, double function_s, const struct waits *waits, bool is_native,
                      struct pt_finding *finding)
{
    const double stretch = pt_stretch_of(profile, finding);
    const double computed_s = fmax(function_s - fmax(waits->other_rules_s - waits->s, 0) / stretch, 0);
    const double waits_s = fmax(waits->s - waits->other_rules_s, 0) / stretch;
    const double measured_s = fmax(finding->gain_upper_s, computed_s + waits_s);
    finding->gain_upper_s = measured_s;
    if (is_native) {
        finding->gain_upper_s += (measured_s - waits_s) * (PT_WITH_COLD_CACHES - 1);
        finding->with_what_follows = measured_s > 0 ? finding->gain_upper_s / measured_s : 1;
    }
    if (waits_s > computed_s) {
        finding->gain_upper_s *= stretch;
        finding->is_wait = true;
    }
}

static void is_of_function(struct pt_profile *profile, pt_i64 stage, const struct pt_own_function *function,
                           struct pt_finding *finding)
{
    const double function_s = function->with_s - function->modules_s;
    const struct waits waits = waits_of(profile, finding, function);
    const bool is_native = pt_own_function_native_percent(profile, stage, function) >= MOSTLY_NATIVE_PERCENT;
    set_bound(profile, function_s, &waits, is_native, finding);
    finding->in_function = function->function;
    finding->in_file = function->file;
    pt_finding_add_evidence(finding, "function", pt_text(function->function));
    pt_finding_add_evidence(finding, "function_s", pt_real(function_s + waits.s));
    const struct whereabouts code = {is_native, function->behind_s >= MOSTLY_BEHIND * function->with_s,
                                     function->loading_s >= MOSTLY_LOADING * function->with_s};
    say_what_it_is(profile, stage, code, finding);
}

/* Where no function of the program is known for it: all Python that steps do not need, or all that is behind them. */
struct without_function {
    bool is_prepared, is_behind;
    double s;
};

static struct without_function without_function(const struct pt_profile *profile, const struct pt_finding *finding,
                                                bool in_tiny_steps)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const struct behind behind = what_is_behind(profile, finding->stage);
    const double training_s = pt_finding_number(finding, metrics, "training.window_s");
    const double preparing_s = pt_finding_number_or_0(finding, metrics, "training.preparing_s");
    const double percent = pt_finding_number(finding, metrics, "training.preparing_percent");
    const bool is_prepared = !in_tiny_steps && percent >= LEAST_PREPARING_PERCENT;
    const bool is_behind = training_s > 0 && 100 * behind.own_s >= LEAST_PREPARING_PERCENT * training_s &&
                           behind.own_s >= MOSTLY_OWN * behind.all_s;
    return (struct without_function){is_prepared, is_behind && behind.own_s >= preparing_s / 2,
                                     fmax(is_prepared ? preparing_s : 0, is_behind ? behind.all_s : 0)};
}

/* Steps of tiny operations need Python, but for what is behind them. */
static bool is_for_function(const struct pt_finding *finding, const struct pt_metrics *metrics,
                            const struct pt_own_function *function, bool in_tiny_steps)
{
    const double training_s = pt_finding_number(finding, metrics, "training.window_s");
    return training_s > 0 && function->function &&
           (!in_tiny_steps || function->behind_s >= MOSTLY_BEHIND * function->with_s) &&
           100 * (function->with_s - function->modules_s) >= LEAST_OF_FUNCTION_PERCENT * training_s;
}

bool pt_rule_python_in_training(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    if (stage < 0 || !trains(finding, metrics))
        return false;
    const bool in_tiny_steps = is_dispatch(profile, finding);
    const struct pt_own_function function = costliest_function(profile, stage);
    const struct without_function all = without_function(profile, finding, in_tiny_steps);
    const bool by_function = is_for_function(finding, metrics, &function, in_tiny_steps) &&
                             !(function.with_s - function.modules_s < all.s / 2);
    if (!all.is_prepared && !all.is_behind && !by_function)
        return false;
    /* Loading has a rule of its own; what is behind the steps loads nothing. */
    if (pt_finding_number(finding, metrics, "load.in_main.percent") >= 5 && !all.is_behind &&
        !(by_function && function.behind_s >= MOSTLY_BEHIND * function.with_s))
        return false;
    /* What it asks a framework for is for itself, as what it asks NumPy for. */
    finding->gain_upper_s = all.s;
    if (by_function)
        is_of_function(profile, stage, &function, finding);
    else
        say_what_it_is(profile, stage, (struct whereabouts){.is_behind = all.is_behind}, finding);
    pt_bound_by_idle_gpu(profile, finding->gain_upper_s, finding);
    pt_finding_add_metrics(finding, metrics,
                           "preparing_s:training.preparing_s dispatch_s:training.dispatch_s "
                           "operations_s:training.operations_s workers:helpers.workers.at_once");
    return true;
}
