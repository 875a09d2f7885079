/* SPDX-License-Identifier: MIT
 *
 * sanitize_walk.h - a text character by character, dangerous ones already made visible: for the forms of sanitize*.h.
 */
#ifndef PT_UTIL_TEXT_SANITIZE_WALK_H
#define PT_UTIL_TEXT_SANITIZE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "util/str.h"

struct pt_text_place {
    const char *text;  /* the whole text */
    size_t at;         /* where in it */
    const char *bytes; /* the character: of the text, or the backslash that begins a replaced one */
    size_t n;
    uint32_t code;
    bool is_escape;
};

typedef void pt_put_character(struct pt_str *out, const struct pt_text_place *place);

/* The `bytes` bytes at `from`; `put` can see the characters around them, too. */
void pt_sanitize_walk(struct pt_str *out, const char *text, size_t from, size_t bytes, pt_put_character *put);
void pt_put_html(struct pt_str *out, const struct pt_text_place *place);

#endif
