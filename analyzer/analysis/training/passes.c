/* SPDX-License-Identifier: MIT
 *
 * Owns: when batches and passes begin and end, and which kind each was. Threads: one. Never: has more than
 * PT_PASSES_OPEN passes open: the one that was used longest ago has ended then.
 */
#include "passes.h"

#include <stdlib.h>

#include "model/window.h"
#include "steps_of_batches.h"

/* ---- a batch ends ---- */

static void add_phases(pt_i64 *to, const pt_i64 *from)
{
    for (pt_u32 kind = 0; kind < PT_N_PHASES; kind++)
        to[kind] += from[kind];
}

static void add_idle(struct pt_open_pass *open, pt_i64 ns)
{
    const struct pt_training_batch *batch = &open->batch;
    const bool is_called = batch->phase_ns[PT_PHASE_forward];
    struct pt_idle_batches *idle = is_called ? &open->called : &open->fetched;
    idle->n++;
    idle->ns += ns;
    add_phases(idle->phase_ns, batch->phase_ns);
    if (is_called)
        return;
    open->ahead++;
    open->only_fetched++;
    open->samples_only_fetched += batch->samples;
}

/* `is_cut`: nobody saw its end; what was done with it last is its end. */
static void end_batch(struct pt_passes *passes, pt_u32 at, pt_i64 now_ns, bool is_cut)
{
    struct pt_open_pass *open = passes->stack[at];
    struct pt_training_batch *batch = &open->batch;
    if (!batch->is_open)
        return;
    batch->is_open = false;
    const pt_i64 own_ns = is_cut ? batch->lasted_ns : now_ns - batch->start_ns - batch->others_ns;
    const pt_i64 ns = own_ns > 0 ? own_ns : 0;
    const bool is_step = batch->is_delivered && batch->backwards && !open->is_phase && !open->is_inside;
    if (is_step)
        pt_add_steps_of_batch(passes, open, ns);
    else if (batch->is_delivered && !batch->is_tail)
        add_idle(open, ns);
    open->backwards += batch->backwards;
    open->pass.ns += ns;
    open->pass.end_ns = batch->start_ns + ns + batch->others_ns;
    add_phases(open->pass.phase_ns, batch->phase_ns);
    if (!open->pass.steps)
        passes->validation_ns += ns;
    if (!at)
        return;
    passes->stack[at - 1]->batch.others_ns += ns + batch->others_ns;
    passes->stack[at - 1]->batch.steps_above += is_step;
    passes->stack[at - 1]->batch.idle_above += batch->is_delivered && !is_step;
}

/* Of two loaders that are used side by side, as zip() does, one step takes a batch of each. A validation that was left
 * early is none of these: it had batches without a step before. */
static void join_batches(struct pt_training_batch *below, struct pt_open_pass *open)
{
    struct pt_training_batch *batch = &open->batch;
    add_phases(below->phase_ns, batch->phase_ns);
    below->backwards += batch->backwards;
    below->optimizer_steps += batch->optimizer_steps;
    below->lasted_ns = batch->start_ns + batch->lasted_ns + batch->others_ns - below->start_ns - below->others_ns;
    open->joined += !below->idle_above;
    batch->is_open = false;
}

/* The one below goes on. */
static void leave(struct pt_passes *passes, pt_i64 now_ns, bool may_join)
{
    struct pt_open_pass *open = pt_passes_top(passes);
    struct pt_training_batch *below = passes->depth > 1 ? &passes->stack[passes->depth - 2]->batch : NULL;
    if (may_join && below && below->is_open && below->is_delivered && !below->steps_above && open->batch.is_open &&
        open->batch.backwards && !open->is_phase)
        join_batches(below, open);
    else
        end_batch(passes, passes->depth - 1, now_ns, true);
    passes->depth--;
}

static void leave_down_to(struct pt_passes *passes, pt_u32 depth, pt_i64 now_ns, bool may_join)
{
    while (passes->depth > depth)
        leave(passes, now_ns, may_join);
}

