/* SPDX-License-Identifier: MIT
 *
 * Owns: what phases mean for the training loop of their process. Threads: one. Never: takes phases of a thread beside
 * the one that trains for time of a step; their waits for data count as batches all the same.
 */
#include "loop.h"

#include <stdlib.h>
#include <string.h>

#include "evaluation.h"
#include "passes.h"

enum { MOST_OPTIMIZERS = 16, FAR_MORE = 4, SETTLED_STEPS = 2 };

/* Steps of one optimizer, where no loader says what a step is. */
struct by_optimizer {
    struct pt_pace pace;
    pt_u64 optimizer, rival; /* rival: stepped last, though it is another one */
    bool is_open;
    pt_i64 start_ns, validation_ns;
    pt_i64 phase_ns[PT_N_PHASES];
};

struct pt_loop {
    struct pt_loop_results results;
    struct pt_passes passes;
    struct by_optimizer by_optimizer;
    struct pt_evaluation evaluation;
    const struct pt_thread *thread; /* that trains; NULL = not known yet */
    bool thread_is_sure;
    bool is_starting; /* a loader */
    pt_i64 starting_ns[PT_N_PHASES];
    pt_u32 stepping; /* optimizers */
    bool has_closure;
    struct {
        pt_u64 object, backwards; /* backwards: that had ended when it stepped last */
    } optimizers[MOST_OPTIMIZERS];
    pt_u64 steps_when_compiled;
    pt_u64 backwards_before, optimizer_steps_before; /* the train_step that is open */
};

struct pt_loop *pt_loop_new(const struct pt_process *process)
{
    struct pt_loop *loop = pt_calloc(1, sizeof *loop);
    loop->results.process = process;
    loop->passes.results = &loop->results;
    return loop;
}

void pt_loop_free(struct pt_loop *loop)
{
    pt_passes_fini(&loop->passes);
    free(loop);
}

/* What a model computes is a derivative: the forces of atoms, the terms of an equation. It does so in validations, too.
 */
static bool is_derivative(const struct pt_phase_span *phase)
{
    return phase->kind == PT_PHASE_backward && phase->is_in_forward && phase->name && !strcmp(phase->name, "grad");
}

static bool trains_here(struct pt_loop *loop, const struct pt_thread *thread, const struct pt_phase_span *phase)
{
    const bool is_sure = (phase->kind == PT_PHASE_backward && !is_derivative(phase)) ||
                         phase->kind == PT_PHASE_optimizer_step || phase->kind == PT_PHASE_train_step;
    if (!loop->thread || (is_sure && !loop->thread_is_sure))
        loop->thread = thread;
    loop->thread_is_sure |= is_sure;
    return loop->thread == thread;
}

/* ---- steps of optimizers ---- */

/* False for what is no update of its own: DeepSpeed steps one optimizer for each group of its parameters. Where no
 * gradient was ever seen, each is one. */
static bool is_update(struct pt_loop *loop, pt_u64 optimizer)
{
    const pt_u64 n = loop->results.optimizers, backwards = loop->results.backwards;
    for (pt_u64 i = 0; i < n; i++) {
        if (loop->optimizers[i].object != optimizer)
            continue;
        const bool is_new = !backwards || backwards != loop->optimizers[i].backwards;
        loop->optimizers[i].backwards = backwards;
        return is_new;
    }
    if (n < MOST_OPTIMIZERS) {
        loop->optimizers[n].object = optimizer;
        loop->optimizers[n].backwards = backwards;
        loop->results.optimizers++;
    }
    return true;
}

/* Of several optimizers that take turns only one makes steps. */
static bool makes_steps(struct by_optimizer *by, pt_u64 optimizer)
{
    by->optimizer = by->optimizer ? by->optimizer : optimizer;
    if (optimizer != by->optimizer && optimizer != by->rival) {
        by->rival = optimizer;
        return false;
    }
    by->optimizer = optimizer;
    by->rival = 0;
    return true;
}

static void step_of_optimizer(struct pt_loop *loop, pt_u64 optimizer, pt_i64 end_ns)
{
    struct by_optimizer *by = &loop->by_optimizer;
    if (!makes_steps(by, optimizer))
        return;
    const pt_i64 ns = end_ns - by->start_ns - (loop->passes.validation_ns - by->validation_ns);
    struct pt_step step = {.start_ns = by->start_ns, .ns = ns > 0 ? ns : 0, .is_first = !by->pace.n};
    memcpy(step.phase_ns, by->phase_ns, sizeof step.phase_ns);
    pt_pace_add(&by->pace, &step);
    by->start_ns = end_ns;
    by->validation_ns = loop->passes.validation_ns;
    memset(by->phase_ns, 0, sizeof by->phase_ns);
}

