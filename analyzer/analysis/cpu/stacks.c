/* SPDX-License-Identifier: MIT
 *
 * Owns: what each stack of the CPU profile cost: CPU time by stack, and time in recorded calls by stack and part of the
 * time account. Threads: one. Never: keeps more than the MOST_STACKS that cost most, and as many functions of Python
 * that called the rest.
 */
#include "stacks.h"

#include <math.h>
#include <stdlib.h>

#include "facts/cpu_code.h"
#include "facts/path/critical_path.h"
#include "facts/path/split_time.h"
#include "facts/state.h"
#include "facts/workers.h"
#include "inline_loading.h"
#include "path_weights.h"
#include "util/auto.h"
#include "util/mem.h"

enum { MOST_STACKS = 400 };

struct sum {
    pt_u32 frame, part;
    double cost[PT_STACK__COUNT];
};

struct sums {
    PT_VEC(struct sum);
    struct pt_map by_key; /* frame and part -> index, plus 1 */
};

static double *cost_at(struct sums *sums, pt_u32 frame, pt_u32 part)
{
    pt_u64 *slot = pt_map_at(&sums->by_key, (pt_u64)frame << 32 | part);
    if (!*slot) {
        pt_vec_push(sums, ((struct sum){.frame = frame, .part = part}));
        *slot = sums->n;
    }
    return sums->items[*slot - 1].cost;
}

static void fini(struct sums *sums)
{
    free(sums->items);
    pt_map_fini(&sums->by_key);
}

/* Whose a thread of the profile is. */
enum role {
    ROLE_OTHER,
    ROLE_MAIN,
    ROLE_MAIN_OF_WORKER,
    ROLE_MAIN_ON_PATH, /* of a worker, too, for which its parent does nothing but wait: it is the program */
    ROLE_IDLE
};

static bool is_of_worker(pt_u8 role)
{
    return role == ROLE_MAIN_OF_WORKER || role == ROLE_MAIN_ON_PATH;
}

static pt_u8 *roles_of(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_session *session = profile->session;
    pt_u8 *roles = pt_calloc(profile->facts->views[stage].data->n_threads + 1, sizeof *roles);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        const struct pt_thread *thread = pt_main_thread(process);
        const pt_u32 number =
            thread && pt_profile_stage_of(profile, process) == stage ? pt_facts_cpu_thread(profile->facts, thread) : 0;
        if (number)
            roles[number] = !pt_is_worker(process)                             ? ROLE_MAIN
                            : pt_path_is_whole(profile->facts->paths, process) ? ROLE_MAIN_ON_PATH
                                                                               : ROLE_MAIN_OF_WORKER;
    }
    pt_mark_idle_helpers(profile, stage, roles, ROLE_IDLE);
    return roles;
}

/* By thread of the profile: those of processes that run commands themselves, if they wait for children. */
static bool *last_waiters_of(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_session *session = profile->session;
    PT_AUTO(pt_freep) bool *wait_for_waiters = pt_wait_for_waiters(session);
    bool *last = pt_calloc(profile->facts->views[stage].data->n_threads + 1, sizeof *last);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        if (wait_for_waiters[process->index] || pt_profile_stage_of(profile, process) != stage)
            continue;
        for (pt_u32 j = 0; j < process->n_threads; j++)
            last[pt_facts_cpu_thread(profile->facts, &process->threads[j])] = true;
    }
    return last;
}

static double most_of(const struct sum *sum)
{
    return sum->part == PT_STACK_ANY_PART ? sum->cost[PT_STACK_CPU_S] : sum->cost[PT_STACK_CALL_S];
}

