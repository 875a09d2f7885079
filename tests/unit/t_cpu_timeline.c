/* SPDX-License-Identifier: MIT
 *
 * t_cpu_timeline.c - which recorded call a sample, a preemption or a wait lies in: the innermost one that its middle is
 * in, also where most calls are skipped because they lie between two states; and what of a wait is known twice is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts/cpu_timeline.h"

enum { THREADS = 4, STATES = 40, CALLS = 60, ROUNDS = 3000 };

static pt_u64 state_of_random = 88172645463325252ull;

static pt_u32 below(pt_u32 limit)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (pt_u32)(state_of_random >> 33) % limit;
}

static struct pt_cpu_thread threads_seen[THREADS];
static struct pt_cpu_wait waits[STATES];
static struct pt_cpu_sample samples[STATES];
static struct pt_cpu_interval intervals[STATES];
static struct pt_session session;

/* A timeline gives its data back to the heap. */
static struct pt_cpu_data *data_of(size_t n_samples, size_t n_waits, size_t n_intervals)
{
    struct pt_cpu_data *data = calloc(1, sizeof *data);
    *data = (struct pt_cpu_data){
        .n_threads = THREADS, .n_samples = n_samples, .n_waits = n_waits, .n_intervals = n_intervals};
    return data;
}

static void *copy_of(const void *items, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);
    memcpy(copy, items, bytes);
    return copy;
}

static struct pt_cpu_timeline opened(struct pt_cpu_data *data)
{
    struct pt_cpu_timeline timeline;
    data->threads = copy_of(threads_seen, sizeof threads_seen);
    data->samples = copy_of(samples, data->n_samples * sizeof *samples);
    data->waits = copy_of(waits, data->n_waits * sizeof *waits);
    data->intervals = copy_of(intervals, data->n_intervals * sizeof *intervals);
    pt_cpu_timeline_open(&timeline, data, &session, NULL);
    return timeline;
}

struct call {
    pt_i64 start_ns, end_ns;
    pt_u32 part;
};
static struct call calls[CALLS];

static int by_end(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* One thing after the other, as a thread does them; times are few, so that many are equal. */
static struct pt_cpu_data *new_story(void)
{
    size_t n[3] = {0};
    for (pt_u64 i = 0, t_ns = below(4); i < STATES; i++) {
        const pt_u64 ns = below(5);
        switch (below(3)) {
        case 0:
            samples[n[0]++] = (struct pt_cpu_sample){.t_ns = t_ns, .thread = 1};
            break;
        case 1:
            waits[n[1]++] = (struct pt_cpu_wait){.t_ns = t_ns, .duration_ns = ns, .thread = 1};
            break;
        default:
            intervals[n[2]++] = (struct pt_cpu_interval){t_ns, ns, 1, below(2)};
            break;
        }
        t_ns += ns + 1 + below(3);
    }
    for (int i = 0; i < CALLS; i++) {
        calls[i].start_ns = (pt_i64)below(180) - 2;
        calls[i].end_ns = calls[i].start_ns + below(below(2) ? 3 : 60);
        calls[i].part = below(10);
    }
    qsort(calls, CALLS, sizeof *calls, by_end);
    return data_of(n[0], n[1], n[2]);
}

/* The first one in the order of ends that its middle is in, plus 1. */
static pt_u32 part_of(const struct pt_cpu_state *state)
{
    const pt_i64 middle_ns = state->start_ns + (state->end_ns - state->start_ns) / 2;
    for (int i = 0; i < CALLS; i++)
        if (calls[i].start_ns <= middle_ns && middle_ns <= calls[i].end_ns)
            return calls[i].part + 1;
    return 0;
}

static void the_innermost_call_has_it(void **state)
{
    (void)state;
    pt_u32 n_skipped = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct pt_cpu_timeline timeline = opened(new_story());
        pt_i64 preempted_ns = 0, wanted_ns = 0;
        for (int i = 0; i < CALLS; i++) {
            const struct pt_cpu_cursor before = timeline.cursors[1];
            preempted_ns += pt_cpu_timeline_call(&timeline, 1, calls[i].start_ns, calls[i].end_ns, calls[i].part);
            n_skipped += calls[i].start_ns > before.no_state_from_ns && calls[i].end_ns < before.no_state_until_ns;
        }
        for (size_t i = timeline.first[1]; i < timeline.first[2]; i++) {
            const struct pt_cpu_state *one = &timeline.states[i];
            assert_int_equal(one->part, part_of(one));
            if (one->part && one->flags == (PT_CPU_IS_EXACT | PT_CPU_PREEMPTED))
                wanted_ns += one->end_ns - one->start_ns;
        }
        assert_int_equal(preempted_ns, wanted_ns);
        pt_cpu_timeline_close(&timeline);
    }
    assert_true(n_skipped > ROUNDS);
}

