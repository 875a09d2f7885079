/* SPDX-License-Identifier: MIT
 *
 * t_quiet.c - most calls are skipped because they lie between two waits, or two samples, of their thread: what is found
 * of all calls is what is found when none is skipped. Times are few, so that many are equal; tids are used twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proftrace/events.h"
#include "analysis/account/moments.h"
#include "analysis/cpu/off_cpu.h"
#include "decode/event.h"

enum { THREADS = 7, TIDS = 3, MOMENTS = 40, CALLS = 60, ROUNDS = 3000 };

static pt_u64 state_of_random = 88172645463325252ull;

static pt_u32 below(pt_u32 limit)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (pt_u32)(state_of_random >> 33) % limit;
}

static struct pt_cpu_thread threads_seen[THREADS];
static struct pt_cpu_wait waits[MOMENTS];
static struct pt_cpu_sample samples[MOMENTS];
static struct pt_cpu_wait_sums sums[THREADS];
static struct pt_thread threads[TIDS]; /* two of them share a place in the table of quiet ones */
static struct pt_event calls[CALLS];

static int by_end(const void *a, const void *b)
{
    const pt_i64 x = pt_event_end_ns((const struct pt_event *)a), y = pt_event_end_ns((const struct pt_event *)b);
    return (x > y) - (x < y);
}

static const struct pt_event_desc *row(pt_u32 number)
{
    for (pt_u32 i = 0;; i++)
        if (pt_event_descs[i].row == number)
            return &pt_event_descs[i];
}

static struct pt_cpu_data new_story(void)
{
    static const pt_u32 tids[TIDS] = {100, 100 + PT_OFF_QUIET, 101}, rows[] = {PT_ROW_wait_sleep, PT_ROW_wait_child};
    const pt_u32 latest = 1 + below(60), n_waits = below(MOMENTS + 1);
    static struct pt_process process;
    for (int i = 0; i < TIDS; i++)
        threads[i] = (struct pt_thread){.process = &process, .tid = tids[i]};
    memset(sums, 0, sizeof sums);
    for (pt_u32 i = 1; i < THREADS; i++) {
        threads_seen[i] = (struct pt_cpu_thread){.number = i, .tid = tids[below(TIDS)], .start_ns = below(latest)};
        sums[i].blocked_ns[0] = below(8) ? 0 : 1000;
    }
    for (int i = 0; i < MOMENTS; i++) {
        waits[i] = (struct pt_cpu_wait){.t_ns = below(latest), .duration_ns = below(5), .thread = below(THREADS)};
        samples[i] = (struct pt_cpu_sample){.t_ns = below(latest), .thread = below(THREADS)};
    }
    for (int i = 0; i < CALLS; i++)
        calls[i] = (struct pt_event){.start_ns = (pt_i64)below(latest + 4) - 2,
                                     .duration_ns = below(below(2) ? 3 : latest),
                                     .desc = row(rows[below(2)]),
                                     .process = &process,
                                     .thread = &threads[below(TIDS)]};
    qsort(calls, CALLS, sizeof *calls, by_end);
    return (struct pt_cpu_data){.header.flags = below(2) ? PT_CPU_WAITS : 0,
                                .threads = threads_seen,
                                .wait_sums = sums,
                                .waits = waits,
                                .samples = samples,
                                .n_threads = THREADS,
                                .n_waits = n_waits,
                                .n_samples = MOMENTS};
}

static void waits_find_the_same_calls(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct pt_cpu_data data = new_story();
        struct pt_cpu_threads cpu;
        struct pt_off_cpu skips, looks;
        pt_cpu_threads_open(&cpu, &data, 0);
        pt_off_cpu_open(&skips, &cpu);
        pt_off_cpu_open(&looks, &cpu);
        for (int i = 0; i < CALLS; i++) {
            pt_off_cpu_event(&skips, &calls[i]);
            if (looks.quiet)
                memset(looks.quiet, 0, PT_OFF_QUIET * sizeof *looks.quiet);
            pt_off_cpu_event(&looks, &calls[i]);
        }
        for (size_t i = 0; i < skips.n; i++)
            assert_int_equal(skips.waits[i].part, looks.waits[i].part);
        pt_off_cpu_weigh(&skips);
        pt_off_cpu_weigh(&looks);
        assert_memory_equal(skips.unsampled_of_s, looks.unsampled_of_s, sizeof skips.unsampled_of_s);
        pt_off_cpu_close(&skips);
        pt_off_cpu_close(&looks);
        pt_cpu_threads_close(&cpu);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct account_interval *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* One thread, number 1, has all samples and intervals. */
struct marks {
    struct account_moments moments;
    struct account_interval intervals[MOMENTS];
    bool is_inside[2 * MOMENTS];
    size_t first[THREADS + 1], next_interval[THREADS], next_sample[THREADS];
};

static void open_marks(struct marks *marks, const struct pt_cpu_threads *cpu, pt_i64 shift_ns)
{
    marks->moments = (struct account_moments){.cpu = cpu,
                                              .sample_shift_ns = shift_ns,
                                              .is_inside = marks->is_inside,
                                              .intervals = marks->intervals,
                                              .first = marks->first,
                                              .next_interval = marks->next_interval,
                                              .next_sample = marks->next_sample};
    for (int i = 2; i <= THREADS; i++)
        marks->first[i] = MOMENTS;
    marks->next_sample[1] = cpu->first[1];
}

static void samples_find_the_same_calls(void **state)
{
    (void)state;
    pt_u32 n_skipped = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct pt_cpu_data data = new_story();
        struct pt_cpu_threads cpu;
        struct marks skips = {0}, looks;
        for (int i = 0; i < MOMENTS; i++) {
            const pt_i64 start_ns = below(64);
            samples[i].thread = waits[i].thread = 1;
            skips.intervals[i] = (struct account_interval){start_ns, start_ns + below(6), !below(3), false};
        }
        qsort(skips.intervals, MOMENTS, sizeof *skips.intervals, by_start);
        looks = skips;
        pt_cpu_threads_open(&cpu, &data, 0);
        const pt_i64 shift_ns = (pt_i64)below(9) - 4;
        open_marks(&skips, &cpu, shift_ns);
        open_marks(&looks, &cpu, shift_ns);
        pt_i64 skips_ns = 0, looks_ns = 0;
        struct account_quiet quiet = {0}, unused;
        for (int i = 0; i < CALLS; i++) {
            const pt_i64 start_ns = calls[i].start_ns, end_ns = pt_event_end_ns(&calls[i]);
            const bool is_quiet = start_ns > quiet.from_ns && end_ns < quiet.until_ns;
            skips_ns += is_quiet ? 0 : pt_account_moments_in(&skips.moments, 1, start_ns, end_ns, &quiet);
            looks_ns += pt_account_moments_in(&looks.moments, 1, start_ns, end_ns, &unused);
            n_skipped += is_quiet;
        }
        assert_int_equal(skips_ns, looks_ns);
        assert_memory_equal(skips.is_inside, looks.is_inside, sizeof skips.is_inside);
        assert_memory_equal(skips.intervals, looks.intervals, sizeof skips.intervals);
        pt_cpu_threads_close(&cpu);
    }
    assert_true(n_skipped > ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_find_the_same_calls),
        cmocka_unit_test(samples_find_the_same_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