static void open_step(struct pt_loop *loop, pt_i64 at_ns)
{
    struct by_optimizer *by = &loop->by_optimizer;
    if (by->is_open)
        return;
    by->is_open = true;
    by->start_ns = at_ns;
    by->validation_ns = loop->passes.validation_ns;
}

/* A model that is called, or data that are moved, before what trains it is imported: no part of a step yet. PyTorch's
 * optimizers import for seconds when the first one is made. */
static void forget_set_up(struct pt_loop *loop, bool is_between)
{
    struct by_optimizer *by = &loop->by_optimizer;
    if (!is_between || by->pace.n || loop->results.backwards)
        return;
    by->is_open = false;
    memset(by->phase_ns, 0, sizeof by->phase_ns);
}

/* ---- evaluations without a loader ---- */

static void add_ns(struct pt_loop *loop, enum pt_phase kind, pt_i64 ns)
{
    struct pt_open_pass *top = pt_passes_top(&loop->passes);
    loop->by_optimizer.phase_ns[kind] += loop->by_optimizer.is_open ? ns : 0;
    if (loop->is_starting)
        loop->starting_ns[kind] += ns;
    else if (top)
        top->batch.phase_ns[kind] += ns;
}

static void close_evaluation(struct pt_loop *loop)
{
    struct pt_pass pass;
    pt_i64 rest_ns[PT_N_PHASES];
    if (!loop->evaluation.is_open)
        return;
    if (pt_evaluation_close(&loop->evaluation, &pass, rest_ns))
        pt_passes_add_validation(&loop->passes, &pass);
    for (pt_u32 kind = 0; kind < PT_N_PHASES; kind++)
        add_ns(loop, kind, rest_ns[kind]);
}

/* The batches of a loader say themselves what is done with them, until that is done. */
static bool may_be_evaluated(struct pt_loop *loop)
{
    const struct pt_open_pass *top = pt_passes_top(&loop->passes);
    return !top || (!top->is_phase && top->batch.backwards);
}

static void end_call(struct pt_loop *loop, const struct pt_phase_span *forward)
{
    if (!forward->is_inner && forward->outcome == PT_PHASE_DONE &&
        !pt_evaluation_call(&loop->evaluation, forward, may_be_evaluated(loop)))
        close_evaluation(loop);
}

static void begin_of_training(struct pt_loop *loop, const struct pt_phase_span *phase, bool is_here)
{
    const enum pt_phase kind = phase->kind;
    const bool is_of_training = kind == PT_PHASE_loader_start || kind == PT_PHASE_data_wait ||
                                kind == PT_PHASE_backward || kind == PT_PHASE_zero_grad ||
                                kind == PT_PHASE_optimizer_step || kind == PT_PHASE_train_step ||
                                kind == PT_PHASE_validation || kind == PT_PHASE_grad_scaling;
    if (is_here && is_of_training && !is_derivative(phase))
        close_evaluation(loop);
}

/* ---- from when until when ---- */

/* Not what is imported or collected before and behind it. */
static bool is_of_time(enum pt_phase kind)
{
    return kind != PT_PHASE_import && kind != PT_PHASE_garbage_collection && kind != PT_PHASE_function &&
           kind != PT_PHASE_profiler;
}

static void note_time(struct pt_loop_results *results, enum pt_phase kind, pt_i64 from_ns, pt_i64 until_ns)
{
    if (!is_of_time(kind))
        return;
    if (!results->until_ns || from_ns < results->from_ns)
        results->from_ns = from_ns;
    if (until_ns > results->until_ns)
        results->until_ns = until_ns;
    if (kind != PT_PHASE_backward && kind != PT_PHASE_optimizer_step && kind != PT_PHASE_train_step)
        return;
    if (!results->steps_until_ns || from_ns < results->steps_from_ns)
        results->steps_from_ns = from_ns;
    if (until_ns > results->steps_until_ns)
        results->steps_until_ns = until_ns;
}

/* ---- phases begin ---- */

