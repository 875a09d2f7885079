/* SPDX-License-Identifier: MIT
 *
 * python_walk.h - the Python stack of a thread, by the layout of python.h: in the process by direct reads, from outside
 * by whatever reads its memory. No allocation, no Python, no lock.
 *
 * What is read may change meanwhile or be hostile: each loop is bounded, and no number that was read is used as a size
 * before it is checked. A direct walk is safe only of the calling thread, in a call that the interpreter made.
 *
 *     struct pt_python_view view = {&header->python, read_memory, context};
 *     pt_u64 frame;
 *     if (pt_python_first(&view, thread_state, &frame) == 0)
 *         for (struct pt_python_point point; pt_python_next(&view, &frame, &point) > 0;)
 *             length = pt_python_describe(&view, &point, text, sizeof text);
 */
#ifndef PROFTRACE_PYTHON_WALK_H
#define PROFTRACE_PYTHON_WALK_H

#include "python.h"

#define PT_PYTHON_NO_MEMBER 0xffffu

/* ---- the layout of a version ---- */
enum { PT_PYTHON_RUNTIME_BYTES = 8 + 48 * 8 }; /* of _PyRuntime: a mark, and the offsets that we know */

struct pt_python_version_layout {
    pt_u32 minor;
    struct pt_python_layout layout;
};

struct pt_python_debug_offset {
    pt_u16 member; /* offset in struct pt_python_layout */
    pt_u8 index_3_13, index_3_14;
};

#define NONE PT_PYTHON_NO_MEMBER
/* Of every version. */
#define OBJECTS .object_type = 8, .bytes_size = 16, .bytes_data = 32, .text_length = 16, .text_state = 32

static inline pt_u64 pt_python_debug_number(const char *offsets, pt_u32 index)
{
    pt_u64 value;
    __builtin_memcpy(&value, offsets + (pt_u64)index * 8, sizeof value);
    return value;
}

/* `offsets` are behind the mark. */
static inline const char *pt_python_layout_from_offsets(struct pt_python_layout *ret, pt_u32 minor, const char *offsets)
{
    enum { VERSION, FREE_THREADED };
    static const struct pt_python_debug_offset rows[] = {
#define OFFSET(member, index_3_13, index_3_14)                                                                         \
    {__builtin_offsetof(struct pt_python_layout, member), index_3_13, index_3_14},
#include "python_debug_offsets.def"
#undef OFFSET
    };
    if (pt_python_debug_number(offsets, VERSION) >> 16 != (3u << 8 | minor))
        return "the table of offsets is of another version";
    if (pt_python_debug_number(offsets, FREE_THREADED))
        return "free-threaded build";
    *ret = (struct pt_python_layout){OBJECTS, .cframe_frame = NONE, .text_ascii = 40, .text_compact = 56};
    for (pt_u32 i = 0; i < sizeof rows / sizeof *rows; i++) {
        const pt_u64 offset = pt_python_debug_number(offsets, minor == 13 ? rows[i].index_3_13 : rows[i].index_3_14);
        const pt_u16 value = (pt_u16)offset;
        if (offset >= NONE)
            return "an offset in _PyRuntime is too large";
        __builtin_memcpy((char *)ret + rows[i].member, &value, sizeof value);
    }
    return 0;
}

/* `runtime`: PT_PYTHON_RUNTIME_BYTES of _PyRuntime, or 0 where it is smaller. Returns 0, or why the version's layout is
 * not known. */
static inline const char *pt_python_layout_of(struct pt_python_layout *ret, pt_u32 version, const void *runtime)
{
    static const struct pt_python_version_layout layouts[] = {
#define LAYOUT(minor, ...) {minor, {OBJECTS, __VA_ARGS__}},
#include "python_layouts.def"
#undef LAYOUT
    };
    const pt_u32 minor = version >> 16 & 0xff;
    if (version >> 24 != 3)
        return "not Python 3";
    for (pt_u32 i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor) {
            *ret = layouts[i].layout;
            return 0;
        }
    if (minor != 13 && minor != 14)
        return "a version that is not known";
    if (!runtime || __builtin_memcmp(runtime, "xdebugpy", 8) != 0)
        return "no table of offsets in _PyRuntime";
    return pt_python_layout_from_offsets(ret, minor, (const char *)runtime + 8);
}

#undef NONE
#undef OBJECTS

