/* SPDX-License-Identifier: MIT
 *
 * Owns: the small pieces of drawings; their colours are in svg.css. Threads: any. Never: distinguishes two things by
 * colour alone: parts are labelled, series are dashed differently.
 */
#include "svg.h"

#include <math.h>
#include <stdio.h>

const char pt_svg_patterns[] = "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                               "patternTransform=\"rotate(45)\"><rect class=\"hb\" width=\"6\" height=\"6\"/>"
                               "<line class=\"hl\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs>";

void pt_svg_share(struct pt_str *out, double part, double whole)
{
    double percent = whole > 0 && isfinite(part) ? 100 * part / whole : 0;
    percent = percent < 0 ? 0 : percent > 100 ? 100 : percent;
    pt_str_printf(out, "%.2f%%", percent);
}

struct pt_fmt pt_svg_percent(double part, double whole)
{
    struct pt_fmt fmt = {"-"};
    if (whole > 0 && isfinite(part))
        snprintf(fmt.text, sizeof fmt.text, 100 * part < 9.95 * whole ? "%.1f %%" : "%.0f %%", 100 * part / whole);
    return fmt;
}

void pt_svg_part_swatch(struct pt_str *out, pt_u32 index)
{
    pt_str_printf(out,
                  "<svg class=\"sw\" width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"p%u\" width=\"12\" "
                  "height=\"12\" rx=\"2\"/></svg>",
                  index);
}

void pt_svg_series_swatch(struct pt_str *out, pt_u32 index)
{
    pt_str_printf(out,
                  "<svg class=\"sw\" width=\"22\" height=\"12\" aria-hidden=\"true\"><path class=\"l s%u l%u\" "
                  "d=\"M1 6H21\"/></svg>",
                  index, index);
}
