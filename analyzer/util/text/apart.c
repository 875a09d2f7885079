/* SPDX-License-Identifier: MIT
 *
 * Owns: what is shown of texts that begin alike. Threads: any. Never: splits a character; compares more than MOST texts
 * with each other.
 */
#include "apart.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "width.h"

enum { MOST = 512, NARROWEST = 16 };

struct column {
    struct pt_str *const *texts;
    struct pt_str *cut; /* what is shown of each */
    char **names;       /* what each is cut from */
    size_t n;
    unsigned width;
    const char *ellipsis;
};

static bool is_inside(char c)
{
    return isalnum((unsigned char)c) || (c & 0xc0) == 0x80;
}

/* The word in which the two differ begins there. */
static size_t where_they_differ(const char *text, const char *other)
{
    size_t at = 0;
    while (text[at] && text[at] == other[at])
        at++;
    while (at && is_inside(text[at - 1]))
        at--;
    return at;
}

/* The beginning of a text, and what is in it from there on. */
static void put_around(struct pt_str *out, const struct column *column, const char *text, size_t at)
{
    const unsigned dots = pt_text_width(column->ellipsis), head = (column->width - dots) / 4;
    const unsigned rest = column->width - dots - head;
    if (pt_text_width(text + at) < rest) /* of an end that is short more can be shown */
        at = pt_text_prefix(text, pt_text_width(text) - rest);
    pt_str_bytes(out, text, pt_text_prefix(text, head));
    pt_str_add(out, column->ellipsis);
    pt_text_shorten(out, text + at, rest, column->ellipsis);
}

static bool is_taken(const struct column *column, size_t row, const char *cut)
{
    for (size_t i = 0; i < row; i++)
        if (!strcmp(pt_str_text(&column->cut[i]), cut) && strcmp(column->names[i], column->names[row]) != 0)
            return true;
    return false;
}

/* What tells it from the text that it is most like; from another one, where that is said of a row above. */
static void tell_apart(const struct column *column, const bool *is_like, size_t row)
{
    size_t limit = SIZE_MAX;
    for (;;) {
        size_t most = 0;
        for (size_t i = 0; i < column->n; i++) {
            const size_t at = i == row || !is_like[i] ? 0 : where_they_differ(column->names[row], column->names[i]);
            most = at > most && at < limit ? at : most;
        }
        if (!most)
            return;
        struct pt_str around = {0};
        put_around(&around, column, column->names[row], most);
        if (!is_taken(column, row, pt_str_text(&around))) {
            pt_str_fini(&column->cut[row]);
            column->cut[row] = around;
            return;
        }
        pt_str_fini(&around);
        limit = most;
    }
}

/* Those that would be shown as the text of this row. */
static bool find_alike(const struct column *column, const char *shown, const char *text, bool *ret_is_like)
{
    bool is_any = false;
    for (size_t i = 0; i < column->n; i++) {
        struct pt_str plain = {0};
        pt_text_shorten(&plain, pt_str_text(column->texts[i]), column->width, column->ellipsis);
        ret_is_like[i] = !strcmp(pt_str_text(&plain), shown) && strcmp(column->names[i], text) != 0;
        is_any |= ret_is_like[i];
        pt_str_fini(&plain);
    }
    return is_any;
}

static bool is_too_wide(const struct column *column)
{
    for (size_t i = 0; i < column->n; i++)
        if (pt_text_width(pt_str_text(column->texts[i])) > column->width)
            return true;
    return false;
}

void pt_text_shorten_apart(struct pt_str *const *texts, size_t n, unsigned width, const char *ellipsis)
{
    struct column column = {.texts = texts, .n = n, .width = width, .ellipsis = ellipsis};
    if (!n || !is_too_wide(&column))
        return;
    bool *is_like = pt_calloc(n, sizeof *is_like);
    column.cut = pt_calloc(n, sizeof *column.cut);
    column.names = pt_calloc(n, sizeof *column.names);
    for (size_t i = 0; i < n; i++) {
        pt_text_shorten(&column.cut[i], pt_str_text(texts[i]), width, ellipsis);
        column.names[i] = pt_text_short_name(pt_str_text(texts[i]));
    }
    for (size_t i = 0; n <= MOST && width >= NARROWEST && i < n; i++) {
        struct pt_str shown = {0};
        pt_str_add(&shown, pt_str_text(&column.cut[i]));
        if (find_alike(&column, pt_str_text(&shown), column.names[i], is_like))
            tell_apart(&column, is_like, i);
        pt_str_fini(&shown);
    }
    for (size_t i = 0; i < n; i++) {
        pt_str_fini(texts[i]);
        *texts[i] = column.cut[i];
        free(column.names[i]);
    }
    free(column.names);
    free(column.cut);
    free(is_like);
}
