/* SPDX-License-Identifier: MIT
 *
 * Which blocks of the same call stacks become larger with time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/heap/sites.h"
#include "proftrace/format.h"

enum { N = 400 };
typedef pt_u64 size_at(pt_u64 number);

static bool grows(size_at *at)
{
    struct pt_heap_sites sites = {0};
    struct pt_process process = {0};
    bool is_larger = false;
    for (pt_u64 i = 0; i < N; i++) {
        const struct pt_heap_site wanted = {
            .process = &process, .stack = 1, .python = 2, .size_class = (pt_u32)pt_heap_class_of(at(i))};
        const pt_u32 index = pt_heap_site_of(&sites, &wanted);
        struct pt_heap_site *site = &sites.items[index];
        pt_heap_trend_add(&sites, site);
        is_larger = pt_heap_trend_grows(&sites.trends.items[site->trend]);
    }
    assert_int_equal(sites.trends.n, 1); /* of all size classes */
    pt_heap_sites_fini(&sites);
    return is_larger;
}

static pt_u64 all_so_far(pt_u64 number)
{
    return 4096 * (number + 1);
}

static pt_u64 all_of_the_epoch(pt_u64 number)
{
    return 4096 * (number % 100 + 1);
}

static pt_u64 the_same(pt_u64 number)
{
    return 1000000 + 0 * number;
}

static pt_u64 one_of_four_lengths(pt_u64 number)
{
    return (pt_u64)4096 << (number * 7 / 3 % 4);
}

static pt_u64 two_in_turn(pt_u64 number)
{
    return number % 2 ? 4096 * (number + 1) : 512;
}

static void what_becomes_larger(void **state)
{
    (void)state;
    assert_true(grows(all_so_far));
    assert_true(grows(all_of_the_epoch));
}

static void what_does_not(void **state)
{
    (void)state;
    assert_false(grows(the_same));
    assert_false(grows(one_of_four_lengths));
    assert_false(grows(two_in_turn)); /* nobody knows which of them is which */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_becomes_larger),
        cmocka_unit_test(what_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
