/* SPDX-License-Identifier: MIT
 *
 * width.h - texts measured in characters (code points), and made to fit. A name with combining characters is a little
 * narrower than its measured width.
 */
#ifndef PT_UTIL_TEXT_WIDTH_H
#define PT_UTIL_TEXT_WIDTH_H

#include "util/str.h"

/* In cells of a terminal: two of a Chinese, Japanese or Korean character. */
unsigned pt_text_width(const char *text);
/* Bytes of the first character of a text that is not empty, and its cells; what is no UTF-8 has one for each byte. */
size_t pt_text_next(const char *text, unsigned *ret_cells);
/* Bytes of the first characters that fit into so many cells. */
size_t pt_text_prefix(const char *text, unsigned width);
/* At most `width` characters of it; `ellipsis` says where some are missing. A path loses folders from the left,
 * because its file name identifies it; the name of a template its namespaces and the arguments of its call; then any
 * text, and a command, loses its end. Shorten first, then escape, so that no escape is cut. */
void pt_text_shorten(struct pt_str *out, const char *text, unsigned width, const char *ellipsis);
/* Of "void at::f<at::Sqrt<float> >(at::Sqrt<float>)" "f<Sqrt<float> >"; any other text as it is. To be freed. */
char *pt_text_short_name(const char *text);

#endif
