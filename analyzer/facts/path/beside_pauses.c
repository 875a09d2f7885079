/* SPDX-License-Identifier: MIT
 *
 * Owns: what own threads and workers computed beside the pauses of a main thread. Threads: one. Never: counts a time
 * twice in which several computed; counts commands, of which the rule about pauses knows more.
 */
#include "beside_pauses.h"

#include <stdlib.h>
#include <time.h>

#include "proftrace/payloads.h"
#include "facts/workers.h"
#include "util/auto.h"
#include "util/mem.h"

/* Between two pauses of a loop, for a look. */
#define LOOK_NS 2000000
enum { MOST_BINS = 1 << 22 };

/* Samples stand for the time until the next one: a bin is as long. */
struct bins {
    pt_u8 *are_used;
    size_t n;
    double ns; /* of each */
};

static void mark(const struct pt_pauses *pauses, const struct pt_facts *facts, const struct pt_thread *thread,
                 struct bins *bins)
{
    const pt_u32 number = pt_facts_cpu_thread(facts, thread);
    const struct pt_cpu_state *states;
    if (!number)
        return;
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, pt_profile_stage_of(facts->profile, thread->process));
    const size_t n = pt_cpu_states(cpu, number, pauses->start_ns, pauses->end_ns, &states);
    for (size_t i = 0; i < n; i++) {
        const double bin = (double)(states[i].start_ns - pauses->start_ns) / bins->ns;
        if (states[i].flags & PT_CPU_RAN && bin >= 0 && bin < (double)bins->n)
            bins->are_used[(size_t)bin] = 1;
    }
}

static double sample_ns(const struct pt_facts *facts, const struct pt_process *process)
{
    const pt_u32 stage = pt_profile_stage_of(facts->profile, process);
    const struct pt_thread *thread = pt_main_thread(process);
    const pt_u32 number = thread ? pt_facts_cpu_thread(facts, thread) : 0;
    return number ? facts->views[stage].sample_s[number] * 1e9 : 0;
}

static void mark_all(const struct pt_pauses *pauses, const struct pt_facts *facts, const struct pt_process *process,
                     bool with_main, struct bins *bins)
{
    for (pt_u32 i = 0; i < process->n_threads; i++)
        if (with_main || &process->threads[i] != pt_main_thread(process))
            mark(pauses, facts, &process->threads[i], bins);
}

static void mark_workers(const struct pt_pauses *pauses, const struct pt_facts *facts, const struct pt_process *process,
                         struct bins *bins)
{
    const struct pt_session *session = process->session;
    for (pt_u32 i = 0; i < session->n_processes && facts->have_workers[process->index]; i++) {
        const struct pt_process *one = session->processes[i];
        if (pt_is_worker(one) && pt_maker_of(one) == process)
            mark_all(pauses, facts, one, true, bins);
    }
}

static double computed_ns(const struct pt_pauses *pauses, const struct pt_facts *facts,
                          const struct pt_process *process)
{
    const double paused_ns = (double)(pauses->end_ns - pauses->start_ns), each_ns = sample_ns(facts, process);
    if (!(each_ns > 0) || paused_ns < each_ns || paused_ns / each_ns >= MOST_BINS)
        return 0;
    struct bins bins = {.n = (size_t)(paused_ns / each_ns) + 1, .ns = each_ns};
    PT_AUTO(pt_freep) pt_u8 *are_used = bins.are_used = pt_calloc(bins.n, 1);
    mark_all(pauses, facts, process, false, &bins);
    mark_workers(pauses, facts, process, &bins);
    size_t used = 0;
    for (size_t i = 0; i < bins.n; i++)
        used += are_used[i];
    return paused_ns * (double)used / (double)bins.n;
}

static pt_i64 meant_ns(const struct pt_event *e)
{
    if (e->desc->kind != PT_KIND_wait_sleep || pt_event_as(e, wait_sleep)->requested_ns <= 0)
        return e->duration_ns;
    const pt_i64 requested_ns = pt_event_as(e, wait_sleep)->requested_ns;
    if (!pt_event_as(e, wait_sleep)->is_absolute)
        return requested_ns;
    const pt_u64 now_ns = e->process->start_monotonic_ns + (pt_u64)(e->start_ns - e->process->start_ns);
    return e->tag == CLOCK_MONOTONIC && e->process->start_monotonic_ns ? (pt_i64)((pt_u64)requested_ns - now_ns)
                                                                       : e->duration_ns;
}

bool pt_is_short_pause(const struct pt_event *sleep)
{
    return meant_ns(sleep) < PT_SHORT_SLEEP_NS;
}

void pt_pauses_add(struct pt_pauses *pauses, const struct pt_facts *facts, const struct pt_event *pause)
{
    if (pauses->end_ns && pause->start_ns - pauses->end_ns <= LOOK_NS) {
        pauses->end_ns = pt_event_end_ns(pause);
        return;
    }
    pauses->computed_ns += computed_ns(pauses, facts, pause->process);
    pauses->start_ns = pause->start_ns;
    pauses->end_ns = pt_event_end_ns(pause);
}

double pt_pauses_computed_ns(struct pt_pauses *pauses, const struct pt_facts *facts, const struct pt_process *process)
{
    pauses->computed_ns += computed_ns(pauses, facts, process);
    pauses->start_ns = pauses->end_ns = 0;
    return pauses->computed_ns;
}
