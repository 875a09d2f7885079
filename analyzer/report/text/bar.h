/* SPDX-License-Identifier: MIT
 *
 * bar.h - the parts of a time on a terminal: as cells, and the largest by name.
 */
#ifndef PT_REPORT_TEXT_BAR_H
#define PT_REPORT_TEXT_BAR_H

#include "put.h"

/* A bar of `width` cells. Parts differ in colour where there is some, else in shade. */
void pt_text_bar(const struct pt_text_out *t, const struct pt_bar *bar, pt_u32 width);
/* "native 93 %  python 5 %": the largest parts, as many as fit into `width` (at least one), padded to it. */
void pt_text_parts(const struct pt_text_out *t, const struct pt_bar *bar, pt_u32 width);
/* The numbers of the parts of a bar, the largest first. */
void pt_text_rank_parts(const struct pt_bar *bar, pt_u32 *ret_parts);

#endif
