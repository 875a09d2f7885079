/* SPDX-License-Identifier: MIT
 *
 * width.h - texts measured in characters (code points), and made to fit. A name with combining characters comes out a
 * little narrower than it is said to be.
 */
#ifndef PT_UTIL_TEXT_WIDTH_H
#define PT_UTIL_TEXT_WIDTH_H

#include "util/str.h"

unsigned pt_text_width(const char *text);
/* Bytes of the first `characters` characters. */
size_t pt_text_prefix(const char *text, unsigned characters);
/* At most `width` characters of it; `ellipsis` says where some are missing. A path loses its folders from the left, for
 * its file tells it from others; anything else, and a command, loses its end. Shorten first, then escape: no escape is
 * torn apart. */
void pt_text_shorten(struct pt_str *out, const char *text, unsigned width, const char *ellipsis);

#endif