/* ---- a pass ends ---- */

static enum pt_pass_kind kind_of(struct pt_open_pass *open)
{
    struct pt_pass *pass = &open->pass;
    /* A loop that asks for a batch ahead of the one that it trains with, or for several at once. */
    if (pass->steps && pass->batches > pass->steps &&
        (open->backwards == pass->batches || open->optimizer_steps == pass->batches))
        pass->steps = pass->batches;
    if (open->is_phase)
        return PT_PASS_VALIDATION;
    return pass->steps ? PT_PASS_EPOCH : open->joined ? PT_PASS_ALONGSIDE : PT_PASS_VALIDATION;
}

static struct pt_open_pass *validation_of(struct pt_passes *passes)
{
    for (pt_u32 i = 0; i < PT_PASSES_OPEN; i++)
        if (passes->open[i].is_open && passes->open[i].is_phase)
            return &passes->open[i];
    return NULL;
}

/* Batches that nothing was done with, and whose gradients no later batch had: they are skipped. Where no model is
 * called, as with functions only, that cannot be seen. */
static void drop_skipped(const struct pt_passes *passes, struct pt_open_pass *open)
{
    struct pt_pass *pass = &open->pass;
    const pt_u64 trained = pt_batches_trained_by(open, open->backwards);
    const pt_u64 more = pass->batches > trained ? pass->batches - trained : 0;
    const pt_u64 n = more < open->only_fetched ? more : open->only_fetched;
    if (n && passes->results->has_forward)
        pass->samples -= open->samples_only_fetched * n / open->only_fetched;
}

static void count_epoch(struct pt_passes *passes, struct pt_open_pass *open)
{
    struct pt_loop_results *results = passes->results;
    drop_skipped(passes, open);
    results->steps += open->pass.steps;
    results->samples += open->pass.samples;
    results->batches += open->pass.batches;
    results->batches_of_one += open->batches_of_one;
    results->exhausted += open->pass.is_exhausted;
    results->workers = open->pass.workers > results->workers ? open->pass.workers : results->workers;
    results->are_workers_unknown |= open->pass.are_workers_unknown || open->pass.tells_no_workers;
    results->tell_no_workers |= open->pass.tells_no_workers;
    results->data = open->pass.name;
    pt_vec_push(&passes->first_batches, open->pass.start_cost_ns + open->pass.first_wait_ns);
    if (!open->pass.workers)
        return;
    results->ends_ns += passes->last_end_ns;
    passes->last_end_ns = open->pass.last_wait_ns;
}

static void count_validation(struct pt_passes *passes, const struct pt_pass *pass)
{
    struct pt_loop_results *results = passes->results;
    if (!pass->phase_ns[PT_PHASE_forward]) {
        passes->reads++;
        passes->reads_ns += pass->ns;
        passes->longest_read_ns = pass->ns > passes->longest_read_ns ? pass->ns : passes->longest_read_ns;
        return;
    }
    results->by_mode_ns += pass->is_by_mode ? pass->ns : 0;
    if (pass->ns > results->longest_validation_ns)
        results->longest_validation_ns = pass->ns;
}

static void keep(struct pt_passes *passes, struct pt_pass *pass)
{
    pass->number = (pt_u32)++passes->results->passes[pass->kind];
    if (pass->kind == PT_PASS_VALIDATION)
        count_validation(passes, pass);
    if (passes->kept.n < PT_PASSES_KEPT)
        pt_vec_push(&passes->kept, *pass);
}

/* One batch of a loader is taken, to learn what its samples look like, and that is all. */
static bool is_look(const struct pt_open_pass *open)
{
    return !open->is_phase && !open->is_inside && open->pass.batches == 1 && !open->pass.is_exhausted &&
           !open->backwards;
}

