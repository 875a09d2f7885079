/* SPDX-License-Identifier: MIT
 *
 * show_figure.h - a figure of a run for people: "1,234", "2.50 MiB", "1.25 s".
 */
#ifndef PT_REGRESSION_SHOW_FIGURE_H
#define PT_REGRESSION_SHOW_FIGURE_H

#include "report/doc/doc.h"
#include "figures.h"

/* Always a text, which lives as long as the document. */
struct pt_value pt_show_figure(struct pt_doc *doc, enum pt_figure_kind kind, double value);

#endif