void pt_loop_begin(struct pt_loop *loop, const struct pt_thread *thread, const struct pt_phase_span *phase)
{
    const bool is_here = trains_here(loop, thread, phase);
    begin_of_training(loop, phase, is_here);
    switch ((int)phase->kind) {
    case PT_PHASE_loader_start:
        pt_passes_restart(&loop->passes, phase->object, phase->start_ns);
        loop->is_starting |= is_here;
        break;
    case PT_PHASE_data_wait:
        if (!phase->is_inner)
            pt_passes_wait(&loop->passes, phase->object, phase->start_ns);
        open_step(loop, phase->start_ns);
        break;
    case PT_PHASE_validation:
        if (is_here && !phase->is_inner)
            pt_passes_validation_begin(&loop->passes, phase->start_ns);
        break;
    case PT_PHASE_optimizer_step:
        loop->stepping += is_here;
        loop->has_closure &= loop->stepping > 1;
        open_step(loop, phase->start_ns);
        break;
    case PT_PHASE_train_step:
        loop->backwards_before = loop->results.backwards;
        loop->optimizer_steps_before = loop->results.optimizer_steps;
        open_step(loop, phase->start_ns);
        break;
    case PT_PHASE_import:
        forget_set_up(loop, is_here && !phase->depth);
        break;
    case PT_PHASE_transfer:
    case PT_PHASE_forward:
    case PT_PHASE_backward:
    case PT_PHASE_zero_grad:
        open_step(loop, phase->start_ns);
        break;
    default:
        break;
    }
}

/* ---- phases end ---- */

static void add_time(struct pt_loop *loop, const struct pt_phase_span *phase)
{
    const pt_i64 ns = pt_phase_ns(phase) - phase->inner_steps_ns;
    if (ns <= 0 || phase->kind == PT_PHASE_function)
        return;
    if (loop->evaluation.is_open)
        pt_evaluation_add(&loop->evaluation, phase, ns);
    else
        add_ns(loop, phase->kind, ns);
}

/* Keras hands PyTorch what makes its batches in a DataLoader of its own, which has no workers: those of a PyDataset, or
 * of tf.data, are behind it. */
static bool tells_no_workers(const struct pt_phase_span *start)
{
    return start->amount == PT_WORKERS_UNKNOWN ||
           (!start->amount && start->name && !strcmp(start->name, "ConverterIterableDataset"));
}

static void end_start(struct pt_loop *loop, const struct pt_phase_span *phase)
{
    const pt_i64 ns = pt_phase_ns(phase);
    if (phase->is_inner)
        return;
    pt_passes_leave_out(&loop->passes, ns);
    if (phase->outcome == PT_PHASE_DONE) {
        struct pt_open_pass *open = pt_passes_new(&loop->passes, phase->made, phase->object, phase->start_ns);
        open->pass.name = phase->name;
        open->pass.tells_no_workers = tells_no_workers(phase);
        open->pass.workers = open->pass.tells_no_workers ? 0 : (pt_u32)phase->amount;
        open->pass.stack = phase->stack;
        open->pass.ns = open->pass.start_cost_ns = ns;
        memcpy(open->pass.phase_ns, loop->starting_ns, sizeof open->pass.phase_ns);
    }
    loop->is_starting = false;
    memset(loop->starting_ns, 0, sizeof loop->starting_ns);
}

/* An optimizer that calls back for gradients does so as often as it likes: for one step of its own. */
static void end_backward(struct pt_loop *loop)
{
    struct pt_open_pass *top = pt_passes_top(&loop->passes);
    const bool counts = !loop->stepping || !loop->has_closure;
    loop->has_closure |= loop->stepping > 0;
    loop->results.backwards += counts;
    if (top)
        top->batch.backwards += counts;
}

static void end_optimizer_step(struct pt_loop *loop, const struct pt_phase_span *phase)
{
    struct pt_open_pass *top = pt_passes_top(&loop->passes);
    loop->stepping -= loop->stepping > 0;
    if (phase->is_inner || phase->outcome != PT_PHASE_DONE || !is_update(loop, phase->object))
        return;
    loop->results.optimizer_steps++;
    if (top) {
        top->optimizer_steps++;
        top->batch.optimizer_steps++;
    }
    step_of_optimizer(loop, phase->object, phase->end_ns);
}

/* What happened in it is known where the framework computes with PyTorch, whose phases are inside. */
static void end_train_step(struct pt_loop *loop, const struct pt_phase_span *phase)
{
    if (phase->is_inner || phase->outcome != PT_PHASE_DONE)
        return;
    if (loop->results.backwards == loop->backwards_before)
        end_backward(loop);
    if (loop->results.optimizer_steps == loop->optimizer_steps_before)
        end_optimizer_step(loop, phase);
}

static void end_grad_scaling(struct pt_loop *loop, const struct pt_phase_span *phase)
{
    if (phase->amount != 1 || phase->is_inner || !is_update(loop, phase->object))
        return;
    loop->results.skipped_steps++;
    step_of_optimizer(loop, phase->object, phase->end_ns);
}

/* Of graphs that were found in its cache the compiler says so. */
static bool makes_code(const struct pt_phase_span *phase)
{
    return phase->name && !strcmp(phase->name, "inductor") && !phase->amount && !phase->is_inner_of_name &&
           phase->outcome == PT_PHASE_DONE;
}

