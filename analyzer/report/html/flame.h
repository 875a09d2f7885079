/* SPDX-License-Identifier: MIT
 *
 * flame.h - a flame graph on the page, with what is not in it.
 */
#ifndef PT_REPORT_HTML_FLAME_H
#define PT_REPORT_HTML_FLAME_H

#include "report/doc/doc.h"
#include "util/str.h"

void pt_html_flame(struct pt_str *out, const struct pt_flame *flame);

#endif
