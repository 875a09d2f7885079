/* SPDX-License-Identifier: MIT
 *
 * medium.h - what a report is printed on: width, character set, colour.
 */
#ifndef PT_REPORT_MEDIUM_H
#define PT_REPORT_MEDIUM_H

#include "render.h"

/* Of stdout, or of a file when `output` is not NULL: NO_COLOR, TERM, COLUMNS and the locale are honoured. */
struct pt_render_options pt_medium_of(const char *output);
struct pt_render_options pt_medium_of_stderr(void);

#endif
