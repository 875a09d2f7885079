/* SPDX-License-Identifier: MIT
 *
 * sanitize.c - Owns: what a terminal and an HTML page would take for more than text. Threads: any. Never: lets a
 * control character through.
 */
#include "sanitize.h"

#include <string.h>

#include "sanitize_walk.h"

static void put_terminal(struct pt_str *out, const struct pt_text_place *place)
{
    pt_str_bytes(out, place->bytes, place->n);
}

void pt_sanitize_terminal(struct pt_str *out, const char *text)
{
    pt_sanitize_walk(out, text, 0, strlen(text), put_terminal);
}

void pt_sanitize_html(struct pt_str *out, const char *text)
{
    pt_sanitize_walk(out, text, 0, strlen(text), pt_put_html);
}
