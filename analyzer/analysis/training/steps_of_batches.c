/* SPDX-License-Identifier: MIT
 *
 * Owns: how many steps a batch with backward passes is, and how long each took. Threads: one. Never: believes that
 * hundreds of batches are of one step.
 */
#include "steps_of_batches.h"

#include "util/whole.h"

/* A loop may have several backward passes for each batch. Counted as batches, a skipped one would make two steps of the
 * next. */
pt_u64 pt_batches_trained_by(const struct pt_open_pass *open, pt_u64 backwards)
{
    const pt_u64 n = open->backwards_of_one ? backwards / open->backwards_of_one : backwards;
    return n || !backwards ? n : 1;
}

static void learn_backwards(struct pt_open_pass *open)
{
    const pt_u64 n = open->batch.backwards;
    const bool is_of_one = !open->fetched.n && !open->called.n && !open->batch.is_tail;
    if (is_of_one && (!open->backwards_of_one || n < open->backwards_of_one))
        open->backwards_of_one = n;
}

/* How many batches a step of several backward passes had: those of one update may be fetched at once, before it. Two
 * models that train against each other have an update for each. */
static pt_u64 batches_of(struct pt_open_pass *open)
{
    const pt_u64 trained = pt_batches_trained_by(open, open->batch.backwards);
    if (open->batch.optimizer_steps >= trained)
        return 1;
    const pt_u64 least = open->batch.is_tail ? 0 : 1;
    const pt_u64 most = open->batch.is_tail ? open->ahead : open->fetched.n + 1;
    const pt_u64 n = trained < most ? trained : most;
    open->ahead -= n > least ? n - least : 0;
    return n ? n : 1;
}

/* Of a run of batches that were skipped, when a training goes on where it stopped, no more than a step can have. */
static void cut_to(struct pt_idle_batches *idle, pt_u64 most)
{
    const double share = idle->n > most ? (double)most / (double)idle->n : 1;
    idle->ns = pt_whole_signed(share * (double)idle->ns);
    for (pt_u32 kind = 0; kind < PT_N_PHASES; kind++)
        idle->phase_ns[kind] = pt_whole_signed(share * (double)idle->phase_ns[kind]);
}

/* The losses of several batches may be summed for one backward pass. Of many at once that is believed where the step
 * before had as many, too: a loop that fills a memory would make one step of hundreds of batches. */
static bool are_summed(const struct pt_passes *passes, const struct pt_idle_batches *called)
{
    enum { OFTEN_SUMMED = 16 };
    return called->n <= OFTEN_SUMMED || called->n <= 2 * passes->called_before;
}

void pt_add_steps_of_batch(struct pt_passes *passes, struct pt_open_pass *open, pt_i64 ns)
{
    learn_backwards(open);
    const pt_u64 trained = pt_batches_trained_by(open, open->batch.backwards);
    cut_to(&open->fetched, trained);
    if (!are_summed(passes, &open->called))
        cut_to(&open->called, trained);
    passes->called_before = open->called.n;
    const pt_i64 before_ns = open->called.ns + open->fetched.ns;
    const pt_u64 n = batches_of(open);
    const pt_i64 of_one_ns = (before_ns + ns) / (pt_i64)n;
    for (pt_u64 i = 0; i < n; i++) {
        struct pt_step step = {
            .pass = (pt_u32)passes->results->passes[PT_PASS_EPOCH] + 1,
            .is_first = !open->pass.steps,
            .start_ns = open->batch.start_ns - before_ns + (pt_i64)i * of_one_ns,
            .ns = of_one_ns,
        };
        for (pt_u32 kind = 0; kind < PT_N_PHASES; kind++)
            step.phase_ns[kind] =
                (open->batch.phase_ns[kind] + open->called.phase_ns[kind] + open->fetched.phase_ns[kind]) / (pt_i64)n;
        open->pass.steps++;
        pt_pace_add(&passes->steps, &step);
    }
    open->fetched = open->called = (struct pt_idle_batches){0};
}
