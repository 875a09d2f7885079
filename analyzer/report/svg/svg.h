/* SPDX-License-Identifier: MIT
 *
 * svg.h - drawings that need no script: they scale with the page because positions across are shares of the width, and
 * every mark has its numbers in a <title>, which browsers show as a tooltip and screen readers read.
 */
#ifndef PT_REPORT_SVG_SVG_H
#define PT_REPORT_SVG_SVG_H

#include "report/doc/doc.h"
#include "util/str.h"
#include "util/text/fmt.h"

/* Patterns that drawings refer to; once per page or file. */
extern const char pt_svg_patterns[];

/* A length across as a share of a whole: "12.34%". */
void pt_svg_share(struct pt_str *out, double part, double whole);

/* A share for people: "4.2 %", "38 %"; "-" when there is no whole. */
struct pt_fmt pt_svg_percent(double part, double whole);

/* What a length of time consists of: a bar as long as its share of scale_s. */
void pt_svg_bar(struct pt_str *out, const struct pt_bar *bar, double scale_s);
/* A small square or line that looks like part `index` of a bar or series `index` of a chart. */
void pt_svg_part_swatch(struct pt_str *out, pt_u32 index);
void pt_svg_series_swatch(struct pt_str *out, pt_u32 index);

/* A chart for a page that says its title and series itself. */
void pt_svg_chart(struct pt_str *out, const struct pt_chart *chart);
/* The same as a file of its own. */
void pt_svg_chart_file(struct pt_str *out, const struct pt_chart *chart);

/* The frames of a flame graph, and its legend; then both as a separate file. There must be frames. */
void pt_svg_flame(struct pt_str *out, const struct pt_flame *flame);
void pt_svg_flame_legend(struct pt_str *out, const struct pt_flame *flame);
void pt_svg_flame_file(struct pt_str *out, const struct pt_flame *flame);

#endif
