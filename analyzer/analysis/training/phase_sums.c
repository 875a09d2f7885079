/* SPDX-License-Identifier: MIT
 *
 * Owns: which phases are open on each thread, and sums of those that ended. Threads: one. Never: requires a phase to
 * end; has more than MOST_NAMES sums by name.
 */
#include "phase_sums.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "util/hash.h"

enum {
    MOST_NAMES = 1024,
    MOST_PLACES = 1024,
    BEFORE_PHASE_NS = 100000, /* recorded right before it; a longer time would take that of a sampled allocation */
};

void pt_phase_sums_init(struct pt_phase_sums *sums, const struct pt_profile *profile)
{
    sums->n_processes = profile->session->n_processes;
    sums->processes = pt_calloc(sums->n_processes, sizeof *sums->processes);
    sums->n_stages = profile->stages.n;
    sums->durations = pt_calloc((size_t)sums->n_stages * PT_N_PHASES, sizeof *sums->durations);
}

struct pt_phase_thread *pt_phase_thread_of(struct pt_phase_sums *sums, const struct pt_event *e)
{
    pt_u64 *slot = pt_map_at(&sums->by_thread, (pt_u64)(uintptr_t)e->thread);
    if (!*slot) {
        struct pt_phase_thread *thread = pt_calloc(1, sizeof *thread);
        thread->thread = e->thread;
        pt_vec_push(&sums->threads, thread);
        *slot = sums->threads.n;
    }
    return sums->threads.items[*slot - 1];
}

struct pt_phase_thread *pt_phase_thread_find(const struct pt_phase_sums *sums, const struct pt_thread *thread)
{
    const pt_u64 *slot = pt_map_find(&sums->by_thread, (pt_u64)(uintptr_t)thread);
    return slot ? sums->threads.items[*slot - 1] : NULL;
}

static struct pt_phase_process *process_of(struct pt_phase_sums *sums, const struct pt_process *process)
{
    struct pt_phase_process **slot = &sums->processes[process->index];
    if (!*slot)
        *slot = pt_calloc(1, sizeof **slot);
    return *slot;
}

static struct pt_named_phase *named_of(struct pt_phase_sums *sums, pt_u32 stage, enum pt_phase kind, const char *name)
{
    const pt_u64 of_stage = (pt_u64)stage << 8 | kind;
    const bool is_kept =
        sums->named.n < MOST_NAMES || pt_map_find(&sums->by_name, pt_hash_pair((uintptr_t)name, of_stage));
    const char *kept = is_kept ? name : NULL;
    pt_u64 *slot = pt_map_at(&sums->by_name, pt_hash_pair((uintptr_t)kept, of_stage));
    if (!*slot) {
        pt_vec_push(&sums->named,
                    ((struct pt_named_phase){.stage = stage, .kind = kind, .name = kept ? kept : "(others)"}));
        *slot = sums->named.n;
    }
    return &sums->named.items[*slot - 1];
}

static void add(struct pt_phase_sum *sum, struct pt_times **durations, const struct pt_phase_span *phase, bool is_inner)
{
    const pt_i64 ns = pt_phase_ns(phase);
    sum->self_ns += ns > phase->inner_ns ? ns - phase->inner_ns : 0;
    if (is_inner)
        return;
    if (!*durations)
        *durations = pt_calloc(1, sizeof **durations);
    sum->calls++;
    sum->total_ns += ns;
    pt_times_add(*durations, ns);
}

void pt_phase_place(struct pt_phase_thread *thread, const struct pt_event *e)
{
    thread->stack = e->aux;
    thread->stack_ns = e->start_ns;
}

/* Of few phases it is recorded: an older place was another call's. */
static pt_u32 stack_before(const struct pt_phase_thread *thread, const struct pt_event *e)
{
    return thread->stack && e->start_ns - thread->stack_ns < BEFORE_PHASE_NS ? thread->stack : 0;
}

static void add_place(struct pt_phase_sums *sums, pt_u32 stage, const struct pt_process *process,
                      const struct pt_phase_span *phase)
{
    if (!phase->stack)
        return;
    for (size_t i = 0; i < sums->places.n; i++) {
        struct pt_phase_place *place = &sums->places.items[i];
        if (place->stage == stage && place->kind == phase->kind && place->process == process &&
            place->stack == phase->stack) {
            place->total_ns += pt_phase_ns(phase);
            return;
        }
    }
    if (sums->places.n < MOST_PLACES)
        pt_vec_push(&sums->places,
                    ((struct pt_phase_place){stage, phase->stack, phase->kind, process, pt_phase_ns(phase)}));
}

static void find_outer(const struct pt_phase_thread *thread, struct pt_phase_span *phase)
{
    for (pt_u32 i = 0; i < thread->depth; i++) {
        const struct pt_phase_span *outer = &thread->open.items[i];
        phase->is_inner |= outer->kind == phase->kind;
        phase->is_inner_of_name |= outer->kind == phase->kind && outer->name == phase->name;
        phase->is_in_forward |= outer->kind == PT_PHASE_forward;
    }
}