static void a_wait_that_is_known_twice_is_one(void **state)
{
    (void)state;
    waits[0] = (struct pt_cpu_wait){.t_ns = 10, .duration_ns = 5, .thread = 1, .node = 7, .flags = PT_CPU_WAIT_FAULT};
    waits[1] = (struct pt_cpu_wait){.t_ns = 30, .duration_ns = 5, .thread = 2, .node = 8};
    intervals[0] = (struct pt_cpu_interval){10, 5, 1, PT_CPU_INTERVAL_FAULT};
    intervals[1] = (struct pt_cpu_interval){20, 5, 1, PT_CPU_INTERVAL_PREEMPTED};
    intervals[2] = (struct pt_cpu_interval){30, 5, 3, PT_CPU_INTERVAL_PREEMPTED};
    struct pt_cpu_timeline timeline = opened(data_of(0, 2, 3));
    const struct pt_cpu_state wanted[] = {
        {.start_ns = 10, .end_ns = 15, .node = 7, .flags = PT_CPU_FAULT | PT_CPU_HAS_STACK | PT_CPU_IS_EXACT},
        {.start_ns = 20, .end_ns = 25, .flags = PT_CPU_PREEMPTED | PT_CPU_IS_EXACT},
        {.start_ns = 30, .end_ns = 35, .node = 8, .flags = PT_CPU_HAS_STACK},
        {.start_ns = 30, .end_ns = 35, .flags = PT_CPU_PREEMPTED | PT_CPU_IS_EXACT},
    };
    const size_t firsts[] = {0, 0, 2, 3, 4};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(timeline.states[i].start_ns, wanted[i].start_ns);
        assert_int_equal(timeline.states[i].node, wanted[i].node);
        assert_int_equal(timeline.states[i].flags, wanted[i].flags);
    }
    for (size_t i = 0; i <= THREADS; i++)
        assert_int_equal(timeline.first[i], firsts[i]);
    pt_cpu_timeline_close(&timeline);
}

/* The corrected time is a bit shorter on both ends. */
static void a_wait_whose_exact_time_leaves_out_the_switches_is_one(void **state)
{
    (void)state;
    waits[0] = (struct pt_cpu_wait){.t_ns = 100, .duration_ns = 50, .thread = 1, .node = 7, .flags = PT_CPU_WAIT_FAULT};
    intervals[0] = (struct pt_cpu_interval){104, 42, 1, PT_CPU_INTERVAL_FAULT};
    struct pt_cpu_timeline timeline = opened(data_of(0, 1, 1));
    assert_int_equal(timeline.first[2] - timeline.first[1], 1);
    assert_int_equal(timeline.states[0].flags, PT_CPU_FAULT | PT_CPU_HAS_STACK | PT_CPU_IS_EXACT);
    pt_cpu_timeline_close(&timeline);
}

/* 1 s in waits of 10 ms; of 300 ms the kernel says that they were for pages, of two waits there are stacks. */
static struct pt_cpu_unrecorded untold_with(pt_u32 flags_of_the_second)
{
    const pt_u64 ms = 1000000;
    struct pt_cpu_unrecorded unrecorded;
    waits[0] = (struct pt_cpu_wait){.duration_ns = 10 * ms, .thread = 1, .flags = PT_CPU_WAIT_FAULT};
    waits[1] = (struct pt_cpu_wait){.t_ns = 20 * ms, .duration_ns = 10 * ms, .thread = 1, .flags = flags_of_the_second};
    for (pt_u32 i = 0; i < 30; i++)
        intervals[i] = (struct pt_cpu_interval){i * 20 * ms, 10 * ms, 1, PT_CPU_INTERVAL_FAULT};
    struct pt_cpu_data *data = data_of(0, 2, flags_of_the_second ? 30 : 1);
    data->wait_sums = calloc(THREADS, sizeof *data->wait_sums);
    data->wait_sums[1].blocked_ns[pt_cpu_wait_class(10 * ms)] = 1000 * ms;
    struct pt_cpu_timeline timeline = opened(data);
    pt_cpu_unrecorded(&timeline, 1, &unrecorded);
    pt_cpu_timeline_close(&timeline);
    return unrecorded;
}

static void waits_that_nobody_told_of_are_like_those_with_stacks(void **state)
{
    (void)state;
    const pt_u32 class = pt_cpu_wait_class(10000000);
    struct pt_cpu_unrecorded unrecorded = untold_with(PT_CPU_WAIT_FAULT);
    assert_float_equal(unrecorded.all_ns[class], 700e6, 1);
    assert_float_equal(unrecorded.fault_ns[class], 700e6, 5e6); /* less the switches */
    unrecorded = untold_with(0);                                /* half of them were for something else */
    assert_float_equal(unrecorded.fault_ns[class], 490e6, 5e6);
    assert_float_equal(unrecorded.with_stack_ns[class], 10e6, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_call_has_it),
        cmocka_unit_test(a_wait_that_is_known_twice_is_one),
        cmocka_unit_test(a_wait_whose_exact_time_leaves_out_the_switches_is_one),
        cmocka_unit_test(waits_that_nobody_told_of_are_like_those_with_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
