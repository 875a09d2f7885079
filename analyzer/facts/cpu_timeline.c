/* SPDX-License-Identifier: MIT
 *
 * Owns: the states of a stage's threads in order, and in which recorded calls they lie. Threads: one while there are
 * events, then any. Never: mixes a thread with an earlier one of the same tid.
 *
 * A state lies in a call if its middle does: the clocks of states and calls are not read at the same time, so the ends
 * may disagree.
 */
#include "cpu_timeline.h"

#include <math.h>
#include <stdlib.h>

#include "cpu_file/switches.h"
#include "util/mem.h"
#include "util/whole.h"
#include "cpu_code.h"

#define LARGEST_SHIFT_NS 4000000000000000000ll

/* A file may claim any time: wraps around instead of being undefined. */
static pt_i64 shifted(pt_u64 t_ns, pt_i64 shift_ns)
{
    return (pt_i64)(t_ns + (pt_u64)shift_ns);
}

static bool is_sane(pt_i64 shift_ns)
{
    return shift_ns <= LARGEST_SHIFT_NS && shift_ns >= -LARGEST_SHIFT_NS;
}

/* By the clock that both have, where the root noted it: between two readings of different ones anything may happen. */
static pt_i64 shift_of(const struct pt_cpu_data *data, const struct pt_session *session, const struct pt_process *root)
{
    const pt_i64 by_realtime_ns = (pt_i64)(data->header.begin_realtime_ns - session->start_realtime_ns);
    pt_i64 shift_ns;
    if (root && root->start_monotonic_ns &&
        !__builtin_add_overflow(root->start_ns, (pt_i64)(data->header.begin_monotonic_ns - root->start_monotonic_ns),
                                &shift_ns) &&
        is_sane(shift_ns))
        return shift_ns;
    return is_sane(by_realtime_ns) ? by_realtime_ns : 0;
}

/* ---- states ---- */

static int by_time(const void *a, const void *b)
{
    const struct pt_cpu_state *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->flags - y->flags;
}

static void put(struct pt_cpu_timeline *timeline, pt_u32 thread, pt_u64 t_ns, pt_u64 ns, struct pt_cpu_state state)
{
    state.start_ns = shifted(t_ns, timeline->shift_ns);
    state.end_ns = shifted(ns, state.start_ns);
    timeline->states[timeline->first[thread + 1]++] = state;
}

/* Without the kernel's there are samples of Python alone: what they say would not hold for all that ran. */
static size_t n_samples_of(const struct pt_cpu_data *data)
{
    return data->header.flags & PT_CPU_SAMPLED ? data->n_samples : 0;
}

static void put_all(struct pt_cpu_timeline *timeline)
{
    const struct pt_cpu_data *data = timeline->data;
    for (size_t i = 0; i < n_samples_of(data); i++)
        put(timeline, data->samples[i].thread, data->samples[i].t_ns, 0,
            (struct pt_cpu_state){.node = data->samples[i].node, .flags = PT_CPU_RAN});
    for (size_t i = 0; i < data->n_waits; i++) {
        const struct pt_cpu_wait *wait = &data->waits[i];
        /* A preempted thread makes no system call, either. */
        const pt_u32 kind = wait->flags & PT_CPU_WAIT_PREEMPTED ? PT_CPU_PREEMPTED
                            : wait->flags & PT_CPU_WAIT_FAULT   ? PT_CPU_FAULT
                                                                : 0;
        put(timeline, wait->thread, wait->t_ns, wait->duration_ns,
            (struct pt_cpu_state){.node = wait->node, .flags = (pt_u8)(PT_CPU_HAS_STACK | kind)});
    }
    for (size_t i = 0; i < data->n_intervals; i++) {
        const struct pt_cpu_interval *one = &data->intervals[i];
        const pt_u32 kind = one->kind == PT_CPU_INTERVAL_FAULT ? PT_CPU_FAULT : PT_CPU_PREEMPTED;
        if (one->kind <= PT_CPU_INTERVAL_FAULT)
            put(timeline, one->thread, one->t_ns, one->duration_ns,
                (struct pt_cpu_state){.flags = (pt_u8)(PT_CPU_IS_EXACT | kind)});
    }
}

