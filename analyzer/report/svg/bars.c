/* SPDX-License-Identifier: MIT
 *
 * Owns: the bar that shows where the time of a stage went. Threads: any. Never: draws a part that nobody measured.
 */
#include <math.h>
#include <string.h>

#include "facts/wait_kind.h"
#include "report/doc/grid.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "svg.h"

/* A label must fit on a screen; a bar is about 8 pixels per percent wide there, a character 7. */
enum { HEIGHT = 24, PIXELS_PER_PERCENT = 8, PIXELS_PER_CHARACTER = 7, LABEL_MARGIN = 12 };

static double seconds_of(const struct pt_node *node)
{
    return node ? pt_value_number(node->value) : 0;
}

static const char *ink_of(pt_u32 index)
{
    enum { UNATTRIBUTED = 18 };
    _Static_assert((int)PT_PART__COUNT == (int)UNATTRIBUTED,
                   "each part has a colour in svg.c, and the last one is the hatched");
    static const bool is_dark[UNATTRIBUTED] = {
        [1] = true, [4] = true, [6] = true, [9] = true, [13] = true, [14] = true};
    return index == UNATTRIBUTED ? "in un" : index < UNATTRIBUTED && is_dark[index] ? "in lt" : "in";
}

static void put_part(struct pt_str *out, const struct pt_node *part, pt_u32 index, double start_s, double wall_s,
                     double scale_s, const char *whole)
{
    const double part_s = seconds_of(part);
    pt_str_add(out, "<svg x=\"");
    pt_svg_share(out, start_s, scale_s);
    pt_str_add(out, "\" width=\"");
    pt_svg_share(out, part_s, scale_s);
    pt_str_printf(out, "\" height=\"%d\"><title>", HEIGHT);
    pt_sanitize_html(out, part->label);
    pt_str_printf(out, ": %s, %s of the %s</title>", pt_fmt_duration((int64_t)llround(part_s * 1e9)).text,
                  pt_svg_percent(part_s, wall_s).text, whole);
    pt_str_printf(out, "<rect class=\"p%u\" width=\"100%%\" height=\"%d\"/>", index, HEIGHT);
    const size_t characters = pt_text_width(part->label) + strlen(pt_svg_percent(part_s, wall_s).text) + 1;
    const double room = 100 * part_s / scale_s * PIXELS_PER_PERCENT;
    if (room >= (double)(characters * PIXELS_PER_CHARACTER + LABEL_MARGIN)) {
        pt_str_printf(out, "<text class=\"%s\" x=\"6\" y=\"16\">", ink_of(index));
        pt_sanitize_html(out, part->label);
        pt_str_printf(out, " %s</text>", pt_svg_percent(part_s, wall_s).text);
    }
    pt_str_add(out, "</svg>");
}

static void put_description(struct pt_str *out, const char *name, const struct pt_node *wall)
{
    pt_sanitize_html(out, name);
    const char *before = ": ";
    for (const struct pt_node *part = wall ? wall->next : NULL; part; part = part->next) {
        if (seconds_of(part) <= 0 || !part->label)
            continue;
        pt_str_printf(out, "%s", before);
        pt_sanitize_html(out, part->label);
        pt_str_printf(out, " %s", pt_fmt_duration((int64_t)llround(seconds_of(part) * 1e9)).text);
        before = ", ";
    }
}

void pt_svg_parts_bar(struct pt_str *out, const char *name, const struct pt_node *wall, double scale_s,
                      const char *whole)
{
    const double wall_s = seconds_of(wall);
    pt_str_printf(out, "<svg class=\"bar\" width=\"100%%\" height=\"%d\" role=\"img\" aria-label=\"", HEIGHT);
    put_description(out, name, wall);
    pt_str_add(out, "\">");
    double at_s = 0;
    pt_u32 index = 1;
    for (const struct pt_node *part = wall ? wall->next : NULL; part; part = part->next, index++) {
        const double part_s = seconds_of(part);
        if (part->kind != PT_NODE_VALUE || !part->label || part_s <= 0)
            continue;
        put_part(out, part, index, at_s, wall_s, scale_s, whole);
        at_s += part_s;
    }
    pt_str_add(out, "</svg>");
}

void pt_svg_time_bar(struct pt_str *out, const struct pt_node *stage, double scale_s)
{
    const struct pt_node *time = pt_node_child(stage, "time"), *name = pt_node_child(stage, "stage");
    const bool is_named = name && name->value.type == PT_VALUE_TEXT;
    if (time)
        pt_svg_parts_bar(out, is_named ? name->value.text : "", time->first, scale_s, "stage");
}
