/* SPDX-License-Identifier: MIT
 *
 * t_clock.c - files of several processes and machines come to lie on one timeline, and one bad header moves only
 * itself.
 */
#include "helper_trace.h"

#include <string.h>

#include "merge/clock_map.h"
#include "util/auto.h"

#define TSC_HZ 2300000000ull
#define WALL_NS 1700000000000000000ull

/* A process that began `start_ns` into the run of a machine, and was looked at again `later_ns` after. */
static struct pt_file_header tsc_header(const char *boot, pt_u64 start_ns, pt_u64 later_ns)
{
    struct pt_file_header h = {.clock_source = PT_CLOCK_TSC, .clock_shift = 4, .realtime_ns = WALL_NS + start_ns};
    strcpy(h.boot_id, boot);
    const pt_u64 counter = 5000000000000ull + start_ns * (TSC_HZ / 100000000) / 10;
    h.clock_base = counter;
    h.clock_first = (struct pt_clock_pair){counter, 2000000000000ull + start_ns};
    h.clock_last[1] =
        (struct pt_clock_pair){counter + later_ns * (TSC_HZ / 100000000) / 10, 2000000000000ull + start_ns + later_ns};
    h.clock_index = later_ns ? 1 : 0;
    return h;
}

static void close_to(pt_i64 value, pt_i64 wanted, pt_i64 slack)
{
    if (value < wanted - slack || value > wanted + slack)
        fail_msg("%lld is not %lld +- %lld", (long long)value, (long long)wanted, (long long)slack);
}

static void one_boot_shares_one_line(void **state)
{
    (void)state;
    const struct pt_file_header a = tsc_header("boot", 0, 10000000000), b = tsc_header("boot", 3000000000, 0);
    struct pt_file_header c = {
        .clock_source = PT_CLOCK_MONOTONIC, .clock_base = 2005000000000, .realtime_ns = WALL_NS + 5000000000};
    strcpy(c.boot_id, "boot");
    c.clock_first = (struct pt_clock_pair){c.clock_base, c.clock_base};
    struct pt_clock_file files[] = {{.header = &a}, {.header = &b}, {.header = &c}};
    PT_AUTO(pt_str_fini) struct pt_str notes = {0};
    pt_u64 realtime;
    pt_clock_map(files, 3, &realtime, &notes);
    assert_string_equal(pt_str_text(&notes), "");
    assert_int_equal(realtime, WALL_NS);
    close_to(files[0].start_ns, 0, 0);
    close_to(files[1].start_ns, 3000000000, 5);
    close_to(files[2].start_ns, 5000000000, 5);
    close_to(files[0].last_ns, 10000000000, 5);
    close_to(pt_scale_time(&files[1].scale, TSC_HZ / 16), 4000000000, 10);
    close_to(pt_scale_time(&files[2].scale, 7), 5000000007, 5);
}

static void other_machines_join_by_wall_time(void **state)
{
    (void)state;
    const struct pt_file_header a = tsc_header("one", 0, 1000000000);
    struct pt_file_header b = tsc_header("two", 500000000, 1000000000);
    b.clock_first.monotonic_ns += 777000000000;
    b.clock_last[1].monotonic_ns += 777000000000;
    struct pt_clock_file files[] = {{.header = &a}, {.header = &b}};
    PT_AUTO(pt_str_fini) struct pt_str notes = {0};
    pt_u64 realtime;
    pt_clock_map(files, 2, &realtime, &notes);
    close_to(files[1].start_ns, 500000000, 5);
    assert_non_null(strstr(pt_str_text(&notes), "wall time"));
}

/* unshare -T --monotonic 1000000: the same counter, another CLOCK_MONOTONIC. */
static void time_namespaces_join_by_wall_time(void **state)
{
    (void)state;
    const pt_u64 ahead_ns = 1000000000000000;
    const struct pt_file_header a = tsc_header("boot", 0, 10000000000);
    struct pt_file_header b = tsc_header("boot", 3000000000, 400000), c = {.clock_source = PT_CLOCK_MONOTONIC};
    b.clock_first.monotonic_ns += ahead_ns;
    b.clock_last[1].monotonic_ns += ahead_ns;
    c.realtime_ns = WALL_NS + 5000000000;
    c.clock_base = 2005000000000 + ahead_ns;
    c.clock_first = (struct pt_clock_pair){c.clock_base, c.clock_base};
    c.end_counter = c.clock_base + 1000000000;
    strcpy(c.boot_id, "boot");
    struct pt_clock_file files[] = {{.header = &a}, {.header = &b}, {.header = &c}};
    PT_AUTO(pt_str_fini) struct pt_str notes = {0};
    pt_u64 realtime;
    pt_clock_map(files, 3, &realtime, &notes);
    assert_non_null(strstr(pt_str_text(&notes), "2 of 3 processes ran in another time namespace"));
    close_to(files[1].start_ns, 3000000000, 5);
    close_to(files[1].last_ns, 3000400000, 5);
    close_to(files[2].start_ns, 5000000000, 5);
    close_to(files[2].last_ns, 6000000000, 5);
    close_to(pt_scale_time(&files[2].scale, 7), 5000000007, 5);
}