static void count_pass(struct pt_passes *passes, struct pt_open_pass *open)
{
    struct pt_loop_results *results = passes->results;
    struct pt_pass *pass = &open->pass;
    struct pt_open_pass *validation = open->is_inside ? validation_of(passes) : NULL;
    pass->kind = kind_of(open);
    if (pass->kind == PT_PASS_VALIDATION && is_look(open))
        return;
    results->batches_of_workers += pass->are_workers_unknown ? open->fetched_elsewhere
                                   : pass->workers           ? pass->batches
                                                             : 0;
    results->pass_ns[pass->kind] += pass->ns;
    if (pass->kind != PT_PASS_VALIDATION) {
        results->train_ns += pass->ns;
        add_phases(results->phase_ns, pass->phase_ns);
    }
    if (pass->kind == PT_PASS_EPOCH)
        count_epoch(passes, open);
    if (pass->kind == PT_PASS_VALIDATION && validation) { /* a part of it */
        validation->pass.name = validation->pass.name ? validation->pass.name : pass->name;
        validation->pass.workers += pass->workers;
        validation->pass.ns += pass->ns;
        validation->pass.batches += pass->batches;
        validation->pass.samples += pass->samples;
        results->pass_ns[pass->kind] -= pass->ns;
        add_phases(validation->pass.phase_ns, pass->phase_ns);
        return;
    }
    keep(passes, pass);
}

static void end_pass(struct pt_passes *passes, struct pt_open_pass *open, pt_i64 now_ns)
{
    for (pt_u32 i = 0; i < passes->depth; i++)
        if (passes->stack[i] == open)
            leave_down_to(passes, i, now_ns, false);
    open->is_open = false;
    if (open->pass.batches || open->is_phase)
        count_pass(passes, open);
}

/* An exhausted pass stays on the stack, alone, while what its loop fetched ahead is trained with. */
static void end_tail(struct pt_passes *passes, pt_i64 now_ns)
{
    struct pt_open_pass *top = pt_passes_top(passes);
    if (top && top->pass.is_exhausted)
        end_pass(passes, top, now_ns);
}

/* ---- passes ---- */

static struct pt_open_pass *find_iterator(struct pt_passes *passes, pt_u64 iterator)
{
    for (pt_u32 i = 0; i < PT_PASSES_OPEN; i++)
        if (passes->open[i].is_open && !passes->open[i].is_phase && passes->open[i].iterator == iterator)
            return &passes->open[i];
    return NULL;
}

static struct pt_open_pass *free_place(struct pt_passes *passes, pt_i64 at_ns)
{
    struct pt_open_pass *oldest = &passes->open[0];
    for (pt_u32 i = 0; i < PT_PASSES_OPEN; i++) {
        if (!passes->open[i].is_open)
            return &passes->open[i];
        if (passes->open[i].last_used < oldest->last_used)
            oldest = &passes->open[i];
    }
    end_pass(passes, oldest, at_ns);
    return oldest;
}

struct pt_open_pass *pt_passes_new(struct pt_passes *passes, pt_u64 iterator, pt_u64 loader, pt_i64 at_ns)
{
    struct pt_open_pass *before = iterator ? find_iterator(passes, iterator) : NULL;
    if (before)
        end_pass(passes, before, at_ns);
    struct pt_open_pass *open = free_place(passes, at_ns);
    *open = (struct pt_open_pass){
        .is_open = true,
        .is_inside = validation_of(passes) != NULL,
        .iterator = iterator,
        .loader = loader,
        .last_used = ++passes->uses,
        .pass = {.start_ns = at_ns, .end_ns = at_ns},
    };
    return open;
}

void pt_passes_restart(struct pt_passes *passes, pt_u64 loader, pt_i64 at_ns)
{
    end_tail(passes, at_ns);
    for (pt_u32 i = 0; i < PT_PASSES_OPEN && loader; i++)
        if (passes->open[i].is_open && passes->open[i].loader == loader)
            end_pass(passes, &passes->open[i], at_ns);
}

