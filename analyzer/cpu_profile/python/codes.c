/* SPDX-License-Identifier: MIT
 *
 * python/codes.c - Owns: what code objects were seen in a process, and the names of their lines. Threads: main only.
 * Never: believes a length or a pointer that it has read; takes a code object for another one that lay at its place
 * before.
 */
#include "codes.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "members.h"

enum {
    INSTRUCTIONS_MOST = 1 << 24, /* bytes */
    CODES_MOST = 200000,
    PLACES_MOST = 1000000,
};

/* What tells it from another one that lies at its place later. */
struct pt_python_code {
    pt_u64 name, lines;
    pt_i32 first_line;
    pt_u32 number; /* of those that were seen */
};

/* A DataLoader forks workers at each epoch: to read the same names again for each of them cost more than the rest of
 * the reading. */
struct pt_python_seen {
    pt_u32 n_users;
    struct pt_map by_address; /* -> struct pt_python_code * */
    struct pt_map places;     /* code and offset -> number of the name */
    pt_u32 n_codes;           /* ever */
    struct pt_arena memory;
};

/* ---- the layout ---- */

bool pt_python_codes_open(struct pt_python_codes *codes, pt_u32 pid, const struct pt_python_header *header,
                          const struct pt_python_codes *parent)
{
    const struct pt_python_layout *at = &header->layout;
    *codes = (struct pt_python_codes){.pid = pid, .header = *header};
    codes->head_bytes = pt_python_bytes_with(0, at->object_type, 8);
    codes->head_bytes = pt_python_bytes_with(codes->head_bytes, at->code_name, 8);
    codes->head_bytes = pt_python_bytes_with(codes->head_bytes, at->code_first_line, 4);
    codes->head_bytes = pt_python_bytes_with(codes->head_bytes, at->code_lines, 8);
    if (codes->head_bytes > PT_PYTHON_CODE_BYTES_MAX || !pt_python_has_member(at->object_type) ||
        !pt_python_has_member(at->code_name) || !pt_python_has_member(at->code_first_line) ||
        !pt_python_has_member(at->code_lines))
        return false;
    codes->seen = parent ? parent->seen : pt_calloc(1, sizeof *codes->seen);
    codes->seen->n_users++;
    return true;
}

void pt_python_codes_close(struct pt_python_codes *codes)
{
    struct pt_python_seen *seen = codes->seen;
    codes->seen = NULL;
    if (!seen || --seen->n_users)
        return;
    pt_map_fini(&seen->by_address);
    pt_map_fini(&seen->places);
    pt_arena_fini(&seen->memory);
    free(seen);
}

/* ---- code ---- */

/* NULL = it is none. */
static const struct pt_python_code *code_at(const struct pt_python_codes *codes, pt_u64 address, const pt_u8 *head)
{
    struct pt_python_seen *known = codes->seen;
    const struct pt_python_layout *at = &codes->header.layout;
    if (pt_python_word_at(head, at->object_type) != codes->header.code_type)
        return NULL;
    struct pt_python_code seen = {.name = pt_python_word_at(head, at->code_name),
                                  .lines = pt_python_word_at(head, at->code_lines)};
    memcpy(&seen.first_line, head + at->code_first_line, sizeof seen.first_line);
    struct pt_python_code *code = pt_map_pointer(&known->by_address, address);
    if (code && code->name == seen.name && code->lines == seen.lines && code->first_line == seen.first_line)
        return code;
    if (!code && known->by_address.n >= CODES_MOST)
        return NULL;
    if (!code) {
        code = pt_arena_alloc(&known->memory, sizeof *code);
        *pt_map_at(&known->by_address, address) = (uintptr_t)code;
    }
    seen.number = ++known->n_codes;
    *code = seen;
    return code;
}

struct reader {
    pt_u32 pid;
    struct pt_remote_window *window;
};

static int read_memory(void *context, pt_u64 address, void *to, pt_u64 n)
{
    const struct reader *reader = context;
    const pt_u8 *bytes = pt_remote_look(reader->window, reader->pid, address, n);
    if (bytes)
        memcpy(to, bytes, n);
    return bytes ? 0 : -1;
}

/* ---- names ---- */

static pt_u32 number_of(struct pt_python_names *names, const char *text, size_t n_bytes)
{
    const char *interned = pt_intern_bytes(&names->texts, text, n_bytes);
    const pt_u64 *known = pt_map_find(&names->numbers, (uintptr_t)interned);
    if (known)
        return (pt_u32)*known;
    if (names->numbers.n >= PT_CPU_NAMES_MAX)
        return 0;
    pt_u64 *number = pt_map_at(&names->numbers, (uintptr_t)interned);
    *number = names->numbers.n;
    pt_chunk_add(&names->fresh, interned, n_bytes + 1);
    return (pt_u32)*number;
}

/* Of a long path its end says most, but the text has one form only: what is too long ends early. */
static pt_u32 describe(const struct pt_python_codes *codes, struct pt_python_names *names,
                       const struct pt_python_point *point)
{
    char text[PT_PYTHON_TEXT_BYTES];
    struct reader reader = {codes->pid, &names->window};
    const struct pt_python_view view = {&codes->header, read_memory, &reader};
    names->window.n_bytes = 0;
    const pt_u32 n = pt_python_describe(&view, point, text, sizeof text);
    for (pt_u32 i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : '?';
    return n ? number_of(names, text, n) : 0;
}

pt_u32 pt_python_code_name(const struct pt_python_codes *codes, struct pt_python_names *names, pt_u64 address,
                           const pt_u8 *head, pt_u64 instruction)
{
    const struct pt_python_code *code = code_at(codes, address, head);
    const pt_u16 instructions = codes->header.layout.code_instructions;
    if (!code)
        return 0;
    struct pt_python_point point = {.code = address};
    if (pt_python_has_member(instructions))
        point.instruction = (pt_i64)(instruction - address - instructions);
    else /* the index of an instruction of two bytes, since 3.10 */
        point.instruction = (pt_i64)(pt_i32)instruction * (codes->header.version >= 0x030a0000 ? 2 : 1);
    if (point.instruction < -16 || point.instruction > INSTRUCTIONS_MOST)
        return 0;
    const pt_u64 key = (pt_u64)code->number << 32 | (pt_u32)point.instruction;
    const pt_u64 *known = pt_map_find(&codes->seen->places, key);
    if (known)
        return (pt_u32)*known;
    const pt_u32 number = describe(codes, names, &point);
    if (number && codes->seen->places.n < PLACES_MOST)
        *pt_map_at(&codes->seen->places, key) = number;
    return number;
}

void pt_python_names_fini(struct pt_python_names *names)
{
    pt_intern_fini(&names->texts);
    pt_map_fini(&names->numbers);
    free(names->fresh.items);
}
