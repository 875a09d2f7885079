/* SPDX-License-Identifier: MIT
 *
 * python_walk.h on memory that is no interpreter's: whatever lies there, it ends, reads nothing else and writes within
 * its room. What it makes of true memory is compared with CPython in tests/python/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proftrace/python_walk.h"

enum { BYTES = 1 << 16, BASE = 1 << 20 };
static pt_u8 memory[BYTES];
static pt_u64 state = 88172645463325252ull;

static pt_u64 any(pt_u64 below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static int read_memory(void *context, pt_u64 address, void *to, pt_u64 bytes)
{
    ++*(pt_u64 *)context;
    if (address < BASE || address > BASE + BYTES || bytes > BASE + BYTES - address)
        return -1;
    memcpy(to, memory + (address - BASE), bytes);
    return 0;
}

/* Pointers into itself, small numbers and noise. */
static void fill(void)
{
    for (pt_u64 i = 0; i < BYTES; i += 8) {
        const pt_u64 word = any(3) ? BASE + (any(BYTES) & ~7ull) : any(2) ? any(200) : any(~0ull);
        memcpy(memory + i, &word, 8);
    }
}

static void set_layout(struct pt_python_header *python)
{
    static const pt_u32 minors[] = {8, 9, 10, 11, 12, 13, 14};
    pt_u16 offsets[sizeof python->layout / sizeof(pt_u16)] = {0};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        offsets[i] = any(16) ? (pt_u16)(any(32) * 8) : PT_PYTHON_NO_MEMBER;
    memcpy(&python->layout, offsets, sizeof offsets);
    python->version = 3u << 24 | minors[any(7)] << 16;
    memcpy(&python->code_type, memory + any(BYTES / 8) * 8, 8); /* so that some of it is a code object */
}

static int describe(const struct pt_python_view *view, const struct pt_python_point *point)
{
    char text[512];
    const pt_u32 room = 1 + (pt_u32)any(sizeof text - 1);
    memset(text, 'x', sizeof text);
    const pt_u32 length = pt_python_describe(view, point, text, room);
    assert_true(length <= room);
    for (size_t i = room; i < sizeof text; i++)
        assert_int_equal(text[i], 'x');
    return length > 0;
}

static void any_memory_is_survived(void **unused)
{
    (void)unused;
    pt_u64 described = 0;
    for (int round = 0; round < 3000; round++) {
        struct pt_python_header python = {0};
        pt_u64 n_reads = 0, frame = 0;
        const struct pt_python_view view = {&python, read_memory, &n_reads};
        struct pt_python_point point;
        if (round % 10 == 0)
            fill();
        set_layout(&python);
        if (pt_python_first(&view, BASE + any(BYTES), &frame) == 0)
            for (int i = 0; i < 20 && pt_python_next(&view, &frame, &point) > 0; i++)
                described += describe(&view, &point);
        for (int i = 0; i < 20; i++) {
            point = (struct pt_python_point){BASE + (any(BYTES) & ~7ull), (pt_i64)any(1000) - 8};
            described += describe(&view, &point);
        }
        assert_true(n_reads < 3000000);
    }
    assert_true(described > 100); /* else this looked at nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_memory_is_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
