/* SPDX-License-Identifier: MIT
 *
 * Training: what its phases cost, its steps and epochs, and how ranks differ.
 *
 * Threads: one. State: a stack of open phases per thread that has them, sums per phase and name, a loop per process
 * that trains. Never: requires a phase to end: an open one ends with its process.
 */
#include <stdlib.h>

#include "proftrace/payloads.h"
#include "facts/wait_kind.h"
#include "model/holes.h"
#include "loop.h"
#include "results.h"

struct training {
    struct pt_profile *profile;
    struct pt_phase_sums sums;
    struct pt_loop **loops; /* by process; NULL = does not train */
};

static void begin(void *state, struct pt_profile *profile)
{
    struct training *training = state;
    training->profile = profile;
    pt_phase_sums_init(&training->sums, profile);
    training->loops = pt_calloc(profile->session->n_processes, sizeof *training->loops);
}

/* Workers of a loader, and programs that only import, have phases and no loop. */
static bool is_of_loop(enum pt_phase kind)
{
    return kind == PT_PHASE_loader_start || kind == PT_PHASE_data_wait || kind == PT_PHASE_forward ||
           kind == PT_PHASE_backward || kind == PT_PHASE_optimizer_step || kind == PT_PHASE_train_step;
}

static struct pt_loop *loop_of(struct training *training, const struct pt_process *process, enum pt_phase kind)
{
    struct pt_loop **loop = &training->loops[process->index];
    if (!*loop && is_of_loop(kind))
        *loop = pt_loop_new(process);
    return *loop;
}

static void end(struct training *training, struct pt_phase_thread *thread, const struct pt_event *e, pt_i64 end_ns)
{
    const struct pt_process *process = thread->thread->process;
    struct pt_phase_span phase;
    if (!pt_phase_end(&training->sums, pt_profile_stage_of(training->profile, process), thread, e, end_ns, &phase))
        return;
    struct pt_loop *loop = training->loops[process->index];
    if (loop)
        pt_loop_end(loop, thread->thread, &phase);
}

/* What was open where events are missing had gone on until then, and nothing is known of what came in between. */
static struct pt_phase_thread *thread_at(struct training *training, const struct pt_event *e)
{
    struct pt_phase_thread *thread = pt_phase_thread_of(&training->sums, e);
    const struct pt_hole *hole;
    while ((hole = pt_thread_next_hole(e->thread, e->start_ns, &thread->holes))) {
        while (thread->depth)
            end(training, thread, NULL, hole->from_ns);
        if (training->loops[e->process->index])
            pt_loop_hole(training->loops[e->process->index], e->thread, hole->from_ns);
    }
    return thread;
}

/* A call about files, not their data. */
static void called(struct training *training, const struct pt_event *e)
{
    struct pt_phase_thread *thread = pt_phase_thread_find(&training->sums, e->thread);
    if (thread && thread->depth && pt_phase_is_saving(thread_at(training, e)))
        thread->saves.file_meta_ns += e->duration_ns;
}

static void event(void *state, const struct pt_event *e)
{
    struct training *training = state;
    if (e->desc->kind == PT_KIND_phase_begin) {
        struct pt_phase_thread *thread = thread_at(training, e);
        const struct pt_phase_span *phase = pt_phase_begin(&training->sums, thread, e);
        struct pt_loop *loop = phase ? loop_of(training, e->process, phase->kind) : NULL;
        if (loop)
            pt_loop_begin(loop, e->thread, phase);
    } else if (e->desc->kind == PT_KIND_phase_end)
        end(training, thread_at(training, e), e, e->start_ns);
    else if (e->desc->kind == PT_KIND_python_place && !pt_event_as(e, python_place)->stands_for_ns)
        pt_phase_place(pt_phase_thread_of(&training->sums, e), e);
    else if (pt_time_part_of_kind(e->desc->kind) == PT_PART_file_meta)
        called(training, e);
}

static void finish(void *state, struct pt_profile *profile)
{
    struct training *training = state;
    for (size_t i = 0; i < training->sums.threads.n; i++)
        while (training->sums.threads.items[i]->depth)
            end(training, training->sums.threads.items[i], NULL,
                training->sums.threads.items[i]->thread->process->end_ns);
    struct pt_trainings results = {.profile = profile, .sums = &training->sums};
    results.loops = pt_calloc(profile->session->n_processes, sizeof *results.loops);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++)
        if (training->loops[i])
            results.loops[results.n_loops++] = pt_loop_finish(training->loops[i]);
    pt_training_results(&results);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++)
        if (training->loops[i])
            pt_loop_free(training->loops[i]);
    free(results.loops);
    free(training->loops);
    pt_phase_sums_fini(&training->sums);
}

const struct pt_analysis pt_analysis_training = {
    .name = "training",
    .summary = "phases, steps and epochs of a training",
    .categories = PT_CATEGORY_USER | PT_CATEGORY_PYTHON | PT_CATEGORY_IO | PT_CATEGORY_STDIO | PT_CATEGORY_META,
    .state_size = sizeof(struct training),
    .begin = begin,
    .event = event,
    .finish = finish,
};