static void count_all(struct pt_cpu_timeline *timeline)
{
    const struct pt_cpu_data *data = timeline->data;
    for (size_t i = 0; i < n_samples_of(data); i++)
        timeline->first[data->samples[i].thread + 2]++;
    for (size_t i = 0; i < data->n_waits; i++)
        timeline->first[data->waits[i].thread + 2]++;
    for (size_t i = 0; i < data->n_intervals; i++)
        timeline->first[data->intervals[i].thread + 2] += data->intervals[i].kind <= PT_CPU_INTERVAL_FAULT;
    for (size_t i = 2; i < data->n_threads + 2; i++)
        timeline->first[i] += timeline->first[i - 1];
}

/* A wait with a stack may be recorded a second time with its exact time, a little shorter because of the switches:
 * join the two, in the shorter time. Returns how many are left. */
static size_t join_same(struct pt_cpu_state *states, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct pt_cpu_state *last = kept ? &states[kept - 1] : NULL, *one = &states[i];
        const pt_u32 both = last ? last->flags | one->flags : 0u;
        const bool is_same = last && (last->start_ns == one->start_ns || one->end_ns <= last->end_ns);
        if (is_same && !(both & PT_CPU_RAN) && both & PT_CPU_HAS_STACK &&
            (last->flags ^ one->flags) & PT_CPU_HAS_STACK) {
            const struct pt_cpu_state *with_stack = last->flags & PT_CPU_HAS_STACK ? last : one;
            const struct pt_cpu_state *exact = with_stack == last ? one : last;
            *last = (struct pt_cpu_state){
                .start_ns = exact->start_ns, .end_ns = exact->end_ns, .node = with_stack->node, .flags = (pt_u8)both};
        } else {
            states[kept++] = *one;
        }
    }
    return kept;
}

static void take_states(struct pt_cpu_timeline *timeline)
{
    const struct pt_cpu_data *data = timeline->data;
    size_t n = 0;
    timeline->states = pt_malloc((data->n_samples + data->n_waits + data->n_intervals + 1) * sizeof *timeline->states);
    timeline->first = pt_calloc(data->n_threads + 2, sizeof *timeline->first);
    count_all(timeline);
    /* first[i + 1] is where the next one of thread i goes: at the end it is where thread i + 1 begins. */
    put_all(timeline);
    for (size_t i = 0, first = 0; i < data->n_threads; i++) {
        struct pt_cpu_state *own = timeline->states + first;
        const size_t end = timeline->first[i + 1];
        if (end - first > 1)
            qsort(own, end - first, sizeof *own, by_time);
        const size_t kept = join_same(own, end - first);
        for (size_t j = 0; j < kept && n != first; j++)
            timeline->states[n + j] = own[j];
        timeline->first[i] = n;
        n += kept;
        first = end;
    }
    timeline->first[data->n_threads] = n;
}

void pt_cpu_timeline_open(struct pt_cpu_timeline *timeline, struct pt_cpu_data *data, const struct pt_session *session,
                          const struct pt_process *root)
{
    *timeline = (struct pt_cpu_timeline){.data = data};
    if (!data)
        return;
    timeline->shift_ns = shift_of(data, session, root);
    timeline->before = pt_calloc(data->n_threads, sizeof *timeline->before);
    for (pt_u32 i = 1; i < data->n_threads; i++) {
        pt_u64 *last = pt_map_at(&timeline->by_tid, data->threads[i].tid);
        timeline->before[i] = (pt_u32)*last;
        *last = i;
    }
    take_states(timeline);
    timeline->cursors = pt_calloc(data->n_threads, sizeof *timeline->cursors);
    for (size_t i = 0; i < data->n_threads; i++)
        timeline->cursors[i].next = timeline->first[i];
}

void pt_cpu_timeline_close(struct pt_cpu_timeline *timeline)
{
    pt_cpu_data_free(timeline->data);
    pt_map_fini(&timeline->by_tid);
    free(timeline->before);
    free(timeline->states);
    free(timeline->first);
    free(timeline->cursors);
    *timeline = (struct pt_cpu_timeline){0};
}

