/* SPDX-License-Identifier: MIT
 *
 * python/codes.c - Owns: what code objects were seen in a process, and the names of their lines. Threads: main only.
 * Never: believes a length or a pointer that it has read; takes a code object for another one that lay at its place
 * before.
 */
#include "codes.h"

#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/str.h"
#include "remote.h"

enum {
    TEXT_MOST = 400, /* characters of a name or path */
    LINES_MOST = 1 << 20,
    CODES_MOST = 200000,
    PLACES_MOST = 1000000,
    NO_OFFSET = 0xffff,
};

struct pt_python_code {
    pt_u64 name, lines_object;
    pt_i32 first_line;
    pt_u32 number; /* of those of its process */
    const char *function, *file;
    struct pt_python_lines lines;
};

/* ---- the layout ---- */

static bool is_below(const pt_u16 *offsets, size_t n, pt_u32 limit)
{
    for (size_t i = 0; i < n; i++)
        if (offsets[i] != NO_OFFSET && offsets[i] > limit)
            return false;
    return true;
}

static pt_u32 beyond(pt_u32 end, pt_u16 offset, pt_u32 n)
{
    return offset != NO_OFFSET && offset + n > end ? offset + n : end;
}

bool pt_python_codes_open(struct pt_python_codes *codes, pt_u32 pid, const struct pt_python_header *header)
{
    const struct pt_python_layout *at = &header->layout;
    const pt_u16 of_objects[] = {at->object_type, at->bytes_size, at->bytes_data,  at->text_length,
                                 at->text_state,  at->text_ascii, at->text_compact};
    *codes = (struct pt_python_codes){.pid = pid, .header = *header};
    codes->head_bytes = beyond(0, at->object_type, 8);
    codes->head_bytes = beyond(codes->head_bytes, at->code_name, 8);
    codes->head_bytes = beyond(codes->head_bytes, at->code_qualified_name, 8);
    codes->head_bytes = beyond(codes->head_bytes, at->code_file, 8);
    codes->head_bytes = beyond(codes->head_bytes, at->code_first_line, 4);
    codes->head_bytes = beyond(codes->head_bytes, at->code_lines, 8);
    return codes->head_bytes <= PT_PYTHON_CODE_BYTES_MAX && at->code_name != NO_OFFSET && at->code_file != NO_OFFSET &&
           at->code_first_line != NO_OFFSET && at->code_lines != NO_OFFSET &&
           is_below(of_objects, sizeof of_objects / sizeof *of_objects, 256);
}

void pt_python_codes_close(struct pt_python_codes *codes)
{
    for (size_t i = 0; i < codes->by_address.n; i++)
        free((void *)(uintptr_t)((struct pt_python_code *)(uintptr_t)codes->by_address.entries[i].value)->lines.table);
    pt_map_fini(&codes->by_address);
    pt_map_fini(&codes->places);
    pt_arena_fini(&codes->memory);
}

/* ---- objects ---- */

static pt_u64 word_at(const pt_u8 *bytes, pt_u16 offset)
{
    pt_u64 word;
    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

static void add_character(struct pt_str *text, pt_u32 c)
{
    char bytes[4];
    size_t n = 0;
    if (c < 0x80) {
        bytes[n++] = (char)c;
    } else if (c < 0x800) {
        bytes[n++] = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            bytes[n++] = (char)(0xe0 | c >> 12);
        } else {
            bytes[n++] = (char)(0xf0 | (c >> 18 & 7));
            bytes[n++] = (char)(0x80 | (c >> 12 & 63));
        }
        bytes[n++] = (char)(0x80 | (c >> 6 & 63));
    }
    if (c >= 0x80)
        bytes[n++] = (char)(0x80 | (c & 63));
    pt_str_bytes(text, bytes, n);
}

/* A compact str; others are not names of code. The end of a long path says more than its beginning. */
static const char *read_text(struct pt_python_codes *codes, pt_u64 address)
{
    const struct pt_python_layout *at = &codes->header.layout;
    pt_u8 head[256 + 8], characters[TEXT_MOST * 4];
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (!pt_remote_read(codes->pid, address, head, beyond(beyond(0, at->text_length, 8), at->text_state, 4)))
        return NULL;
    const pt_u64 length = word_at(head, at->text_length);
    pt_u32 state;
    memcpy(&state, head + at->text_state, sizeof state);
    const pt_u32 width = state >> 2 & 7, is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    if ((width != 1 && width != 2 && width != 4) || !is_compact || length > LINES_MOST)
        return NULL;
    const pt_u64 n = length < TEXT_MOST ? length : TEXT_MOST;
    if (!pt_remote_read(codes->pid, address + (is_ascii ? at->text_ascii : at->text_compact) + (length - n) * width,
                        characters, n * width))
        return NULL;
    for (pt_u64 i = 0; i < n; i++) {
        pt_u32 c = 0;
        memcpy(&c, characters + i * width, width);
        add_character(&text, c ? c : '?');
    }
    return pt_arena_text(&codes->memory, pt_str_text(&text), text.n);
}

