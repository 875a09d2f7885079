/* SPDX-License-Identifier: MIT
 *
 * python/lines.c - Owns: the three forms of CPython's tables of lines. Threads: any. State: none. Never: reads behind
 * the table.
 */
#include "lines.h"

#include <stdbool.h>

struct cursor {
    const pt_u8 *at, *end;
};

static pt_u32 next_byte(struct cursor *cursor)
{
    return cursor->at < cursor->end ? *cursor->at++ : 0;
}

static pt_u32 number(struct cursor *cursor)
{
    pt_u32 value = 0, byte = next_byte(cursor);
    for (pt_u32 shift = 0; shift < 30; shift += 6, byte = next_byte(cursor)) {
        value |= (byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return value;
}

static pt_i32 signed_number(struct cursor *cursor)
{
    const pt_u32 value = number(cursor);
    return value & 1 ? -(pt_i32)(value >> 1) : (pt_i32)(value >> 1);
}

static pt_u32 shown(pt_i64 line)
{
    return line > 0 && line < 1 << 30 ? (pt_u32)line : 0;
}

/* From 3.11 on: an entry has a kind, a length in instructions, and columns that we pass over. */
static pt_u32 line_in_locations(const struct pt_python_lines *lines, pt_i64 offset)
{
    enum { SHORT_MAX = 9, ONE_LINE_MAX = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    struct cursor cursor = {lines->table, lines->table + lines->n_bytes};
    pt_i64 line = lines->first_line, at = 0;
    while (cursor.at < cursor.end) {
        const pt_u32 head = next_byte(&cursor), kind = head >> 3 & 15;
        if (kind <= SHORT_MAX) {
            next_byte(&cursor);
        } else if (kind <= ONE_LINE_MAX) {
            line += kind - 10;
            next_byte(&cursor);
            next_byte(&cursor);
        } else if (kind != NONE) {
            line += signed_number(&cursor);
            for (int i = 0; kind == LONG && i < 3; i++)
                number(&cursor);
        }
        at += ((head & 7) + 1) * 2;
        if (offset < at)
            return kind == NONE ? 0 : shown(line);
    }
    return shown(line);
}

/* 3.10: pairs of a length in bytes and a difference of lines; -128 = no line. */
static pt_u32 line_in_ranges(const struct pt_python_lines *lines, pt_i64 offset)
{
    pt_i64 line = lines->first_line, at = 0;
    for (size_t i = 0; i + 1 < lines->n_bytes; i += 2) {
        const pt_i32 change = (signed char)lines->table[i + 1];
        line += change == -128 ? 0 : change;
        at += lines->table[i];
        if (offset < at)
            return change == -128 ? 0 : shown(line);
    }
    return shown(line);
}

/* Before: the same, where the difference holds from the end of the length on. */
static pt_u32 line_in_steps(const struct pt_python_lines *lines, pt_i64 offset)
{
    pt_i64 line = lines->first_line, at = 0;
    for (size_t i = 0; i + 1 < lines->n_bytes; i += 2) {
        at += lines->table[i];
        if (at > offset)
            break;
        line += (signed char)lines->table[i + 1];
    }
    return shown(line);
}

pt_u32 pt_python_line(const struct pt_python_lines *lines, pt_i64 offset)
{
    if (offset < 0)
        return shown(lines->first_line);
    if (lines->version >= 0x030b0000)
        return line_in_locations(lines, offset);
    return lines->version >= 0x030a0000 ? line_in_ranges(lines, offset) : line_in_steps(lines, offset);
}
