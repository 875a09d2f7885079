/* SPDX-License-Identifier: MIT
 *
 * Owns: the bars of GPUs on a page: busy, and why not. Threads: any. Never: computes what the document does not say,
 * but shares of it.
 */
#include "report/svg/svg.h"
#include "html.h"

static void put_legend(struct pt_str *out, const struct pt_node *time)
{
    pt_u32 index = 0;
    pt_str_add(out, "<ul class=\"legend\">");
    for (const struct pt_node *part = time->first; part; part = part->next, index++) {
        if (!index || !part->label || pt_value_number(part->value) <= 0)
            continue;
        pt_str_add(out, "<li>");
        pt_svg_part_swatch(out, index);
        pt_html_text(out, part->label);
        pt_str_printf(out, " <span class=\"dim\">%s</span></li>",
                      pt_svg_percent(pt_value_number(part->value), pt_value_number(time->first->value)).text);
    }
    pt_str_add(out, "</ul>");
}

void pt_html_gpu(struct pt_str *out, const struct pt_node *bars)
{
    double scale_s = 0;
    pt_u32 n = 0;
    for (const struct pt_node *bar = bars ? bars->first : NULL; bar; bar = bar->next) {
        const double window_s = pt_html_number(pt_node_child(bar, "time"), "wall_s");
        scale_s = window_s > scale_s ? window_s : scale_s;
    }
    if (scale_s <= 0)
        return;
    pt_str_add(out, "<p class=\"note\">From the first to the last work of each GPU. Bars have one scale; what follows "
                    "busy is what the launching thread did, or waited for, while the GPU was idle.</p>");
    for (const struct pt_node *bar = bars->first; bar && n < PT_HTML_MOST_ROWS; bar = bar->next, n++) {
        const struct pt_node *time = pt_node_child(bar, "time");
        pt_str_add(out, "<div class=\"bars\"><div class=\"row\"><div class=\"name\">");
        pt_html_value(out, pt_node_child(bar, "stage"));
        pt_str_add(out, "</div><div class=\"plot\">");
        pt_svg_time_bar(out, bar, scale_s);
        pt_str_add(out, "</div><div class=\"num\">");
        pt_html_value(out, pt_node_child(bar, "duration_s"));
        pt_str_add(out, "</div></div></div>\n");
        put_legend(out, time);
    }
}
