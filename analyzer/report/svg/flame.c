/* SPDX-License-Identifier: MIT
 *
 * Owns: how a flame graph is drawn, callers above what they call. Threads: any. Never: draws a function wider than its
 * caller; lets a name out of its box.
 *
 * Each frame is a drawing of its own, which clips its text; horizontally, all is in percent of the width.
 */
#include <math.h>

#include "util/auto.h"
#include "util/text/sanitize.h"
#include "util/text/width.h"
#include "style.h"
#include "svg.h"

enum {
    ROW = 19, /* of which one pixel is air */
    FILE_WIDTH = 1200,
    FILE_MARGIN = 8,
    FILE_HEAD = 46,
    WIDEST = 1180,
    NARROWEST_TEXT = 26, /* pixels, on a page of the widest width */
    PIXELS_PER_CHARACTER = 5,
};

static struct pt_fmt duration(double s)
{
    return pt_fmt_duration((int64_t)llround((s < 1e9 ? s : 1e9) * 1e9));
}

static double whole_of(const struct pt_flame *flame)
{
    return flame->n ? flame->frames[0].total_s : 0;
}

/* The colour of a change: by its share of the larger of both runs, below which nobody would look. */
static const struct {
    const char *class, *label;
    double least_share; /* B - A; the first that fits */
} changes[] = {
    {"v3", "far more", 0.1},        {"v2", "more", 0.03}, {"v1", "a little more", 0.01}, {"v0", "as before", -0.01},
    {"w1", "a little less", -0.03}, {"w2", "less", -0.1}, {"w3", "far less", -INFINITY},
};
enum { N_CHANGES = sizeof changes / sizeof *changes };

static int change_of(const struct pt_flame *flame, const struct pt_flame_frame *frame)
{
    const double whole_s = fmax(flame->frames[0].total_s, flame->frames[0].before_s);
    const double share = (frame->total_s - frame->before_s) / whole_s;
    int i = 0;
    while (i < N_CHANGES - 1 &&
           !(changes[i].least_share > 0 ? share >= changes[i].least_share : share > changes[i].least_share))
        i++;
    return i;
}

static void put_difference(struct pt_str *out, const struct pt_flame_frame *frame)
{
    const double by = frame->total_s - frame->before_s;
    pt_str_printf(out, "\nA %s, B %s: %s", duration(frame->before_s).text, duration(frame->total_s).text,
                  by > 0 ? "+" : "");
    pt_str_add(out, pt_fmt_duration((int64_t)llround(by * 1e9)).text);
}

static void put_tooltip(struct pt_str *out, const struct pt_flame *flame, const struct pt_flame_frame *frame)
{
    const double whole_s = whole_of(flame);
    pt_str_add(out, "<title>");
    pt_sanitize_html(out, frame->function);
    pt_str_printf(out, "\n%s, %s", duration(frame->total_s).text, pt_svg_percent(frame->total_s, whole_s).text);
    if (frame->depth && frame->kind != PT_FLAME_THREAD)
        pt_str_printf(out, "; itself %s, %s", duration(frame->self_s).text,
                      pt_svg_percent(frame->self_s, whole_s).text);
    if (flame->is_difference)
        put_difference(out, frame);
    if (frame->folded)
        pt_str_printf(out, "\n%u functions that call one after the other", frame->folded + 1);
    if (frame->depth)
        pt_str_printf(out, "\n%s", pt_flame_kinds[frame->kind].description);
    if (frame->module) {
        pt_str_add(out, ": ");
        pt_sanitize_html(out, frame->module);
    }
    pt_str_add(out, "</title>");
}

static void put_frame(struct pt_str *out, const struct pt_flame *flame, const struct pt_flame_frame *frame)
{
    const double whole_s = whole_of(flame), pixels = WIDEST * frame->total_s / whole_s;
    pt_str_add(out, "<svg x=\"");
    pt_svg_share(out, frame->start_s, whole_s);
    pt_str_add(out, "\" width=\"");
    pt_svg_share(out, frame->total_s, whole_s);
    pt_str_printf(out, "\" y=\"%u\" height=\"%d\">", frame->depth * ROW, ROW - 1);
    put_tooltip(out, flame, frame);
    if (flame->is_difference)
        pt_str_printf(out, "<rect class=\"%s\"", changes[change_of(flame, frame)].class);
    else
        pt_str_printf(out, "<rect class=\"f%d\"", (int)frame->kind);
    pt_str_printf(out, " width=\"100%%\" height=\"%d\"/>", ROW - 1);
    if (pixels >= NARROWEST_TEXT) {
        PT_AUTO(pt_str_fini) struct pt_str cut = {0};
        pt_str_bytes(&cut, frame->function, pt_text_prefix(frame->function, (pt_u32)(pixels / PIXELS_PER_CHARACTER)));
        pt_str_printf(out, "<text class=\"%s\" x=\"4\" y=\"13\">", flame->is_difference ? "fv" : "fn");
        pt_sanitize_html(out, pt_str_text(&cut));
        pt_str_add(out, "</text>");
    }
    pt_str_add(out, "</svg>");
}