pt_u32 pt_cpu_timeline_thread(const struct pt_cpu_timeline *timeline, const struct pt_thread *thread)
{
    enum { SLACK_NS = 1000000 }; /* of two clocks that were read one after the other */
    const bool is_in_it = timeline->data && !thread->process->is_elsewhere;
    const pt_u64 *last = is_in_it ? pt_map_find(&timeline->by_tid, thread->tid) : NULL;
    pt_u32 number = last ? (pt_u32)*last : 0;
    while (number &&
           shifted(timeline->data->threads[number].start_ns, timeline->shift_ns) > thread->start_ns + SLACK_NS &&
           timeline->before[number])
        number = timeline->before[number];
    return number && timeline->data->threads[number].pid == thread->process->pid ? number : 0;
}

/* ---- calls ---- */

static pt_i64 middle_of(const struct pt_cpu_state *state)
{
    return state->start_ns + (state->end_ns - state->start_ns) / 2;
}

static pt_i64 enclose(struct pt_cpu_state *state, pt_u32 part)
{
    const pt_u32 is_preempted = PT_CPU_IS_EXACT | PT_CPU_PREEMPTED;
    const bool counts = !state->part && (state->flags & (is_preempted | PT_CPU_FAULT)) == is_preempted;
    if (!state->part)
        state->part = (pt_u8)(part + 1);
    return counts ? state->end_ns - state->start_ns : 0;
}

/* States before the last call's end matter again only for a call around that one. */
pt_i64 pt_cpu_timeline_call(struct pt_cpu_timeline *timeline, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns,
                            pt_u32 part)
{
    struct pt_cpu_cursor *cursor = &timeline->cursors[thread];
    const size_t first = timeline->first[thread], end = timeline->first[thread + 1];
    size_t back = cursor->next;
    pt_i64 preempted_ns = 0;
    if (start_ns > cursor->no_state_from_ns && end_ns < cursor->no_state_until_ns)
        return 0;
    while (back > first && middle_of(&timeline->states[back - 1]) >= start_ns)
        preempted_ns += enclose(&timeline->states[--back], part);
    for (; cursor->next < end && middle_of(&timeline->states[cursor->next]) <= end_ns; cursor->next++)
        if (middle_of(&timeline->states[cursor->next]) >= start_ns)
            preempted_ns += enclose(&timeline->states[cursor->next], part);
    cursor->no_state_from_ns = cursor->next > first ? middle_of(&timeline->states[cursor->next - 1]) : INT64_MIN;
    cursor->no_state_until_ns = cursor->next < end ? middle_of(&timeline->states[cursor->next]) : INT64_MAX;
    return preempted_ns;
}

/* ---- questions ---- */

