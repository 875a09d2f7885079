/* SPDX-License-Identifier: MIT
 *
 * Owns: how a text that is too long is shortened. Threads: any. Never: splits a character; shows two files of one
 * folder as the same text if the width suffices for their names.
 */
#include "width.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/mem.h"
#include "utf8.h"

static const struct cells {
    uint32_t first, last;
    unsigned cells;
} odd[] = {
#define CELLS(first, last, cells) {first, last, cells},
#include "cells.def"
#undef CELLS
};

static int compare(const void *a, const void *b)
{
    const uint32_t code = *(const uint32_t *)a;
    const struct cells *range = b;
    return code < range->first ? -1 : code > range->last;
}

static unsigned cells_of(uint32_t code)
{
    if (code < odd[0].first)
        return 1;
    const struct cells *found = bsearch(&code, odd, sizeof odd / sizeof *odd, sizeof *odd, compare);
    return found ? found->cells : 1;
}

size_t pt_text_next(const char *text, unsigned *ret_cells)
{
    uint32_t code = (unsigned char)*text;
    const size_t bytes = code < 0x80 ? 1 : pt_utf8_next(text, strnlen(text, 4), &code);
    *ret_cells = bytes ? cells_of(code) : 1;
    return bytes ? bytes : 1;
}

unsigned pt_text_width(const char *text)
{
    unsigned width = 0, cells;
    for (; *text; width += cells)
        text += pt_text_next(text, &cells);
    return width;
}

size_t pt_text_prefix(const char *text, unsigned width)
{
    size_t bytes = 0;
    unsigned cells;
    while (text[bytes]) {
        const size_t more = pt_text_next(text + bytes, &cells);
        if (cells > width)
            break;
        width -= cells;
        bytes += more;
    }
    return bytes;
}

/* The beginning of the last folders and the file that fit into `width` characters; else of the end of the file's
 * name. */
static const char *end_of_path(const char *text, unsigned width)
{
    const char *least = text + pt_text_prefix(text, pt_text_width(text) - width);
    for (unsigned cells; pt_text_width(least) > width;) /* half of a character was too much */
        least += pt_text_next(least, &cells);
    const char *from = least;
    while (*from && *from != '/')
        from++;
    return *from && from[1] ? from : least;
}

/* ---- names of templates ---- */

static bool is_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Bytes of "at::" and "(anonymous namespace)::", and 0 where there is none. */
static size_t qualifier_at(const char *text)
{
    static const char anonymous[] = "(anonymous namespace)::";
    if (!strncmp(text, anonymous, sizeof anonymous - 1))
        return sizeof anonymous - 1;
    size_t n = 0;
    while (is_in_word(text[n]))
        n++;
    return n && text[n] == ':' && text[n + 1] == ':' ? n + 2 : 0;
}

/* Without the list of arguments at its end, if it has one: a template's are its own arguments again. */
static size_t without_arguments(const char *text)
{
    const size_t n = strlen(text);
    size_t at = n, depth = 0;
    while (at && text[n - 1] == ')') {
        at--;
        depth += text[at] == ')';
        depth -= text[at] == '(';
        if (!depth)
            break;
    }
    return at && at < n && text[at - 1] == '>' ? at : n;
}

char *pt_text_short_name(const char *text)
{
    struct pt_str name = {0};
    if (!strstr(text, "::") || !strchr(text, '<') || strchr(text, '/'))
        return pt_strdup(text);
    text += strncmp(text, "void ", 5) ? 0 : 5;
    const char *end = text + without_arguments(text);
    while (text < end) {
        const size_t skipped = qualifier_at(text);
        text += skipped;
        if (skipped)
            continue;
        do
            pt_str_char(&name, *text);
        while (is_in_word(*text++) && text < end && is_in_word(*text));
    }
    return name.text ? name.text : pt_strdup("");
}

static void shorten(struct pt_str *out, const char *text, unsigned width, const char *ellipsis)
{
    const unsigned taken = pt_text_width(ellipsis), keep = width > taken ? width - taken : 0;
    if (pt_text_width(text) <= width) {
        pt_str_add(out, text);
    } else if (*text == '/' && !strchr(text, ' ')) {
        pt_str_add(out, ellipsis);
        pt_str_add(out, end_of_path(text, keep));
    } else {
        pt_str_bytes(out, text, pt_text_prefix(text, keep));
        pt_str_add(out, ellipsis);
    }
}

void pt_text_shorten(struct pt_str *out, const char *text, unsigned width, const char *ellipsis)
{
    PT_AUTO(pt_freep) char *name = pt_text_width(text) > width ? pt_text_short_name(text) : NULL;
    shorten(out, name ? name : text, width, ellipsis);
}
