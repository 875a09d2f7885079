/* SPDX-License-Identifier: MIT
 *
 * Owns: a flame graph on the page, with what is not in it. Threads: any. Never: makes the page wider than the screen:
 * the drawing scrolls in a box of its own.
 */
#include "flame.h"

#include "report/svg/svg.h"
#include "util/text/fmt.h"
#include "value.h"

static void put_note_of_difference(struct pt_str *out)
{
    pt_str_add(out,
               "<p class=\"note\">As wide as its share of the CPU time of B; the colour is B - A, as a share of the "
               "longer run. What only A calls is not drawn: the tables have it.</p>");
}

static void put_note(struct pt_str *out, const struct pt_flame *flame)
{
    const double whole_s = flame->frames[0].total_s;
    pt_str_add(out, "<p class=\"note\">As wide as its share of the CPU time of all threads; what a function calls is "
                    "below it, the largest first. Frames of the interpreter in a row and calls of a function by itself "
                    "are one.");
    if (flame->left_out)
        pt_str_printf(out, " %s %s too small to be drawn.", pt_fmt_count(flame->left_out).text,
                      flame->left_out == 1 ? "place was" : "places were");
    if (flame->deeper_s > 0)
        pt_str_printf(out, " %s of the time is in calls too deep to be drawn.",
                      pt_svg_percent(flame->deeper_s, whole_s).text);
    pt_str_add(out, "</p>");
}

void pt_html_flame(struct pt_str *out, const struct pt_flame *flame)
{
    if (flame->note) {
        pt_str_add(out, flame->n ? "<p class=\"note\">Incomplete: " : "<p class=\"note\">– No CPU profile: ");
        pt_html_text(out, flame->note);
        pt_str_add(out, "</p>");
    }
    if (!flame->n)
        return;
    pt_str_add(out, "<div>");
    pt_svg_flame_legend(out, flame);
    pt_str_add(out, "</div><div class=\"t flame\" role=\"region\" tabindex=\"0\" aria-label=\"");
    pt_html_text(out, flame->title);
    pt_str_add(out, "\">");
    pt_svg_flame(out, flame);
    pt_str_add(out, "</div>");
    if (flame->is_difference)
        put_note_of_difference(out);
    else
        put_note(out, flame);
}