/* Somebody sets the wall clock: the counter says that the processes began one after the other all the same. */
static void a_clock_that_is_set_moves_nobody(void **state)
{
    (void)state;
    const struct pt_file_header a = tsc_header("boot", 0, 10000000000);
    struct pt_file_header b = tsc_header("boot", 3000000000, 5000000000);
    b.realtime_ns += 3600000000000;
    struct pt_clock_file files[] = {{.header = &a}, {.header = &b}};
    PT_AUTO(pt_str_fini) struct pt_str notes = {0};
    pt_u64 realtime;
    pt_clock_map(files, 2, &realtime, &notes);
    assert_string_equal(pt_str_text(&notes), "");
    close_to(files[1].start_ns, 3000000000, 5);
}

/* The same without such a counter: the processes that began after it noted it. */
static void a_clock_that_is_set_moves_nobody_by_monotonic(void **state)
{
    (void)state;
    for (int back = 0; back < 2; back++) {
        struct pt_file_header h[3] = {0};
        struct pt_clock_file files[3] = {0};
        for (size_t i = 0; i < 3; i++) {
            h[i] = tsc_header("boot", i * 3000000000, 0);
            h[i].clock_source = PT_CLOCK_MONOTONIC;
            h[i].clock_shift = 0;
            h[i].clock_base = h[i].clock_first.counter = h[i].clock_first.monotonic_ns;
            h[i].options = i ? PT_OPTION_CLOCK_SET : 0;
            if (i)
                h[i].realtime_ns = back ? h[i].realtime_ns - 3600000000000 : h[i].realtime_ns + 3600000000000;
            files[i].header = &h[i];
        }
        PT_AUTO(pt_str_fini) struct pt_str notes = {0};
        pt_u64 realtime;
        pt_clock_map(files, 3, &realtime, &notes);
        assert_string_equal(pt_str_text(&notes), "");
        assert_int_equal(realtime, WALL_NS);
        close_to(files[1].start_ns, 3000000000, 5);
        close_to(files[2].start_ns, 6000000000, 5);
    }
}

static void a_bad_header_moves_only_itself(void **state)
{
    (void)state;
    const struct pt_file_header a = tsc_header("boot", 0, 10000000000), b = tsc_header("boot", 1000000000, 5000000000);
    struct pt_file_header c = tsc_header("boot", 2000000000, 1000000000), d = tsc_header("bad", 0, 0);
    c.clock_last[1].counter ^= 1ull << 45;
    d.realtime_ns ^= 1ull << 60;
    struct pt_clock_file files[] = {{.header = &a, .name = "a"},
                                    {.header = &b, .name = "b"},
                                    {.header = &c, .name = "c"},
                                    {.header = &d, .name = "d"}};
    PT_AUTO(pt_str_fini) struct pt_str notes = {0};
    pt_u64 realtime;
    pt_clock_map(files, 4, &realtime, &notes);
    close_to(files[0].start_ns, 0, 0);
    close_to(files[1].start_ns, 1000000000, 100);
    close_to(files[2].start_ns, 2000000000, 100);
    close_to(pt_scale_time(&files[0].scale, TSC_HZ / 16), 1000000000, 100);
    assert_int_equal(files[3].start_ns, 0);
    assert_non_null(strstr(pt_str_text(&notes), "d: its clock is far"));
}

/* A server that ended after more than a month, and what it started shortly before. */
static void a_run_of_months_has_its_length(void **state)
{
    (void)state;
    const pt_u64 day_ns = 86400000000000;
    struct pt_file_header a = tsc_header("boot", 0, 10000000000), b = tsc_header("boot", 80 * day_ns, 10000000000);
    a.end_counter = 5000000000000ull + 90 * 86400 * TSC_HZ;
    struct pt_clock_file files[] = {{.header = &a, .name = "a"}, {.header = &b, .name = "b"}};
    PT_AUTO(pt_str_fini) struct pt_str notes = {0};
    pt_u64 realtime;
    pt_clock_map(files, 2, &realtime, &notes);
    assert_string_equal(pt_str_text(&notes), "");
    close_to(files[0].last_ns, (pt_i64)(90 * day_ns), 1000000);
    close_to(files[1].start_ns, (pt_i64)(80 * day_ns), 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_boot_shares_one_line),
        cmocka_unit_test(other_machines_join_by_wall_time),
        cmocka_unit_test(time_namespaces_join_by_wall_time),
        cmocka_unit_test(a_clock_that_is_set_moves_nobody),
        cmocka_unit_test(a_clock_that_is_set_moves_nobody_by_monotonic),
        cmocka_unit_test(a_bad_header_moves_only_itself),
        cmocka_unit_test(a_run_of_months_has_its_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
