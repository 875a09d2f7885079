/* SPDX-License-Identifier: MIT
 *
 * json_walk.c - Owns: where the values of a checked JSON text begin and end. Threads: any. Never: recurses; checks: it
 * is only given texts that pt_json_text_check accepted.
 */
#include "json_walk.h"

#include <string.h>

static size_t skip_space(const char *text, size_t at)
{
    return at + strspn(text + at, " \t\r\n");
}

/* Returns the place after the closing quote. */
static size_t skip_string(const char *text, size_t at)
{
    for (at++; text[at] != '"'; at++)
        at += text[at] == '\\';
    return at + 1;
}

struct pt_json_span pt_json_text_value(const char *text, size_t at)
{
    const size_t begin = skip_space(text, at);
    at = begin;
    if (text[at] == '"')
        return (struct pt_json_span){begin, skip_string(text, at)};
    if (text[at] != '{' && text[at] != '[')
        return (struct pt_json_span){begin, at + strcspn(text + at, ",]} \t\r\n")};
    int depth = 0;
    do {
        if (text[at] == '"') {
            at = skip_string(text, at);
            continue;
        }
        depth += text[at] == '{' || text[at] == '[';
        depth -= text[at] == '}' || text[at] == ']';
        at++;
    } while (depth);
    return (struct pt_json_span){begin, at};
}

bool pt_json_text_next(const char *text, size_t *at, struct pt_json_member *ret_member)
{
    *at = skip_space(text, *at);
    if (text[*at] == '{' || text[*at] == ',')
        *at = skip_space(text, *at + 1);
    if (text[*at] == '}')
        return false;
    ret_member->key = (struct pt_json_span){*at, skip_string(text, *at)};
    ret_member->value = pt_json_text_value(text, skip_space(text, ret_member->key.end) + 1);
    *at = ret_member->value.end;
    return true;
}

void pt_json_text_without_nan(const char *text, size_t n, struct pt_str *out)
{
    size_t copied = 0;
    for (size_t at = 0; at < n;) {
        if (text[at] == '"') {
            at = skip_string(text, at);
            continue;
        }
        const bool negative = text[at] == '-' && text[at + 1] == 'I';
        const size_t length = text[at] == 'N' ? strlen("NaN") : text[at] == 'I' ? strlen("Infinity") : 0;
        if (!length && !negative) {
            at++;
            continue;
        }
        pt_str_bytes(out, text + copied, at - copied);
        pt_str_add(out, "null");
        at += negative ? strlen("-Infinity") : length;
        copied = at;
    }
    pt_str_bytes(out, text + copied, n - copied);
}