#define PT_PYTHON_MOST_SKIPPED 64u      /* frames of the interpreter itself in a row */
#define PT_PYTHON_MOST_LINES (1u << 22) /* bytes of a line table */
#define PT_PYTHON_TEXT_BYTES 4096u      /* what pt_python_describe makes at most */
#define PT_PYTHON_FUNCTION_BYTES 1024u

#define PT_PYTHON_INLINE static inline __attribute__((always_inline))

/* Copies memory of the process. 0, or -1 when it cannot be read. */
typedef int pt_python_read(void *context, pt_u64 address, void *to, pt_u64 bytes);

struct pt_python_view {
    const struct pt_python_header *python;
    pt_python_read *read;
    void *context;
};

/* Where a frame is: its code object, and the offset in bytes of the instruction (below 0: it has not begun). */
struct pt_python_point {
    pt_u64 code;
    pt_i64 instruction;
};

PT_PYTHON_INLINE int pt_python_word(const struct pt_python_view *view, pt_u64 address, pt_u64 *ret)
{
    return view->read(view->context, address, ret, 8);
}

PT_PYTHON_INLINE int pt_python_is_from(const struct pt_python_view *view, pt_u32 minor)
{
    return view->python->version >= (3u << 24 | minor << 16);
}

/* ---- frames ---- */

/* The innermost frame of a PyThreadState; 0 = none runs. */
PT_PYTHON_INLINE int pt_python_first(const struct pt_python_view *view, pt_u64 thread, pt_u64 *ret_frame)
{
    const struct pt_python_layout *at = &view->python->layout;
    if (pt_python_word(view, thread + at->thread_frame, ret_frame) < 0)
        return -1;
    if (*ret_frame && at->cframe_frame != PT_PYTHON_NO_MEMBER)
        return pt_python_word(view, *ret_frame + at->cframe_frame, ret_frame);
    return 0;
}

/* Entries from C into the interpreter: they run no code. */
PT_PYTHON_INLINE int pt_python_is_entry(const struct pt_python_view *view, pt_u64 frame)
{
    enum { FIRST_ENTRY_OWNER = 3 };
    const pt_u16 owner = view->python->layout.frame_owner;
    pt_u8 value;
    return pt_python_is_from(view, 12) && owner != PT_PYTHON_NO_MEMBER &&
           (view->read(view->context, frame + owner, &value, 1) < 0 || value >= FIRST_ENTRY_OWNER);
}

PT_PYTHON_INLINE int pt_python_point_of(const struct pt_python_view *view, pt_u64 frame, struct pt_python_point *ret)
{
    const struct pt_python_layout *at = &view->python->layout;
    pt_u64 type, instruction;
    pt_i32 index;
    if (pt_python_is_entry(view, frame) || pt_python_word(view, frame + at->frame_code, &ret->code) < 0)
        return 0;
    ret->code &= ~3ull; /* 3.14 marks references by them */
    if (!ret->code || pt_python_word(view, ret->code + at->object_type, &type) < 0 || type != view->python->code_type)
        return 0;
    if (pt_python_is_from(view, 11)) {
        if (pt_python_word(view, frame + at->frame_instruction, &instruction) < 0)
            return 0;
        ret->instruction = (pt_i64)(instruction - (ret->code + at->code_instructions));
        return 1;
    }
    if (view->read(view->context, frame + at->frame_instruction, &index, 4) < 0)
        return 0;
    ret->instruction = pt_python_is_from(view, 10) ? index * 2ll : index; /* 3.10 counts instructions */
    return 1;
}

/* The point of *frame, which moves on to its caller's. 1; 0 at the end of the stack; -1 when it cannot be read. */
PT_PYTHON_INLINE int pt_python_next(const struct pt_python_view *view, pt_u64 *frame, struct pt_python_point *ret)
{
    for (pt_u32 i = 0; *frame && i < PT_PYTHON_MOST_SKIPPED; i++) {
        const pt_u64 here = *frame;
        if (pt_python_word(view, here + view->python->layout.frame_previous, frame) < 0)
            return -1;
        if (pt_python_point_of(view, here, ret))
            return 1;
    }
    return *frame ? -1 : 0;
}

/* ---- texts ---- */

struct pt_python_text {
    char *bytes;
    pt_u32 length;
    pt_u32 room;
};

static inline void pt_python_put(struct pt_python_text *text, pt_u32 byte)
{
    if (text->length < text->room)
        text->bytes[text->length++] = (char)byte;
}

