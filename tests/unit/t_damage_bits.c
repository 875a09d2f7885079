/* SPDX-License-Identifier: MIT
 *
 * t_damage_bits.c - any file is safe to read: bits flipped anywhere in it, one and eight at a time. A test of its own
 * beside t_damage.c: under ASan each of them takes a quarter of a minute of one CPU.
 */
#include "helper_trace.h"

#include <unistd.h>

static pt_u64 next_random(pt_u64 *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Most of a file is room for counters that are zero: every other byte that is hit says something. */
static pt_u64 any_place(pt_u64 *random, const pt_u8 *bytes, pt_u64 n)
{
    const bool any = next_random(random) % 2;
    pt_u64 at;
    do
        at = next_random(random) % n;
    while (!any && !bytes[at]);
    return at;
}

static void flip_bits(pt_u32 times, pt_u32 flips_each)
{
    struct pt_trace_writer *w = helper_sample();
    pt_u64 n, random = 88172645463325252ull;
    const pt_u8 *bytes = pt_writer_finish(w, &n);
    struct helper_file file = helper_file(bytes, n);
    for (pt_u32 i = 0; i < times; i++) {
        pt_u64 at[8];
        for (pt_u32 k = 0; k < flips_each; k++) {
            at[k] = any_place(&random, bytes, n);
            pt_u8 byte;
            assert_int_equal(pread(file.fd, &byte, 1, (off_t)at[k]), 1);
            byte ^= (pt_u8)(1 << next_random(&random) % 8);
            assert_int_equal(pwrite(file.fd, &byte, 1, (off_t)at[k]), 1);
        }
        helper_digest(file.path);
        for (pt_u32 k = 0; k < flips_each; k++)
            assert_int_equal(pwrite(file.fd, bytes + at[k], 1, (off_t)at[k]), 1);
    }
    assert_int_equal(helper_digest(file.path), 1);
    helper_close(&file);
    pt_trace_writer_free(w);
}

static void nine_thousand_bits_flipped(void **state)
{
    (void)state;
    flip_bits(5000, 1);
    flip_bits(500, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nine_thousand_bits_flipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