static void push(struct pt_passes *passes, struct pt_open_pass *open, pt_i64 at_ns)
{
    if (passes->depth == PT_PASSES_NESTED)
        end_pass(passes, passes->stack[0], at_ns);
    passes->stack[passes->depth++] = open;
}

/* Of an iterator that nobody was seen to make. A hole in the events ends its pass, but not the loader. */
static struct pt_open_pass *go_on(struct pt_passes *passes, pt_u64 iterator, pt_i64 at_ns)
{
    const struct pt_process *process = passes->results->process;
    struct pt_pass before = {.are_workers_unknown =
                                 pt_session_is_window(process->session) || pt_process_lost_events(process)};
    pt_u64 last_used = 0;
    for (pt_u32 i = 0; i < PT_PASSES_OPEN; i++) {
        const struct pt_open_pass *ended = &passes->open[i];
        if (ended->is_phase || ended->iterator != iterator || ended->last_used < last_used || !ended->last_used)
            continue;
        before = ended->pass;
        last_used = ended->last_used;
    }
    struct pt_open_pass *open = pt_passes_new(passes, iterator, 0, at_ns);
    open->pass.name = before.name;
    open->pass.workers = before.workers;
    open->pass.are_workers_unknown = before.are_workers_unknown;
    open->pass.tells_no_workers = before.tells_no_workers;
    return open;
}

void pt_passes_wait(struct pt_passes *passes, pt_u64 iterator, pt_i64 at_ns)
{
    end_tail(passes, at_ns);
    struct pt_open_pass *open = find_iterator(passes, iterator);
    if (!open)
        open = go_on(passes, iterator, at_ns);
    open->last_used = ++passes->uses;
    pt_u32 at = passes->depth;
    while (at && passes->stack[at - 1] != open)
        at--;
    if (at) {
        leave_down_to(passes, at, at_ns, true);
        end_batch(passes, at - 1, at_ns, false);
    } else
        push(passes, open, at_ns);
    open->batch = (struct pt_training_batch){.is_open = true, .start_ns = at_ns};
}

void pt_passes_fetched(struct pt_passes *passes)
{
    struct pt_open_pass *top = pt_passes_top(passes);
    if (!top || !top->batch.is_open || top->batch.is_delivered || top->is_phase)
        return;
    top->batch.is_fetched_here = true;
    top->pass.are_workers_unknown = false; /* it has none */
}

void pt_passes_got(struct pt_passes *passes, const struct pt_phase_span *wait)
{
    struct pt_open_pass *open = find_iterator(passes, wait->object);
    if (!open || !open->batch.is_open || open->batch.is_delivered)
        return;
    if (wait->outcome == PT_PHASE_DONE) {
        open->batch.is_delivered = true;
        open->pass.first_wait_ns = open->pass.batches ? open->pass.first_wait_ns : pt_phase_ns(wait);
        open->pass.batches++;
        open->fetched_elsewhere += !open->batch.is_fetched_here;
        open->batch.samples = wait->amount;
        open->pass.samples += wait->amount;
        open->batches_of_one += wait->amount == 1;
        return;
    }
    if (wait->outcome != PT_PHASE_EXHAUSTED)
        return;
    open->pass.is_exhausted = true;
    open->pass.last_wait_ns = pt_phase_ns(wait);
    for (pt_u32 at = 0; at < passes->depth; at++)
        if (passes->stack[at] == open) {
            leave_down_to(passes, at + 1, wait->end_ns, false);
            end_batch(passes, at, wait->end_ns, false);
        }
    if (passes->depth != 1 || !open->pass.steps || open->pass.steps == open->pass.batches)
        end_pass(passes, open, wait->end_ns);
    else
        open->batch = (struct pt_training_batch){
            .is_open = true, .is_delivered = true, .is_tail = true, .start_ns = wait->end_ns};
}