/* A character as UTF-8: whole or not at all. What was no text when it was read (surrogateescape) is its byte again. */
static inline void pt_python_put_character(struct pt_python_text *text, pt_u32 c)
{
    if (c >= 0xdc80 && c <= 0xdcff)
        c = c - 0xdc00;
    else if (c >= 0xd800 && c <= 0xdfff)
        c = '?';
    else if (c >= 0x80) {
        const pt_u32 more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const pt_u8 lead[] = {0, 0xc0, 0xe0, 0xf0};
        if (c > 0x10ffff || text->length + more >= text->room)
            return;
        pt_python_put(text, lead[more] | c >> 6 * more);
        for (pt_u32 i = more; i-- > 0;)
            pt_python_put(text, 0x80 | (c >> 6 * i & 0x3f));
        return;
    }
    pt_python_put(text, c);
}

/* A str, from its start, as far as it fits. 0, or -1 when it is none that can be read. */
static inline int pt_python_put_str(const struct pt_python_view *view, pt_u64 str, struct pt_python_text *text)
{
    const struct pt_python_layout *at = &view->python->layout;
    pt_u64 length;
    pt_u32 state;
    if (!str || pt_python_word(view, str + at->text_length, &length) < 0 ||
        view->read(view->context, str + at->text_state, &state, 4) < 0)
        return -1;
    const pt_u32 kind = state >> 2 & 7, is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    if (!is_compact || (kind != 1 && kind != 2 && kind != 4))
        return -1;
    pt_u64 data = str + (is_ascii ? at->text_ascii : at->text_compact);
    while (length && text->length < text->room) {
        pt_u8 chunk[64];
        const pt_u64 most = sizeof chunk / kind, n = length < most ? length : most;
        if (view->read(view->context, data, chunk, n * kind) < 0)
            return -1;
        for (pt_u64 i = 0; i < n; i++) {
            pt_u32 c = 0;
            __builtin_memcpy(&c, chunk + i * kind, kind);
            pt_python_put_character(text, c);
        }
        data += n * kind;
        length -= n;
    }
    return 0;
}

static inline void pt_python_put_number(struct pt_python_text *text, pt_u32 number)
{
    char digits[10];
    pt_u32 n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n)
        pt_python_put(text, (pt_u8)digits[--n]);
}

/* ---- lines ---- */

/* The bytes of a table, read ahead by pieces. */
struct pt_python_bytes {
    const struct pt_python_view *view;
    pt_u64 address, left;
    pt_u32 at, n;
    pt_u8 piece[64];
};

/* The next byte; -1 at the end, and for ever then. */
static inline int pt_python_byte(struct pt_python_bytes *bytes)
{
    if (bytes->at == bytes->n) {
        const pt_u64 n = bytes->left < sizeof bytes->piece ? bytes->left : sizeof bytes->piece;
        if (!n || bytes->view->read(bytes->view->context, bytes->address, bytes->piece, n) < 0) {
            bytes->left = 0;
            return -1;
        }
        bytes->address += n;
        bytes->left -= n;
        bytes->at = 0;
        bytes->n = (pt_u32)n;
    }
    return bytes->piece[bytes->at++];
}

static inline int pt_python_line_table(const struct pt_python_view *view, pt_u64 code, struct pt_python_bytes *ret)
{
    const struct pt_python_layout *at = &view->python->layout;
    pt_u64 table, size;
    if (pt_python_word(view, code + at->code_lines, &table) < 0 || !table ||
        pt_python_word(view, table + at->bytes_size, &size) < 0 || size > PT_PYTHON_MOST_LINES)
        return -1;
    ret->view = view;
    ret->address = table + at->bytes_data;
    ret->left = size;
    ret->at = ret->n = 0;
    return 0;
}

/* 3.8 and 3.9: (instructions, lines) to the next entry. */
static inline pt_i64 pt_python_line_3_8(struct pt_python_bytes *table, pt_i64 line, pt_i64 instruction)
{
    pt_i64 address = 0;
    for (;;) {
        const int step = pt_python_byte(table), lines = pt_python_byte(table);
        if (lines < 0)
            return line;
        address += step;
        if (address > instruction)
            return line;
        line += (signed char)lines;
    }
}

/* 3.10: (bytes that it covers, lines to it); -128 = covers what belongs to no line. */
static inline pt_i64 pt_python_line_3_10(struct pt_python_bytes *table, pt_i64 line, pt_i64 instruction)
{
    pt_i64 address = 0;
    for (;;) {
        const int covers = pt_python_byte(table), byte = pt_python_byte(table);
        const int has_line = byte != 128;
        if (byte < 0)
            return 0;
        if (has_line)
            line += (signed char)byte;
        address += covers;
        if (address > instruction)
            return has_line ? line : 0;
    }
}

