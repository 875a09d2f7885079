/* SPDX-License-Identifier: MIT
 *
 * t_scan_bombs.c - files that make the walk over a file's segments go over the same bytes again and again, and keep
 * them each time: each command ends in 512 MiB and 10 s of CPU time, as with the bombs of t_bombs.c.
 */
#include "helper_bomb.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(areas_that_share_what_lies_before_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
