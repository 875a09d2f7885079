/* SPDX-License-Identifier: MIT
 *
 * Owns: the bar that shows where the time of a stage went. Threads: any. Never: draws a part that was not measured.
 */
#include <math.h>
#include <string.h>

#include "facts/wait_kind.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "util/text/width.h"
#include "svg.h"

/* A label must fit on a screen; a bar is about 8 pixels per percent wide there, a character 7. */
enum { HEIGHT = 24, PIXELS_PER_PERCENT = 8, PIXELS_PER_CHARACTER = 7, LABEL_MARGIN = 12, MARK_RADIUS = 8 };

static const char *ink_of(pt_u32 index)
{
    enum { UNATTRIBUTED = PT_PART_unattributed + 1 };
    _Static_assert((int)UNATTRIBUTED == 20, "each part has a colour in svg.css, and the last one is the hatched");
    static const bool is_dark[UNATTRIBUTED] = {[PT_PART_gpu_wait + 1] = true, [PT_PART_file_write + 1] = true,
                                               [PT_PART_network + 1] = true,  [PT_PART_lock + 1] = true,
                                               [PT_PART_workers + 1] = true,  [PT_PART_page_fault + 1] = true,
                                               [PT_PART_heap + 1] = true};
    return index == UNATTRIBUTED ? "in un" : index < UNATTRIBUTED && is_dark[index] ? "in lt" : "in";
}

/* Where a part lies in its bar. */
struct place {
    double start_s, scale_s; /* of the bar's scale: the whole width */
};

static void put_label(struct pt_str *out, const struct pt_bar_part *part, struct pt_fmt share, double scale_s)
{
    const size_t characters = pt_text_width(part->label) + strlen(share.text) + 1;
    const double room = 100 * part->seconds / scale_s * PIXELS_PER_PERCENT;
    if (room < (double)(characters * PIXELS_PER_CHARACTER + LABEL_MARGIN))
        return;
    pt_str_printf(out, "<text class=\"%s\" x=\"6\" y=\"16\">", ink_of(part->color));
    pt_sanitize_html(out, part->label);
    pt_str_printf(out, " %s</text>", share.text);
}

static void put_part(struct pt_str *out, const struct pt_bar *bar, const struct pt_bar_part *part, struct place place)
{
    const struct pt_fmt share = pt_svg_percent(part->seconds, pt_cell_number(bar->length));
    pt_str_add(out, "<svg x=\"");
    pt_svg_share(out, place.start_s, place.scale_s);
    pt_str_add(out, "\" width=\"");
    pt_svg_share(out, part->seconds, place.scale_s);
    pt_str_printf(out, "\" height=\"%d\"><title>", HEIGHT);
    pt_sanitize_html(out, part->label);
    pt_str_printf(out, ": %s, %s of the %s</title>", pt_fmt_duration((int64_t)llround(part->seconds * 1e9)).text,
                  share.text, bar->whole);
    pt_str_printf(out, "<rect class=\"p%u\" width=\"100%%\" height=\"%d\"/>", part->color, HEIGHT);
    put_label(out, part, share, place.scale_s);
    pt_str_add(out, "</svg>");
}

static void put_description(struct pt_str *out, const struct pt_bar *bar)
{
    pt_sanitize_html(out, bar->name);
    for (pt_u32 i = 0; i < bar->n_parts; i++) {
        pt_str_add(out, i ? ", " : ": ");
        pt_sanitize_html(out, bar->parts[i].label);
        pt_str_printf(out, " %s", pt_fmt_duration((int64_t)llround(bar->parts[i].seconds * 1e9)).text);
    }
}

static void put_mark(struct pt_str *out, const struct pt_bar_mark *mark, int x)
{
    if (mark->is_on_page)
        pt_str_printf(out, "<a href=\"#finding-%u\">", mark->number);
    pt_str_printf(out, "<circle cx=\"%d\" cy=\"%d\" r=\"%d\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%u</text>",
                  x, HEIGHT + MARK_RADIUS + 2, MARK_RADIUS, x, HEIGHT + MARK_RADIUS + 6, mark->number);
    pt_str_add(out, mark->is_on_page ? "</a>" : "");
}

/* Below the middle of its part, next to the others of the same part: a number that links to the finding. */
static void put_marks(struct pt_str *out, const struct pt_bar *bar, double scale_s)
{
    double start_s = 0;
    for (pt_u32 i = 0; i < bar->n_parts; start_s += bar->parts[i++].seconds) {
        /* Numbers are placed to the right of the middle, near the right edge to its left: outside they would be cut
         * off. */
        const double share = (start_s + bar->parts[i].seconds / 2) / scale_s;
        int beside = share > 0.95 ? -2 * MARK_RADIUS * (int)bar->n_marks : 0;
        for (pt_u32 j = 0; j < bar->n_marks; j++) {
            if (bar->marks[j].color != bar->parts[i].color)
                continue;
            pt_str_add(out, "<svg class=\"mk\" overflow=\"visible\" x=\"");
            pt_svg_share(out, start_s + bar->parts[i].seconds / 2, scale_s);
            pt_str_add(out, "\">");
            put_mark(out, &bar->marks[j], MARK_RADIUS + beside);
            pt_str_add(out, "</svg>");
            beside += 2 * MARK_RADIUS + 2;
        }
    }
}

void pt_svg_bar(struct pt_str *out, const struct pt_bar *bar, double scale_s)
{
    const int height = bar->n_marks ? HEIGHT + 2 * MARK_RADIUS + 4 : HEIGHT;
    pt_str_printf(out, "<svg class=\"bar\" width=\"100%%\" height=\"%d\" role=\"img\" aria-label=\"", height);
    put_description(out, bar);
    pt_str_add(out, "\">");
    struct place place = {0, scale_s};
    for (pt_u32 i = 0; i < bar->n_parts; i++) {
        put_part(out, bar, &bar->parts[i], place);
        place.start_s += bar->parts[i].seconds;
    }
    put_marks(out, bar, scale_s);
    pt_str_add(out, "</svg>");
}