size_t pt_cpu_states(const struct pt_cpu_timeline *timeline, pt_u32 thread, pt_i64 from_ns, pt_i64 until_ns,
                     const struct pt_cpu_state **ret_first)
{
    if (!thread)
        return 0;
    size_t low = timeline->first[thread], high = timeline->first[thread + 1];
    const size_t first = low, end = high;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (timeline->states[middle].start_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    /* A thread is in one state at a time: only the one before can reach into it. */
    low -= low > first && timeline->states[low - 1].end_ns > from_ns;
    *ret_first = timeline->states + low;
    for (high = low; high < end && timeline->states[high].start_ns <= until_ns; high++)
        ;
    return high - low;
}

struct pt_cpu_between pt_cpu_between(const struct pt_cpu_timeline *timeline, const struct pt_cpu_view *view,
                                     pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns)
{
    const struct pt_cpu_state *states;
    struct pt_cpu_between between = {0};
    const size_t n = pt_cpu_states(timeline, thread, start_ns, end_ns, &states);
    for (size_t i = 0; i < n; i++) {
        const struct pt_cpu_state *one = &states[i];
        const pt_i64 from_ns = one->start_ns > start_ns ? one->start_ns : start_ns;
        const pt_i64 to_ns = one->end_ns < end_ns ? one->end_ns : end_ns;
        if (one->flags & PT_CPU_RAN)
            *(pt_cpu_runs_python(view, one->node) ? &between.python : &between.native) += !one->part;
        else if (one->flags & PT_CPU_IS_EXACT && to_ns > from_ns)
            *(one->flags & PT_CPU_FAULT ? &between.fault_ns : &between.preempted_ns) += (double)(to_ns - from_ns);
    }
    return between;
}

static bool is_recorded_fault(const struct pt_cpu_state *state)
{
    return state->flags & PT_CPU_FAULT && state->flags & PT_CPU_IS_EXACT && !state->part;
}

/* What is not recorded one by one includes the time of switches, which is on the CPU: see cpu_file/switches.h. */
static double share_of_switches(pt_u32 class)
{
    return fmin(PT_CPU_LONGEST_SWITCH_NS / (1.5 * 1024 * (double)(1u << class)), 1);
}

void pt_cpu_unrecorded(const struct pt_cpu_timeline *timeline, pt_u32 thread, struct pt_cpu_unrecorded *ret_unrecorded)
{
    struct pt_cpu_unrecorded unrecorded = {0};
    double recorded_ns[PT_CPU_WAIT_CLASSES] = {0}, recorded_fault_ns[PT_CPU_WAIT_CLASSES] = {0};
    for (size_t i = timeline->first[thread]; i < timeline->first[thread + 1]; i++) {
        const struct pt_cpu_state *one = &timeline->states[i];
        const double ns = (double)(one->end_ns - one->start_ns);
        const pt_u32 class = pt_cpu_wait_class(pt_whole(ns));
        if (one->flags & (PT_CPU_RAN | PT_CPU_PREEMPTED))
            continue;
        recorded_ns[class] += ns;
        recorded_fault_ns[class] += is_recorded_fault(one) ? ns : 0;
        if (!(one->flags & PT_CPU_HAS_STACK))
            continue;
        *(is_recorded_fault(one) ? &unrecorded.fault_with_stack_ns[class] : &unrecorded.with_stack_ns[class]) += ns;
    }
    for (pt_u32 class = 0; class < PT_CPU_WAIT_CLASSES; class ++) {
        const double all_ns = (double)timeline->data->wait_sums[thread].blocked_ns[class];
        const double stacks_ns = unrecorded.with_stack_ns[class] + unrecorded.fault_with_stack_ns[class];
        const double fault_ns = stacks_ns > 0 ? all_ns * unrecorded.fault_with_stack_ns[class] / stacks_ns : 0;
        unrecorded.all_ns[class] = fmax(all_ns - recorded_ns[class], 0);
        unrecorded.fault_ns[class] = (1 - share_of_switches(class)) *
                                     fmin(fmax(fault_ns - recorded_fault_ns[class], 0), unrecorded.all_ns[class]);
    }
    *ret_unrecorded = unrecorded;
}

struct pt_cpu_life pt_cpu_life(const struct pt_cpu_timeline *timeline, const struct pt_cpu_view *view, pt_u32 thread)
{
    struct pt_cpu_life life = {0};
    double all_fault_ns = 0;
    for (size_t i = timeline->first[thread]; i < timeline->first[thread + 1]; i++) {
        const struct pt_cpu_state *one = &timeline->states[i];
        const double ns = (double)(one->end_ns - one->start_ns);
        if (one->flags & PT_CPU_RAN) {
            life.samples += !one->part;
            life.python += !one->part && pt_cpu_runs_python(view, one->node);
        } else if (one->flags & PT_CPU_IS_EXACT) {
            const bool is_fault = one->flags & PT_CPU_FAULT;
            life.preempted_ns += is_fault ? 0 : ns;
            all_fault_ns += is_fault ? ns : 0;
            life.fault_ns += is_fault && !one->part ? ns : 0;
        }
    }
    struct pt_cpu_unrecorded unrecorded;
    double unrecorded_ns = 0;
    pt_cpu_unrecorded(timeline, thread, &unrecorded);
    for (int i = 0; i < PT_CPU_WAIT_CLASSES; i++)
        unrecorded_ns += unrecorded.fault_ns[i];
    /* More of them than were kept one by one. */
    life.fault_ns += fmax((double)timeline->data->fault_sums[thread].waits_ns - all_fault_ns, unrecorded_ns);
    if (!(timeline->data->header.flags & PT_CPU_FAULTS))
        life.fault_ns = NAN;
    return life;
}
