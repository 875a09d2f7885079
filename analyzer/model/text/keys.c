/* SPDX-License-Identifier: MIT
 *
 * text/keys.c - Owns: key=value pairs of a line of text. Threads: any. Never: reads beyond the line.
 */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

#include "decode/text.h"

/* The end of a [list], behind its bracket; quoted texts inside may hold brackets. */
static const char *list_end(const char *at)
{
    for (at++; *at && *at != ']'; at++) {
        if (*at != '"')
            continue;
        for (at++; *at && *at != '"'; at++)
            if (*at == '\\' && at[1])
                at++;
        if (!*at)
            return NULL; /* a text without an end: one step more would leave the line */
    }
    return *at == ']' ? at + 1 : NULL;
}

int pt_keys_read(const char *at, struct pt_keys *ret_keys, struct pt_arena *arena, struct pt_error *err)
{
    ret_keys->n = 0;
    while (*(at += strspn(at, " "))) {
        const size_t n = strcspn(at, "= ");
        if (at[n] != '=' || ret_keys->n == sizeof ret_keys->pairs / sizeof ret_keys->pairs[0])
            return pt_fail_code(err, 3, "'%.*s' is not key=value", (int)(n < 40 ? n : 40), at);
        const char *value = at + n + 1, *end = value + strcspn(value, " ");
        struct pt_str text = {0};
        if (*value == '"')
            end = pt_text_unquote(value, &text);
        else if (*value == '[')
            end = list_end(value);
        if (end && *value != '"')
            pt_str_bytes(&text, value, (size_t)(end - value));
        ret_keys->pairs[ret_keys->n].key = pt_arena_text(arena, at, n);
        ret_keys->pairs[ret_keys->n++].value = pt_arena_text(arena, pt_str_text(&text), text.n);
        pt_str_fini(&text);
        if (!end)
            return pt_fail_code(err, 3, "the value of '%.*s' does not end", (int)(n < 40 ? n : 40), at);
        at = end;
    }
    return 0;
}

const char *pt_keys_text(const struct pt_keys *keys, const char *key, const char *otherwise)
{
    for (pt_u32 i = 0; i < keys->n; i++)
        if (!strcmp(keys->pairs[i].key, key))
            return keys->pairs[i].value;
    return otherwise;
}

int pt_keys_number(const struct pt_keys *keys, const char *key, pt_u64 otherwise, pt_u64 *ret, struct pt_error *err)
{
    const char *text = pt_keys_text(keys, key, NULL);
    char *end;
    *ret = otherwise;
    if (!text)
        return 0;
    *ret = *text == '-' ? (pt_u64)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return *text && !*end ? 0 : pt_fail_code(err, 3, "%s='%.40s' is not a number", key, text);
}

int pt_keys_seconds(const struct pt_keys *keys, const char *key, pt_i64 otherwise, pt_i64 *ret_ns, struct pt_error *err)
{
    const char *text = pt_keys_text(keys, key, NULL);
    *ret_ns = otherwise;
    if (!text)
        return 0;
    const char *end = pt_text_seconds(text, ret_ns);
    return end && !*end ? 0 : pt_fail_code(err, 3, "%s='%.40s' is not a time in seconds", key, text);
}
