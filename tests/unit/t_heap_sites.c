/* SPDX-License-Identifier: MIT
 *
 * Call sites of heap samples in runs of thousands of processes: how many are kept, and what it takes to look at them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/heap/growth.h"

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Another stack in each process, and sites of whole classes; as many stages as processes. */
static void sites_are_bounded(void **state)
{
    (void)state;
    enum { PROCESSES = 20000, CLASSES = 20, MOST = 120000 };
    struct pt_heap_sites sites = {0};
    struct pt_process *processes = pt_calloc(PROCESSES, sizeof *processes);
    for (pt_u32 i = 0; i < PROCESSES; i++) {
        processes[i].index = i;
        for (pt_u32 j = 0; j < CLASSES; j++) {
            struct pt_heap_site wanted = {
                .process = &processes[i], .stack = 1 + i * CLASSES + j, .stage = i, .size_class = j};
            const pt_u32 index = pt_heap_site_of(&sites, &wanted);
            assert_int_equal(sites.items[index].size_class, j);
            assert_int_equal(pt_heap_site_of(&sites, &wanted), index);
            wanted.stack = wanted.python = wanted.stage = PT_SITE_OF_CLASS;
            const pt_u32 of_class = pt_heap_site_of(&sites, &wanted);
            const struct pt_heap_site *whole = &sites.items[of_class];
            assert_true(whole->stage == PT_SITE_OF_CLASS && whole->size_class == j);
        }
    }
    assert_true(sites.n <= MOST);
    assert_true(sites.pairs.n <= MOST);
    free(processes);
    pt_heap_sites_fini(&sites);
}

/* Each process has its own sites, in their order, whichever came between. */
static void sites_of_a_process(void **state)
{
    (void)state;
    struct pt_heap_sites sites = {0};
    struct pt_process processes[3] = {{.index = 0}, {.index = 1}, {.index = 2}};
    for (pt_u32 i = 0; i < 10; i++) {
        const struct pt_heap_site wanted = {.process = &processes[i % 2], .stack = i + 1};
        pt_heap_site_of(&sites, &wanted);
    }
    for (pt_u32 i = 0; i < 2; i++) {
        const struct pt_heap_site *site = NULL;
        for (pt_u32 stack = i + 1; stack <= 10; stack += 2) {
            site = pt_heap_site_next(&sites, &processes[i], site);
            assert_true(site && site->process == &processes[i] && site->stack == stack);
        }
        assert_null(pt_heap_site_next(&sites, &processes[i], site));
    }
    assert_null(pt_heap_site_next(&sites, &processes[2], NULL));
    pt_heap_sites_fini(&sites);
}

/* Thousands of processes whose memory grows: the sites of each are looked at in less time than it took to make them. */
static void growth_looks_at_own_sites(void **state)
{
    (void)state;
    enum { PROCESSES = 5000, STACKS = 20 };
    struct pt_heap_sites sites = {0};
    const struct pt_heap_totals totals = {0};
    struct pt_process *processes = pt_calloc(PROCESSES, sizeof *processes);
    const double begin_s = cpu_s();
    for (pt_u32 i = 0; i < PROCESSES; i++) {
        processes[i].index = i;
        processes[i].heap = &totals;
        for (pt_u32 j = 0; j < STACKS; j++) {
            const struct pt_heap_site wanted = {.process = &processes[i], .stack = j + 1, .size_class = j};
            const pt_u32 index = pt_heap_site_of(&sites, &wanted); /* may move the items */
            pt_heap_site_add(&sites.items[index], 10, 1, 100);
        }
    }
    const double made_s = cpu_s();
    for (pt_u32 i = 0; i < PROCESSES; i++) {
        struct pt_heap_process *p = pt_calloc(1, sizeof *p);
        p->growth.rise.to = PT_LEVEL_BUCKETS - 1;
        pt_heap_growth_of_sites(p, &processes[i], &sites);
        assert_true(p->growth.sites_bytes == 100.0 * STACKS);
        free(p);
    }
    const double looked_s = cpu_s();
    if (looked_s - made_s > 2 * (made_s - begin_s))
        fail_msg("making them: %.3f s, looking at them: %.3f s", made_s - begin_s, looked_s - made_s);
    free(processes);
    pt_heap_sites_fini(&sites);
}

/* Most of a hundred thousand processes have no event of the heap. */
static void no_rise_is_soon_known(void **state)
{
    (void)state;
    enum { TIMES = 50000 };
    double floor_bytes[PT_LEVEL_BUCKETS] = {0};
    struct pt_heap_rise rise;
    double sum = 0;
    const double begin_s = cpu_s();
    for (int i = 0; i < TIMES; i++)
        sum += pt_heap_largest_rise(floor_bytes);
    const double once_s = cpu_s();
    for (int i = 0; i < TIMES; i++)
        assert_false(pt_heap_steady_rise(floor_bytes, 0, &rise));
    const double looked_s = cpu_s();
    assert_true(sum == 0 && rise.bytes == 0);
    if (looked_s - once_s > 5 * (once_s - begin_s))
        fail_msg("one look at each bucket: %.3f s, is there a rise: %.3f s", once_s - begin_s, looked_s - once_s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sites_are_bounded),
        cmocka_unit_test(sites_of_a_process),
        cmocka_unit_test(growth_looks_at_own_sites),
        cmocka_unit_test(no_rise_is_soon_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