const struct pt_phase_span *pt_phase_begin(struct pt_phase_sums *sums, struct pt_phase_thread *thread,
                                           const struct pt_event *e)
{
    if (thread->depth >= PT_PHASES_DEEP) {
        thread->depth++;
        return NULL;
    }
    const char *text = e->aux ? pt_process_string(e->process, e->aux) : NULL;
    const char *name = text && *text ? pt_intern_text(&sums->names, text) : NULL;
    const enum pt_phase kind = pt_phase_of_tag(e->tag);
    struct pt_phase_span phase = {
        .kind = kind,
        .name = name,
        .object = pt_event_as(e, phase_begin)->object,
        .stack = stack_before(thread, e),
        .start_ns = e->start_ns,
        .depth = thread->depth,
    };
    find_outer(thread, &phase);
    thread->open.n = thread->depth++;
    pt_vec_push(&thread->open, phase);
    if (!(thread->had >> kind & 1))
        process_of(sums, e->process)->n_threads[kind]++;
    thread->had |= 1u << kind;
    return &thread->open.items[thread->open.n - 1];
}

static bool is_within(const struct pt_phase_thread *thread, enum pt_phase kind)
{
    for (pt_u32 i = 0; i < thread->depth; i++)
        if (thread->open.items[i].kind == kind)
            return true;
    return false;
}

static void add_save(struct pt_saves *saves, const struct pt_phase_span *phase)
{
    const pt_i64 ns = pt_phase_ns(phase);
    if (!saves->n || saves->is_stepped) {
        saves->n++;
        saves->last_ns = 0;
        saves->is_stepped = false;
    }
    saves->total_ns += ns;
    saves->last_ns += ns;
    saves->longest_ns = saves->last_ns > saves->longest_ns ? saves->last_ns : saves->longest_ns;
}

static bool is_save(const struct pt_phase_span *phase)
{
    return phase->kind == PT_PHASE_checkpoint && phase->name && strncmp(phase->name, "load", 4) != 0;
}

bool pt_phase_is_saving(const struct pt_phase_thread *thread)
{
    for (pt_u32 i = 0; i < thread->depth && i < PT_PHASES_DEEP; i++)
        if (is_save(&thread->open.items[i]))
            return true;
    return false;
}

static bool is_step(enum pt_phase kind)
{
    return kind == PT_PHASE_backward || kind == PT_PHASE_optimizer_step || kind == PT_PHASE_train_step;
}

bool pt_phase_end(struct pt_phase_sums *sums, pt_u32 stage, struct pt_phase_thread *thread, const struct pt_event *e,
                  pt_i64 end_ns, struct pt_phase_span *ret_phase)
{
    if (!thread->depth || --thread->depth >= PT_PHASES_DEEP)
        return false;
    struct pt_phase_span phase = thread->open.items[thread->depth];
    phase.end_ns = end_ns;
    if (e) {
        phase.amount = pt_event_as(e, phase_end)->amount;
        phase.made = pt_event_as(e, phase_end)->object;
        phase.outcome = (enum pt_phase_outcome)e->tag;
    } else
        phase.outcome = PT_PHASE_RAISED;
    struct pt_phase_process *process = process_of(sums, thread->thread->process);
    add(&process->sums[phase.kind], &sums->durations[stage * PT_N_PHASES + phase.kind], &phase, phase.is_inner);
    if (phase.kind == PT_PHASE_garbage_collection && is_within(thread, PT_PHASE_import)) {
        process->import_collector_ns += pt_phase_ns(&phase);
        process->import_collections++;
    }
    thread->saves.is_stepped |= is_step(phase.kind);
    if (is_save(&phase) && !phase.is_inner) {
        add_save(&thread->saves, &phase);
        add_place(sums, stage, thread->thread->process, &phase);
    }
    if (phase.name) {
        struct pt_named_phase *named = named_of(sums, stage, phase.kind, phase.name);
        add(&named->sum, &named->durations, &phase, phase.is_inner_of_name);
    }
    if (thread->depth) {
        struct pt_phase_span *outer = &thread->open.items[thread->depth - 1];
        outer->inner_ns += pt_phase_ns(&phase);
        outer->inner_steps_ns += phase.kind == PT_PHASE_function ? phase.inner_steps_ns : pt_phase_ns(&phase);
    }
    *ret_phase = phase;
    return true;
}

void pt_phase_sums_fini(struct pt_phase_sums *sums)
{
    for (pt_u32 i = 0; i < sums->n_processes; i++)
        free(sums->processes[i]);
    for (size_t i = 0; i < (size_t)sums->n_stages * PT_N_PHASES; i++)
        free(sums->durations[i]);
    for (size_t i = 0; i < sums->named.n; i++)
        free(sums->named.items[i].durations);
    free(sums->places.items);
    for (size_t i = 0; i < sums->threads.n; i++) {
        free(sums->threads.items[i]->open.items);
        free(sums->threads.items[i]);
    }
    free(sums->processes);
    free(sums->durations);
    free(sums->named.items);
    free(sums->threads.items);
    pt_map_fini(&sums->by_thread);
    pt_map_fini(&sums->by_name);
    pt_intern_fini(&sums->names);
}
