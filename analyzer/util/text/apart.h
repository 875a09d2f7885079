/* SPDX-License-Identifier: MIT
 *
 * apart.h - the texts of a column, shortened so that two of them stay two.
 */
#ifndef PT_UTIL_TEXT_APART_H
#define PT_UTIL_TEXT_APART_H

#include "util/str.h"

/* Each text as pt_text_shorten leaves it. Different ones that would be the same then lose their middle instead of their
 * end: what follows is the first word in which they differ. */
void pt_text_shorten_apart(struct pt_str *const *texts, size_t n, unsigned width, const char *ellipsis);

#endif