/* For people who cannot see it: the sum, and the function that ran most. */
static void put_description(struct pt_str *out, const struct pt_flame *flame)
{
    const struct pt_flame_frame *most = flame->frames;
    for (pt_u32 i = 1; i < flame->n; i++)
        most = flame->frames[i].self_s > most->self_s ? &flame->frames[i] : most;
    pt_str_add(out, "CPU flame graph of ");
    pt_sanitize_html(out, flame->stage);
    pt_str_printf(out, ": %s of CPU time", duration(whole_of(flame)).text);
    if (most->self_s <= 0)
        return;
    pt_str_add(out, "; most of it in one place: ");
    pt_sanitize_html(out, most->function);
    pt_str_printf(out, ", %s", pt_svg_percent(most->self_s, whole_of(flame)).text);
}

static void put_frames(struct pt_str *out, const struct pt_flame *flame, const char *place)
{
    pt_str_printf(out, "<svg %s height=\"%u\" role=\"img\" aria-label=\"", place, flame->rows * ROW);
    put_description(out, flame);
    pt_str_add(out, "\">");
    for (pt_u32 i = 0; i < flame->n; i++)
        put_frame(out, flame, &flame->frames[i]);
    pt_str_add(out, "</svg>");
}

static bool has_kind(const struct pt_flame *flame, enum pt_flame_kind kind)
{
    for (pt_u32 i = 0; i < flame->n; i++)
        if (flame->frames[i].kind == kind)
            return true;
    return false;
}

static void put_swatch(struct pt_str *out, const char *class, const char *label)
{
    pt_str_printf(out,
                  "<span class=\"sr\"><svg class=\"sw\" width=\"12\" height=\"12\" aria-hidden=\"true\">"
                  "<rect class=\"%s\" width=\"12\" height=\"12\" rx=\"2\"/></svg>%s</span>",
                  class, label);
}

void pt_svg_flame_legend(struct pt_str *out, const struct pt_flame *flame)
{
    for (int i = 0; flame->is_difference && i < N_CHANGES; i++)
        put_swatch(out, changes[i].class, changes[i].label);
    if (flame->is_difference)
        return;
    for (enum pt_flame_kind kind = 0; kind < PT_FLAME__KINDS; kind++)
        if (has_kind(flame, kind))
            put_swatch(out, (const char[]){'f', (char)('0' + (int)kind), 0}, pt_flame_kinds[kind].label);
}

void pt_svg_flame(struct pt_str *out, const struct pt_flame *flame)
{
    put_frames(out, flame, "width=\"100%\"");
}

void pt_svg_flame_file(struct pt_str *out, const struct pt_flame *flame)
{
    pt_str_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\"><style>", FILE_WIDTH,
                  FILE_HEAD + flame->rows * ROW + FILE_MARGIN);
    pt_str_add(out, pt_svg_style);
    pt_str_printf(out,
                  "</style><rect width=\"100%%\" height=\"100%%\" style=\"fill:var(--bg)\"/>"
                  "<text x=\"%d\" y=\"16\" style=\"font-weight:600\">",
                  FILE_MARGIN);
    put_description(out, flame);
    pt_str_add(out, "</text>");
    int x = FILE_MARGIN;
    for (enum pt_flame_kind kind = 0; kind < PT_FLAME__KINDS; kind++) {
        enum { LEGEND_STEP = 90 };
        if (!has_kind(flame, kind))
            continue;
        pt_str_printf(out,
                      "<rect class=\"f%d\" x=\"%d\" y=\"26\" width=\"12\" height=\"12\"/><text x=\"%d\" "
                      "y=\"36\">%s</text>",
                      (int)kind, x, x + 16, pt_flame_kinds[kind].label);
        x += LEGEND_STEP;
    }
    PT_AUTO(pt_str_fini) struct pt_str place = {0};
    pt_str_printf(&place, "x=\"%d\" y=\"%d\" width=\"%d\"", FILE_MARGIN, FILE_HEAD, FILE_WIDTH - 2 * FILE_MARGIN);
    put_frames(out, flame, pt_str_text(&place));
    pt_str_add(out, "</svg>\n");
}