static int by_cost(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    if (most_of(x) != most_of(y))
        return most_of(x) < most_of(y) ? 1 : -1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

static void keep_most(struct pt_profile *profile, pt_u32 stage, const struct sums *sums)
{
    const struct pt_cpu_view *view = &profile->facts->views[stage];
    struct pt_stack_frame frames[PT_STACK_FRAMES];
    if (sums->n)
        qsort(sums->items, sums->n, sizeof *sums->items, by_cost);
    for (size_t i = 0; i < sums->n && i < MOST_STACKS; i++) {
        const pt_u32 n = pt_cpu_stack(view, sums->items[i].frame, frames);
        struct pt_stack *stack = pt_stacks_add(&profile->stacks, stage, frames, n);
        stack->part = sums->items[i].part;
        for (int j = 0; j < PT_STACK__COUNT; j++)
            stack->cost[j] = sums->items[i].cost[j];
    }
}

/* The innermost function of Python; the frame itself where there is none. */
static pt_u32 in_python(const struct pt_cpu_view *view, pt_u32 frame)
{
    for (pt_u32 at = frame; at; at = view->frames.items[at].parent)
        if (pt_cpu_is_script(view, at))
            return at;
    return frame;
}

/* What is left is of many stacks that cost little each, and may be a fifth of all: what native code a line called is
 * lost, the line is not. */
static void keep(struct pt_profile *profile, pt_u32 stage, struct sums *sums)
{
    struct sums rest = {0};
    keep_most(profile, stage, sums);
    for (size_t i = MOST_STACKS; i < sums->n; i++) {
        const struct sum *sum = &sums->items[i];
        double *cost = cost_at(&rest, in_python(&profile->facts->views[stage], sum->frame), sum->part);
        for (int j = 0; j < PT_STACK__COUNT; j++)
            cost[j] += sum->cost[j];
    }
    keep_most(profile, stage, &rest);
    fini(sums);
    fini(&rest);
}

static void take(double *from, bool is_so, double s)
{
    *from = is_so ? fmax(*from - s, 0) : *from;
}

/* Of a thread's sample in a training, from its first step to its last. */
static void add_training(double *cost, const struct pt_cpu_state *state, pt_u16 code, double s)
{
    const bool is_own = !(code & (PT_IN_FRAMEWORK | PT_IN_OPERATION | PT_IN_SAVING));
    const bool is_beside = !(code & PT_IN_PHASE) && state->part != PT_PART_gpu_wait + 1;
    const bool is_behind = is_beside && pt_is_behind_steps(code);
    cost[PT_STACK_TRAINING_S] += s;
    cost[PT_STACK_TRAINING_OWN_S] += is_own ? s : 0;
    cost[PT_STACK_BESIDE_S] += is_beside ? s : 0;
    cost[PT_STACK_BEHIND_S] += is_behind ? s : 0;
    cost[PT_STACK_BEHIND_OWN_S] += is_behind && !(code & (PT_IN_OPERATION | PT_IN_SAVING)) ? s : 0;
    cost[PT_STACK_IN_CALLS_S] += state->part ? s : 0;
}

static void what_the_critical_one_ran(struct sums *sums, const struct pt_profile *profile, pt_u32 stage,
                                      pt_u32 critical, const pt_u16 *codes)
{
    const struct pt_facts *facts = profile->facts;
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, stage);
    const struct pt_cpu_view *view = &facts->views[stage];
    const struct pt_training_window training = pt_training_window(profile, stage, critical, codes);
    const double s = view->sample_s[critical];
    for (size_t i = cpu->first[critical]; i < cpu->first[critical + 1]; i++) {
        const struct pt_cpu_state *state = &cpu->states[i];
        const pt_u32 frame = state->flags & PT_CPU_RAN ? view->frame_of[state->node] : 0;
        if (!(state->flags & PT_CPU_RAN) || codes[frame] & PT_IN_IMPORT)
            continue;
        const bool is_own = !(codes[frame] & (PT_IN_FRAMEWORK | PT_IN_OPERATION | PT_IN_SAVING));
        double *cost = cost_at(sums, frame, PT_STACK_ANY_PART);
        cost[PT_STACK_CRITICAL_S] += s;
        cost[PT_STACK_CRITICAL_OWN_S] += is_own ? s : 0;
        cost[PT_STACK_CRITICAL_IN_CALLS_S] += state->part ? s : 0;
        cost[PT_STACK_BACKWARD_S] += codes[frame] & PT_IN_BACKWARD ? s : 0;
        /* Set-up prepares nothing for a step. The same samples are in it with the weight that all threads have. */
        take(&cost[PT_STACK_PREPARING_S], is_own && state->start_ns < training.start_ns, view->shared_s[critical]);
        if (state->start_ns >= training.start_ns && state->start_ns <= training.end_ns)
            add_training(cost, state, codes[frame], s);
    }
}

static bool is_main_of_program(enum role role)
{
    return role == ROLE_MAIN || role == ROLE_MAIN_ON_PATH;
}

/* Of a main thread's samples. */
static void add_main(double *cost, pt_u16 code, double s)
{
    cost[code & PT_IN_IMPORT ? PT_STACK_IMPORTS_S : PT_STACK_STEPS_S] += s;
    cost[PT_STACK_FORWARD_S] += code & (PT_IN_IMPORT | PT_IN_BACKWARD | PT_IN_SAVING) ? 0 : s;
    cost[PT_STACK_PREPARING_S] += code & (PT_IN_IMPORT | PT_IN_FRAMEWORK | PT_IN_OPERATION) ? 0 : s;
    cost[PT_STACK_FETCH_S] += code & PT_IN_FETCH ? s : 0;
}

/* What others compute beside the path is worth no more than the path waits. */
static void add_beside(struct sums *sums, const struct sums *beside, double waits_s)
{
    for (size_t i = 0; i < beside->n && waits_s > 0; i++) {
        double *cost = cost_at(sums, beside->items[i].frame, beside->items[i].part);
        for (int j = 0; j < PT_STACK__COUNT; j++)
            cost[j] += fmin(beside->items[i].cost[j], waits_s);
    }
}

