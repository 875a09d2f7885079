/* SPDX-License-Identifier: MIT
 *
 * window.h - the keys of window.def as a table, and which texts of PROFTRACE_WINDOW are understood: one rule for the
 * library, which follows them, and the launcher, which says what has no effect.
 */
#ifndef PROFTRACE_WINDOW_H
#define PROFTRACE_WINDOW_H

#include "types.h"

/* A marker in a profiler's trace: this, and the time on our clock at which it was made. */
#define PT_WINDOW_MARKER "ptsync:"

enum pt_window_kind { PT_WINDOW_NUMBER, PT_WINDOW_LIST, PT_WINDOW_FLAG };

static const struct pt_window_key {
    const char *name;
    enum pt_window_kind kind;
    pt_u32 least;
} pt_window_keys[] = {
#define NUMBER(key, least, initial, doc) {#key, PT_WINDOW_NUMBER, least},
#define LIST(key, doc) {#key, PT_WINDOW_LIST, 1},
#define FLAG(key, doc) {#key, PT_WINDOW_FLAG, 0},
#include "window.def"
#undef NUMBER
#undef LIST
#undef FLAG
};
#define PT_N_WINDOW_KEYS (sizeof pt_window_keys / sizeof *pt_window_keys)

/* The key that the item begins with; `*ret_rest`: behind it. NULL: none. */
static inline const struct pt_window_key *pt_window_key_of(const char *item, const char **ret_rest)
{
    for (pt_u64 i = 0; i < PT_N_WINDOW_KEYS; i++) {
        const char *name = pt_window_keys[i].name, *at = item;
        for (; *name && *at == *name; name++)
            at++;
        *ret_rest = at;
        if (!*name && (!*at || *at == '=' || *at == ','))
            return &pt_window_keys[i];
    }
    return 0;
}

/* Up to nine digits; NULL: something else stands there, or less than it may be. */
static inline const char *pt_window_behind_number(const char *text, pt_u32 least)
{
    const char *at = text;
    pt_u64 number = 0;
    while (*at >= '0' && *at <= '9' && at - text < 10)
        number = 10 * number + (pt_u64)(*at++ - '0');
    return at == text || at - text > 9 || (*at && *at != ',') || number < least ? 0 : at;
}

/* The first item that is not understood; NULL: all of them are. */
static inline const char *pt_window_problem(const char *text)
{
    const struct pt_window_key *key = 0;
    while (*text) {
        const char *item = text, *rest = text;
        const int goes_on = key && key->kind == PT_WINDOW_LIST && *text >= '0' && *text <= '9';
        if (!goes_on) {
            key = pt_window_key_of(text, &rest);
            if (!key || (*rest == '=') != (key->kind != PT_WINDOW_FLAG))
                return item;
            rest += *rest == '=';
        }
        if (key->kind != PT_WINDOW_FLAG && !(rest = pt_window_behind_number(rest, key->least)))
            return item;
        text = rest + (*rest == ',');
    }
    return 0;
}

#endif