void pt_passes_validation_begin(struct pt_passes *passes, pt_i64 at_ns)
{
    end_tail(passes, at_ns);
    if (validation_of(passes))
        return;
    struct pt_open_pass *open = pt_passes_new(passes, 0, 0, at_ns);
    open->is_phase = true;
    push(passes, open, at_ns);
    open->batch = (struct pt_training_batch){.is_open = true, .is_delivered = true, .start_ns = at_ns};
}

void pt_passes_validation_end(struct pt_passes *passes, pt_i64 at_ns)
{
    struct pt_open_pass *validation = validation_of(passes);
    if (!validation)
        return;
    for (pt_u32 i = 0; i < PT_PASSES_OPEN; i++)
        if (passes->open[i].is_open && passes->open[i].is_inside)
            end_pass(passes, &passes->open[i], at_ns);
    for (pt_u32 at = 0; at < passes->depth; at++)
        if (passes->stack[at] == validation) {
            leave_down_to(passes, at + 1, at_ns, false);
            end_batch(passes, at, at_ns, false);
        }
    validation->pass.is_exhausted = true;
    end_pass(passes, validation, at_ns);
}

void pt_passes_add_validation(struct pt_passes *passes, const struct pt_pass *pass)
{
    struct pt_pass numbered = *pass;
    passes->results->pass_ns[PT_PASS_VALIDATION] += pass->ns;
    passes->validation_ns += pass->ns;
    pt_passes_leave_out(passes, pass->ns);
    keep(passes, &numbered);
}

void pt_passes_note(struct pt_passes *passes, pt_i64 end_ns)
{
    struct pt_open_pass *top = pt_passes_top(passes);
    if (top)
        top->batch.lasted_ns = end_ns - top->batch.start_ns - top->batch.others_ns;
}

void pt_passes_leave_out(struct pt_passes *passes, pt_i64 ns)
{
    struct pt_open_pass *top = pt_passes_top(passes);
    if (top)
        top->batch.others_ns += ns;
}

void pt_passes_hole(struct pt_passes *passes, pt_i64 at_ns)
{
    for (pt_u32 i = 0; i < PT_PASSES_OPEN; i++)
        if (passes->open[i].is_open && !passes->open[i].is_phase)
            end_pass(passes, &passes->open[i], at_ns);
}

/* Data that were read into a list or onto a GPU: nothing was validated. */
static void drop_reads(struct pt_passes *passes)
{
    struct pt_loop_results *results = passes->results;
    size_t n = 0;
    pt_u32 number = 0;
    results->passes[PT_PASS_VALIDATION] -= passes->reads;
    results->pass_ns[PT_PASS_VALIDATION] -= passes->reads_ns;
    for (size_t i = 0; i < passes->kept.n; i++) {
        struct pt_pass *pass = &passes->kept.items[i];
        if (pass->kind == PT_PASS_VALIDATION && !pass->phase_ns[PT_PHASE_forward])
            continue;
        pass->number = pass->kind == PT_PASS_VALIDATION ? ++number : pass->number;
        passes->kept.items[n++] = *pass;
    }
    passes->kept.n = n;
}

void pt_passes_finish(struct pt_passes *passes, pt_i64 end_ns, bool has_forward)
{
    struct pt_loop_results *results = passes->results;
    for (pt_u32 i = 0; i < PT_PASSES_OPEN; i++)
        if (passes->open[i].is_open && !passes->open[i].is_phase)
            end_pass(passes, &passes->open[i], end_ns);
    pt_passes_validation_end(passes, end_ns);
    if (has_forward)
        drop_reads(passes);
    else if (passes->longest_read_ns > results->longest_validation_ns)
        results->longest_validation_ns = passes->longest_read_ns;
    results->kept = passes->kept.items;
    results->n_kept = passes->kept.n;
    results->first_batches_ns = passes->first_batches.items;
    results->n_first_batches = passes->first_batches.n;
}

void pt_passes_fini(struct pt_passes *passes)
{
    free(passes->kept.items);
    free(passes->first_batches.items);
}
