/* SPDX-License-Identifier: MIT
 *
 * Owns: which samples are of the critical path. Threads: one. Never: takes a rank that computes beside the path's for a
 * part of it.
 */
#include "path_weights.h"

#include <stdlib.h>

#include "facts/workers.h"
#include "util/mem.h"

static pt_u64 key_of(pt_u32 thread, pt_u32 node)
{
    return (pt_u64)thread << 32 | node;
}

/* Commands that a launcher runs one after the other are on it in turn. */
static void count_samples(struct pt_path_weights *weights, const struct pt_facts *facts, pt_u32 stage, pt_u32 thread)
{
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, stage);
    const struct pt_process *process = weights->threads[thread].process;
    for (size_t i = cpu->first[thread]; i < cpu->first[thread + 1]; i++) {
        const struct pt_cpu_state *state = &cpu->states[i];
        if (!(state->flags & PT_CPU_RAN))
            continue;
        const bool is_on = pt_path_ns(facts->paths, process, state->start_ns, state->start_ns + 1) > 0;
        *pt_map_at(&weights->counts, key_of(thread, state->node)) += (pt_u64)is_on << 32 | 1;
    }
}

/* Whoever hands on what a worker has made is a thread of its own there. */
static void note_threads(struct pt_path_weights *weights, const struct pt_facts *facts,
                         const struct pt_process *process)
{
    const bool in_worker = pt_is_worker(process) && !pt_path_is_whole(facts->paths, process);
    for (pt_u32 i = 0; in_worker && i < process->n_threads; i++)
        weights->in_worker[pt_facts_cpu_thread(facts, &process->threads[i])] = true;
}

static bool is_peer_of_path(const struct pt_facts *facts, pt_u32 stage, const struct pt_process *process)
{
    const struct pt_process *longest = facts->paths->stages[stage].longest;
    return longest && process != longest && pt_are_peers(process, longest);
}

void pt_path_weights_open(struct pt_path_weights *weights, const struct pt_profile *profile, pt_u32 stage,
                          const struct pt_path_thread *threads, pt_u32 critical)
{
    const struct pt_facts *facts = profile->facts;
    const struct pt_session *session = profile->session;
    *weights = (struct pt_path_weights){.threads = threads, .critical = critical};
    weights->is_peer = pt_calloc(facts->views[stage].data->n_threads + 1, sizeof *weights->is_peer);
    weights->in_worker = pt_calloc(facts->views[stage].data->n_threads + 1, sizeof *weights->in_worker);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        const struct pt_thread *thread = pt_main_thread(process);
        if (pt_profile_stage_of(profile, process) != stage)
            continue;
        note_threads(weights, facts, process);
        const pt_u32 number = thread ? pt_facts_cpu_thread(facts, thread) : 0;
        if (!number)
            continue;
        weights->is_peer[number] = is_peer_of_path(facts, stage, process);
        if (number != critical && threads[number].process && threads[number].share < 1)
            count_samples(weights, facts, stage, number);
    }
}

void pt_path_weights_close(struct pt_path_weights *weights)
{
    free(weights->is_peer);
    free(weights->in_worker);
    pt_map_fini(&weights->counts);
}

double pt_path_weight(const struct pt_path_weights *weights, pt_u32 thread, pt_u32 node)
{
    const double share = weights->threads[thread].share;
    if (thread == weights->critical || share <= 0 || share >= 1)
        return thread == weights->critical || share > 0 ? 1 : 0;
    const pt_u64 *counts = pt_map_find(&weights->counts, key_of(thread, node));
    return counts ? (double)(*counts >> 32) / (double)(pt_u32)*counts : share;
}