static inline pt_u32 pt_python_varint(struct pt_python_bytes *table)
{
    pt_u32 value = 0;
    for (pt_u32 shift = 0; shift < 30; shift += 6) {
        const int byte = pt_python_byte(table);
        if (byte < 0)
            return 0;
        value |= (byte & 63u) << shift;
        if (!(byte & 64))
            break;
    }
    return value;
}

/* Lines to an entry of 3.11's table, whose form is `kind`; *ret_has_line. */
static inline pt_i64 pt_python_lines_to(struct pt_python_bytes *table, int kind, int *ret_has_line)
{
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    pt_i64 lines = 0;
    *ret_has_line = kind != NONE;
    if (kind == NO_COLUMNS || kind == LONG) {
        const pt_u32 value = pt_python_varint(table);
        lines = value & 1 ? -(pt_i64)(value >> 1) : value >> 1;
        for (int i = 0; kind == LONG && i < 3; i++) /* end line, columns */
            pt_python_varint(table);
    } else if (kind >= ONE_LINE && kind != NONE) {
        lines = kind - ONE_LINE;
        pt_python_byte(table);
        pt_python_byte(table);
    } else if (kind != NONE)
        pt_python_byte(table);
    return lines;
}

static inline pt_i64 pt_python_line_3_11(struct pt_python_bytes *table, pt_i64 line, pt_i64 instruction)
{
    pt_i64 address = 0;
    for (;;) {
        int has_line;
        const int head = pt_python_byte(table);
        if (head < 0)
            return 0;
        line += pt_python_lines_to(table, head >> 3 & 15, &has_line);
        address += ((head & 7) + 1) * 2;
        if (address > instruction)
            return has_line ? line : 0;
    }
}

/* The line that runs; 0 = unknown. */
static inline pt_u32 pt_python_line(const struct pt_python_view *view, const struct pt_python_point *point,
                                    pt_u32 first_line)
{
    struct pt_python_bytes table;
    if (point->instruction < 0)
        return first_line;
    if (pt_python_line_table(view, point->code, &table) < 0)
        return 0;
    const pt_i64 line = pt_python_is_from(view, 11)   ? pt_python_line_3_11(&table, first_line, point->instruction)
                        : pt_python_is_from(view, 10) ? pt_python_line_3_10(&table, first_line, point->instruction)
                                                      : pt_python_line_3_8(&table, first_line, point->instruction);
    return line > 0 && line < 1ll << 31 ? (pt_u32)line : 0;
}

/* ---- a frame as text ---- */

static inline pt_u64 pt_python_member(const struct pt_python_view *view, pt_u64 code, pt_u16 member)
{
    pt_u64 value;
    return member != PT_PYTHON_NO_MEMBER && pt_python_word(view, code + member, &value) == 0 ? value : 0;
}

/* "<line>:<first line>:<function>:<file>" (python.h). Returns its bytes; 0 when the code object cannot be read. */
static inline pt_u32 pt_python_describe(const struct pt_python_view *view, const struct pt_python_point *point,
                                        char *to, pt_u32 room)
{
    const struct pt_python_layout *at = &view->python->layout;
    struct pt_python_text text = {to, 0, room < PT_PYTHON_TEXT_BYTES ? room : PT_PYTHON_TEXT_BYTES};
    const pt_u32 whole = text.room;
    pt_u32 first = 0;
    if (view->read(view->context, point->code + at->code_first_line, &first, 4) < 0)
        return 0;
    pt_python_put_number(&text, pt_python_line(view, point, first));
    pt_python_put(&text, ':');
    pt_python_put_number(&text, first);
    pt_python_put(&text, ':');
    const pt_u32 function = text.length;
    pt_u64 name = pt_python_member(view, point->code, at->code_qualified_name);
    if (!name)
        name = pt_python_member(view, point->code, at->code_name);
    text.room = whole < function + PT_PYTHON_FUNCTION_BYTES ? whole : function + PT_PYTHON_FUNCTION_BYTES;
    if (pt_python_put_str(view, name, &text) < 0)
        return 0;
    for (pt_u32 i = function; i < text.length; i++)
        if (to[i] == ':') /* separates the parts */
            to[i] = '.';
    text.room = whole;
    pt_python_put(&text, ':');
    return pt_python_put_str(view, pt_python_member(view, point->code, at->code_file), &text) < 0 ? 0 : text.length;
}

#endif
