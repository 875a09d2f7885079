/* SPDX-License-Identifier: MIT
 *
 * text.h - the little text work of the injected half, without libc: snprintf alone needs more stack than any hook may
 * use.
 */
#ifndef PT_CORE_TEXT_H
#define PT_CORE_TEXT_H

#include "compiler.h"

PT_ALWAYS_INLINE pt_u64 pt_text_length(const char *text)
{
    pt_u64 length = 0;
    while (text[length])
        length++;
    return length;
}

/* Reads no further than `most`. */
PT_ALWAYS_INLINE pt_u64 pt_text_length_most(const char *text, pt_u64 most)
{
    pt_u64 length = 0;
    while (length < most && text[length])
        length++;
    return length;
}

PT_ALWAYS_INLINE int pt_text_equal(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        ;
    return *a == *b;
}

PT_ALWAYS_INLINE int pt_text_starts(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix)
        text++, prefix++;
    return !*prefix;
}

/* Behind the last slash. */
static inline const char *pt_text_base_name(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

/* What `vector` ("NAME=value" each, as environ) says for a name; NULL = nothing. In the place of getenv, which the host
 * may have a version of its own of, with a lock and hooks of ours in it (Firefox). */
__attribute__((visibility("hidden"))) const char *pt_text_value(char *const *vector, const char *name);

/* A text being built in a fixed buffer; what does not fit is cut, the buffer stays terminated. */
struct pt_text {
    char *bytes;
    pt_u64 length;
    pt_u64 room; /* including the terminator */
};

PT_ALWAYS_INLINE void pt_text_byte(struct pt_text *t, char byte)
{
    if (t->length + 1 < t->room) {
        t->bytes[t->length++] = byte;
        t->bytes[t->length] = 0;
    }
}

static inline void pt_text_add(struct pt_text *t, const char *text)
{
    while (*text)
        pt_text_byte(t, *text++);
}

/* Decimal, padded with zeros to `digits`. */
static inline void pt_text_number(struct pt_text *t, pt_u64 value, int digits)
{
    char reversed[20];
    int n = 0;
    do
        reversed[n++] = (char)('0' + value % 10);
    while ((value /= 10) || n < digits);
    while (n)
        pt_text_byte(t, reversed[--n]);
}

static inline void pt_text_hex(struct pt_text *t, pt_u64 value, int digits)
{
    while (digits--)
        pt_text_byte(t, "0123456789abcdef"[value >> (4 * digits) & 15]);
}

/* A name made safe for a file name: letters, digits, dot, dash, underscore; at most `most` bytes. */
static inline void pt_text_file_name(struct pt_text *t, const char *name, int most)
{
    for (; *name && most--; name++) {
        const char c = *name;
        const int plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        pt_text_byte(t, plain || (c == '.' && t->length) ? c : '_');
    }
}

#endif
