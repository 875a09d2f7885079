/* SPDX-License-Identifier: MIT
 *
 * t_scan_bombs.c - files that make the walk over a file's segments go over the same bytes again and again, and keep
 * them each time: each command ends in 512 MiB and a minute of CPU time, as with the bombs of t_bombs.c.
 */
#include "helper_bomb.h"

#include <sys/resource.h>
#include <unistd.h>

#include "source/open.h"

enum { MIB = 1 << 20 };

static void survive(struct bomb *bomb, struct pt_str *content)
{
    bomb_write(bomb, 0);
    bomb_survive(bomb, BOMB_SALVAGED);
    pt_str_fini(content);
}

/* Each of a thousand threads says that the same megabytes in front of it are its definitions and its records. */
static void areas_that_share_what_lies_before_them(void **state)
{
    (void)state;
    enum { AREAS = 1024 };
    struct bomb bomb;
    struct pt_str content = {0}, area_bytes = {0};
    bomb_begin(&bomb);
    while (content.n < 4 * MIB)
        bomb_definition(&content, PT_DEF_STRING, 1000 + (pt_u32)content.n / 40, "12345678", 8, 0);
    const size_t from = bomb.bytes.n;
    bomb_segment(&bomb, PT_SEGMENT_DEFS, 5, 0, &content);
    for (pt_u32 i = 0; i < AREAS; i++) {
        struct pt_thread_area area = {.tid = 1000 + i, .life = 1};
        area.defs_offset = (pt_i32)from - (pt_i32)bomb.bytes.n;
        area.defs_bytes = (pt_u32)content.n;
        for (int which = 0; which < PT_BUFFER__COUNT; which++) {
            area.raw[which].offset = area.defs_offset;
            area.raw[which].bytes = (pt_u32)content.n;
            area.raw[which].sequence = 1ull << PT_GENERATION_BITS | 1;
        }
        pt_str_clear(&area_bytes);
        pt_str_bytes(&area_bytes, (const char *)&area + sizeof area.segment, 4000);
        bomb_segment(&bomb, PT_SEGMENT_THREAD, 10 + i, 0, &area_bytes);
    }
    pt_str_fini(&area_bytes);
    survive(&bomb, &content);
}

/* Each header of 32 bytes says that it is a definition of a mebibyte, of which the checksum does not hold. */
static void definitions_that_overlap(void **state)
{
    (void)state;
    enum { BYTES = 8 * MIB };
    struct bomb bomb;
    struct pt_str content = {0};
    bomb_begin(&bomb);
    while (content.n < BYTES) {
        const size_t left = BYTES - content.n;
        const pt_u32 whole = left < MIB ? (pt_u32)left : MIB;
        const struct pt_def def = {.commit = PT_DEF_MAGIC | (pt_u64)whole << 32,
                                   .id = 1000,
                                   .type = PT_DEF_STRING,
                                   .payload_bytes = whole - (pt_u32)sizeof def};
        pt_str_bytes(&content, (const char *)&def, sizeof def);
    }
    bomb_segment(&bomb, PT_SEGMENT_DEFS, 5, 0, &content);
    survive(&bomb, &content);
}

static double cpu_s(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* What it takes to open a file with so many places for a block, of which these are blocks, and the others say so but
 * are none: each `period` places the first `n_blocks`. */
static double blocks_cpu_s(pt_u32 n_blocks, pt_u32 period)
{
    enum { PLACES = 200000 };
    struct bomb bomb;
    struct pt_str content = {0};
    struct pt_error err = {0};
    const char none[2 * PT_BLOCK_ALIGN] = {'P', 'B', 'L', 'K', -1, -1, -1, -1}; /* of 4 GiB */
    bomb_begin(&bomb);
    for (pt_u32 i = 0; i < PLACES; i++) {
        const struct pt_block head = {.buffer = PT_BUFFER_RECORDS, .slot = 5, .tid = 105, .life = 1, .sequence = i + 1};
        if (i % period < n_blocks)
            bomb_block(&content, head, "", 0);
        else
            pt_str_bytes(&content, none, sizeof none);
    }
    bomb_segment(&bomb, PT_SEGMENT_BLOCKS, 5, 0, &content);
    struct helper_file made = helper_file(bomb.bytes.text, bomb.bytes.n);
    const double before_s = cpu_s();
    struct pt_trace_file *file = pt_trace_file_open(made.path, &err);
    const double took_s = cpu_s() - before_s;
    assert_non_null(file);
    assert_int_equal(file->corrupt_blocks, (PLACES / period) * (period - n_blocks));
    pt_trace_file_close(file);
    helper_close(&made);
    rmdir(bomb.folder);
    pt_str_fini(&bomb.bytes);
    pt_str_fini(&content);
    return took_s;
}

/* After each place that is no block the next one is looked for: in what was read for the one before. */
static void blocks_that_are_none(void **state)
{
    (void)state;
    const double all_s = blocks_cpu_s(1, 1), none_s = blocks_cpu_s(0, 1), some_s = blocks_cpu_s(1, 2);
    if (none_s > 3 * all_s || some_s > 3 * all_s)
        fail_msg("blocks: %.3f s, none: %.3f s, each second: %.3f s", all_s, none_s, some_s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(areas_that_share_what_lies_before_them),
        cmocka_unit_test(definitions_that_overlap),
        cmocka_unit_test(blocks_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