static void end_compile(struct pt_loop *loop, const struct pt_phase_span *phase)
{
    struct pt_loop_results *results = &loop->results;
    const pt_u64 steps =
        loop->passes.steps.n > loop->by_optimizer.pace.n ? loop->passes.steps.n : loop->by_optimizer.pace.n;
    const struct pt_open_pass *top = pt_passes_top(&loop->passes);
    results->uncached_ns += makes_code(phase) ? pt_phase_ns(phase) : 0;
    if (phase->is_inner)
        return;
    if (!results->compiles++)
        loop->steps_when_compiled = steps;
    results->compile_ns += pt_phase_ns(phase);
    /* A pass without backward has code of its own. */
    if (steps < loop->steps_when_compiled + SETTLED_STEPS || (top && !top->pass.steps))
        return;
    results->recompiles++;
    results->recompile_ns += pt_phase_ns(phase);
}

/* What is done within an evaluation is not done with a loader's batch. */
static void note(struct pt_loop *loop, const struct pt_phase_span *phase)
{
    if (!loop->evaluation.is_open)
        pt_passes_note(&loop->passes, phase->end_ns);
}

static void end_here(struct pt_loop *loop, const struct pt_phase_span *phase)
{
    switch ((int)phase->kind) {
    case PT_PHASE_validation:
        if (!phase->is_inner)
            pt_passes_validation_end(&loop->passes, phase->end_ns);
        break;
    case PT_PHASE_backward:
        if (!phase->is_inner && !is_derivative(phase))
            end_backward(loop);
        note(loop, phase);
        break;
    case PT_PHASE_optimizer_step:
        end_optimizer_step(loop, phase);
        note(loop, phase);
        break;
    case PT_PHASE_train_step:
        end_train_step(loop, phase);
        note(loop, phase);
        break;
    case PT_PHASE_grad_scaling:
        end_grad_scaling(loop, phase);
        note(loop, phase);
        break;
    case PT_PHASE_compile:
        end_compile(loop, phase);
        note(loop, phase);
        break;
    case PT_PHASE_forward:
        loop->results.has_forward = true;
        note(loop, phase);
        break;
    case PT_PHASE_data_wait:
    case PT_PHASE_transfer:
    case PT_PHASE_zero_grad:
    case PT_PHASE_collective:
        note(loop, phase);
        break;
    default:
        break;
    }
}

void pt_loop_end(struct pt_loop *loop, const struct pt_thread *thread, const struct pt_phase_span *phase)
{
    const bool is_here = loop->thread == thread;
    if (is_here) {
        note_time(&loop->results, phase->kind, phase->start_ns, phase->end_ns);
        if (phase->kind == PT_PHASE_forward)
            end_call(loop, phase);
        add_time(loop, phase);
        end_here(loop, phase);
    }
    if (phase->kind == PT_PHASE_loader_start)
        end_start(loop, phase);
    if (phase->kind == PT_PHASE_worker_fetch)
        pt_passes_fetched(&loop->passes);
    if (phase->kind == PT_PHASE_data_wait && !phase->is_inner)
        pt_passes_got(&loop->passes, phase);
}

/* Steps that are missing are no part of the one that was open: it would be as long as all of them. */
void pt_loop_hole(struct pt_loop *loop, const struct pt_thread *thread, pt_i64 at_ns)
{
    if (loop->thread != thread)
        return;
    close_evaluation(loop);
    pt_passes_hole(&loop->passes, at_ns);
    loop->by_optimizer.is_open = false;
    memset(loop->by_optimizer.phase_ns, 0, sizeof loop->by_optimizer.phase_ns);
    loop->stepping = 0;
    loop->is_starting = false;
    memset(loop->starting_ns, 0, sizeof loop->starting_ns);
}

/* ---- results ---- */

static void take_steps_of_optimizer(struct pt_loop *loop)
{
    struct pt_loop_results *results = &loop->results;
    struct pt_pace *pace = &loop->by_optimizer.pace;
    results->pace = pace;
    results->by_optimizer = true;
    results->steps = pace->n;
    results->train_ns = pace->ns;
    for (pt_u32 kind = 0; kind < PT_N_PHASES; kind++)
        results->phase_ns[kind] = (pt_i64)pace->phases[kind].histogram.sum;
}

struct pt_loop_results pt_loop_finish(struct pt_loop *loop)
{
    struct pt_loop_results *results = &loop->results;
    close_evaluation(loop);
    pt_passes_finish(&loop->passes, results->process->end_ns, results->has_forward);
    results->pace = &loop->passes.steps;
    if (loop->by_optimizer.pace.n > FAR_MORE * results->steps)
        take_steps_of_optimizer(loop);
    return *results;
}
