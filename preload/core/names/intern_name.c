/* SPDX-License-Identifier: MIT
 *
 * intern_name.c - ids of names that come in two parts or in wide characters, as NVTX and ITT give them.
 *
 * Entered from any hook. The hash is taken over the parts as they lie in the program's memory, and the text is put
 * together only where it is defined, in the file itself: a name that is known costs no buffer and no copy. One text may
 * so have two ids, which the reader does not mind: it compares texts.
 */
#include "intern_name.h"

#include "core/file/image_state.h"
#include "core/state.h"
#include "core/text.h"
#include "define.h"
#include "intern.h"

#define NAME_MOST 4000u /* bytes of the text; the first part is cut at FIRST_MOST */
#define FIRST_MOST 255u
#define WIDE_SEED 0x776964655f636861ull

static pt_u64 bounded_wide_length(const wchar_t *text, pt_u64 most)
{
    pt_u64 length = 0;
    while (length < most && text[length])
        length++;
    return length;
}

static char *add_bytes(char *at, const char *bytes, pt_u64 length)
{
    __builtin_memcpy(at, bytes, length);
    return at + length;
}

/* Of one character in UTF-8; what is none becomes U+FFFD. */
static pt_u32 utf8_bytes(wchar_t wide)
{
    const pt_u32 c = (pt_u32)wide;
    return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 || c > 0x10ffff ? 3 : 4;
}

static char *add_utf8(char *at, wchar_t wide)
{
    const pt_u32 bytes = utf8_bytes(wide);
    pt_u32 c = (pt_u32)wide;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    if (bytes == 1) {
        *at++ = (char)c;
        return at;
    }
    *at++ = (char)((0xf00u >> bytes & 0xff) | c >> 6 * (bytes - 1));
    for (pt_u32 i = bytes - 1; i--;)
        *at++ = (char)(0x80 | (c >> 6 * i & 0x3f));
    return at;
}

struct name {
    const char *first; /* NULL = the second part alone */
    pt_u64 first_bytes;
    const char *text; /* or ... */
    const wchar_t *wide;
    pt_u64 length; /* ... in characters of its kind */
};

static PT_NOINLINE void define_name(pt_u32 id, const struct name *name)
{
    pt_u64 bytes = name->length;
    if (name->wide)
        for (pt_u64 i = bytes = 0; i < name->length; i++)
            bytes += utf8_bytes(name->wide[i]);
    struct pt_tracer_thread *t;
    char *payload = pt_define_begin((name->first ? name->first_bytes + 2 : 0) + bytes, &t);
    if (!payload)
        return;
    char *at = payload;
    if (name->first)
        at = add_bytes(add_bytes(at, name->first, name->first_bytes), ": ", 2);
    if (name->text)
        add_bytes(at, name->text, name->length);
    else
        for (pt_u64 i = 0; i < name->length; i++)
            at = add_utf8(at, name->wide[i]);
    pt_define_commit(t, payload, PT_DEF_STRING, id);
}

static pt_u64 seed_of(struct name *name, const char *first)
{
    if (!first)
        return PT_DEF_STRING; /* as in pt_intern_bytes: the same id */
    name->first = first;
    name->first_bytes = pt_text_length_most(first, FIRST_MOST);
    return pt_hash_bytes(first, name->first_bytes, PT_DEF_STRING) | 1ull << 63;
}

pt_u32 pt_intern_name(const char *first, const char *text)
{
    if (!text || !pt_image || pt_switches.off)
        return 0;
    struct name name = {.text = text, .length = pt_text_length_most(text, NAME_MOST)};
    const pt_u64 seed = seed_of(&name, first);
    int is_new;
    const pt_u32 id = pt_intern_hash(pt_hash_bytes(text, name.length, seed), &is_new);
    if (is_new)
        define_name(id, &name);
    return id;
}

pt_u32 pt_intern_wide_name(const char *first, const wchar_t *text)
{
    if (!text || !pt_image || pt_switches.off)
        return 0;
    struct name name = {.wide = text, .length = bounded_wide_length(text, NAME_MOST / 4)};
    const pt_u64 seed = seed_of(&name, first) ^ WIDE_SEED;
    int is_new;
    const pt_u32 id = pt_intern_hash(pt_hash_bytes(text, name.length * sizeof *text, seed), &is_new);
    if (is_new)
        define_name(id, &name);
    return id;
}