/* No table: then all of it is at its first line. */
static void read_lines(const struct pt_python_codes *codes, pt_u64 address, struct pt_python_lines *lines)
{
    const struct pt_python_layout *at = &codes->header.layout;
    pt_u64 n = 0;
    lines->version = codes->header.version;
    if (!pt_remote_read(codes->pid, address + at->bytes_size, &n, sizeof n) || !n || n > LINES_MOST)
        return;
    PT_AUTO(pt_freep) pt_u8 *table = pt_malloc(n);
    if (!pt_remote_read(codes->pid, address + at->bytes_data, table, n))
        return;
    lines->table = table;
    lines->n_bytes = n;
    table = NULL;
}

/* ---- code ---- */

static bool read_code(struct pt_python_codes *codes, const pt_u8 *head, struct pt_python_code *code)
{
    const struct pt_python_layout *at = &codes->header.layout;
    free((void *)(uintptr_t)code->lines.table);
    code->lines = (struct pt_python_lines){.first_line = code->first_line};
    code->function = read_text(codes, code->name);
    code->file = read_text(codes, word_at(head, at->code_file));
    if (!code->function || !code->file)
        return false;
    read_lines(codes, code->lines_object, &code->lines);
    return true;
}

/* NULL = it is none. What was there before and has gone has another name, or lay at another line. */
static const struct pt_python_code *code_at(struct pt_python_codes *codes, pt_u64 address, const pt_u8 *head)
{
    const struct pt_python_layout *at = &codes->header.layout;
    if (word_at(head, at->object_type) != codes->header.code_type)
        return NULL;
    const pt_u64 name = word_at(head, at->code_qualified_name != NO_OFFSET ? at->code_qualified_name : at->code_name);
    const pt_u64 lines_object = word_at(head, at->code_lines);
    pt_i32 first_line;
    memcpy(&first_line, head + at->code_first_line, sizeof first_line);
    struct pt_python_code *code = pt_map_pointer(&codes->by_address, address);
    if (code && code->name == name && code->lines_object == lines_object && code->first_line == first_line)
        return code->function && code->file ? code : NULL;
    if (!code && codes->by_address.n >= CODES_MOST)
        return NULL;
    if (!code) {
        code = pt_arena_alloc(&codes->memory, sizeof *code);
        *code = (struct pt_python_code){0};
        *pt_map_at(&codes->by_address, address) = (uintptr_t)code;
    }
    code->number = ++codes->n_codes; /* what takes another's place is another one */
    code->name = name;
    code->lines_object = lines_object;
    code->first_line = first_line;
    return read_code(codes, head, code) ? code : NULL;
}

/* ---- names ---- */

static pt_u32 number_of(struct pt_python_names *names, const char *text)
{
    const char *interned = pt_intern_text(&names->texts, text);
    const pt_u64 *known = pt_map_find(&names->numbers, (uintptr_t)interned);
    if (known)
        return (pt_u32)*known;
    if (names->numbers.n >= PT_CPU_NAMES_MAX)
        return 0;
    pt_u64 *number = pt_map_at(&names->numbers, (uintptr_t)interned);
    *number = names->numbers.n;
    pt_chunk_add(&names->fresh, interned, strlen(interned) + 1);
    return (pt_u32)*number;
}

pt_u32 pt_python_code_name(struct pt_python_codes *codes, struct pt_python_names *names, pt_u64 address,
                           const pt_u8 *head, pt_u64 instruction)
{
    const struct pt_python_code *code = code_at(codes, address, head);
    if (!code)
        return 0;
    const struct pt_python_layout *at = &codes->header.layout;
    pt_i64 offset;
    if (at->code_instructions != NO_OFFSET)
        offset = (pt_i64)(instruction - address - at->code_instructions);
    else /* the index of an instruction of two bytes, since 3.10 */
        offset = (pt_i64)(pt_i32)instruction * (codes->header.version >= 0x030a0000 ? 2 : 1);
    if (offset < -16 || offset > LINES_MOST * 8)
        return 0;
    const pt_u64 key = (pt_u64)code->number << 32 | (pt_u32)offset;
    const pt_u64 *known = pt_map_find(&codes->places, key);
    if (known)
        return (pt_u32)*known;
    PT_AUTO(pt_freep)
    char *text = pt_asprintf("%u:%u:%s:%s", pt_python_line(&code->lines, offset),
                             code->first_line > 0 ? (pt_u32)code->first_line : 0, code->function, code->file);
    const pt_u32 number = number_of(names, text);
    if (codes->places.n < PLACES_MOST)
        *pt_map_at(&codes->places, key) = number;
    return number;
}

void pt_python_names_fini(struct pt_python_names *names)
{
    pt_intern_fini(&names->texts);
    pt_map_fini(&names->numbers);
    free(names->fresh.items);
}