static void what_ran(struct pt_profile *profile, pt_u32 stage, const struct pt_path_thread *threads, const pt_u8 *roles,
                     pt_u32 critical)
{
    const struct pt_cpu_view *view = &profile->facts->views[stage];
    PT_AUTO(pt_freep) pt_u16 *codes = pt_training_codes(view);
    struct sums sums = {0}, beside = {0};
    struct pt_path_weights weights;
    double imports_s = 0;
    pt_path_weights_open(&weights, profile, stage, threads, critical);
    for (size_t i = 0; i < view->data->n_counts; i++) {
        const struct pt_cpu_count *count = &view->data->counts[i];
        const double s = (double)count->samples * view->shared_s[count->thread];
        const pt_u32 frame = view->frame_of[count->node];
        double *cost = cost_at(&sums, frame, PT_STACK_ANY_PART);
        cost[PT_STACK_CPU_S] += s;
        cost[PT_STACK_WORKER_S] += is_of_worker(roles[count->thread]) ? s : 0;
        cost[PT_STACK_IN_WORKER_S] += weights.in_worker[count->thread] ? s : 0;
        cost[PT_STACK_FAULT_S] += pt_cpu_is_page_fault(view, count->node) ? s : 0;
        cost[PT_STACK_ALLOCATOR_S] += pt_cpu_allocates(view, count->node) ? s : 0;
        const bool is_main = is_main_of_program((enum role)roles[count->thread]);
        if (!is_main && count->thread != critical)
            continue;
        const double on_path_s = pt_path_weight(&weights, count->thread, count->node) * s;
        imports_s += codes[frame] & PT_IN_IMPORT ? on_path_s : 0;
        if (!is_main)
            continue;
        add_main(cost, codes[frame], on_path_s);
        if (!weights.is_peer[count->thread] && on_path_s < s)
            add_main(cost_at(&beside, frame, PT_STACK_ANY_PART), codes[frame], s - on_path_s);
    }
    add_beside(&sums, &beside, pt_path_waits_s(profile, stage));
    fini(&beside);
    pt_path_weights_close(&weights);
    if (critical)
        what_the_critical_one_ran(&sums, profile, stage, critical, codes);
    keep(profile, stage, &sums);
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "cpu.imports_s", pt_real(imports_s));
}

struct whose { /* a thread's */
    pt_u32 number;
    const struct pt_path_thread *on_path;
    enum role role;
    bool waits_last;
};

static void add_call(double *cost, const struct whose *whose, bool is_critical, double s)
{
    const bool is_handed = whose->on_path->share > 0 && !is_critical;
    cost[PT_STACK_CALL_S] += s;
    cost[PT_STACK_MAIN_CALL_S] += is_critical ? s : 0;
    cost[PT_STACK_MAINS_CALL_S] += whose->role != ROLE_OTHER && !is_handed ? s : 0;
    cost[PT_STACK_LAST_CALL_S] += whose->waits_last ? s : 0;
    cost[PT_STACK_WORKER_S] += is_of_worker((pt_u8)whose->role) ? s : 0;
}

/* Waits count for those of their length, as in the table of them; samples within a call for the time between two. */
static void add_thread(struct sums *sums, const struct pt_facts *facts, pt_u32 stage, const struct whose *whose)
{
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, stage);
    const struct pt_cpu_view *view = &facts->views[stage];
    const pt_u32 thread = whose->number;
    const bool has_waits = view->data->header.flags & PT_CPU_WAITS;
    const struct pt_off_weights weights = has_waits ? pt_off_cpu_weigh(cpu, thread) : (struct pt_off_weights){0};
    for (size_t i = cpu->first[thread]; i < cpu->first[thread + 1]; i++) {
        const struct pt_cpu_state *state = &cpu->states[i];
        const bool waits = has_waits && state->flags & PT_CPU_HAS_STACK, runs = state->flags & PT_CPU_RAN;
        if ((!waits && !(runs && state->part)) || (waits && whose->role == ROLE_IDLE))
            continue;
        const enum pt_time_part part = pt_off_cpu_part(state);
        add_call(cost_at(sums, view->frame_of[state->node], part), whose,
                 pt_path_thread_is_critical(facts, whose->on_path, state->start_ns, state->end_ns, part),
                 waits ? pt_off_cpu_s(&weights, state) : view->sample_s[thread]);
    }
}

void pt_cpu_stacks(struct pt_profile *profile, pt_u32 stage, const struct pt_path_thread *threads, pt_u32 critical)
{
    PT_AUTO(pt_freep) pt_u8 *roles = roles_of(profile, stage);
    PT_AUTO(pt_freep) bool *last = last_waiters_of(profile, stage);
    struct sums sums = {0};
    what_ran(profile, stage, threads, roles, critical);
    for (pt_u32 i = 1; i < profile->facts->views[stage].data->n_threads; i++)
        add_thread(&sums, profile->facts, stage, &(struct whose){i, &threads[i], (enum role)roles[i], last[i]});
    keep(profile, stage, &sums);
}
