/* SPDX-License-Identifier: MIT
 *
 * Owns: texts that keep to their column. Threads: any. Never: makes one wider than it is to be.
 */
#include "cut.h"

#include <math.h>

#include "report/doc/show.h"
#include "util/auto.h"
#include "util/text/width.h"

enum { DEFAULT_WIDTH = 100 };

pt_u32 pt_text_line_width(const struct pt_text_out *t)
{
    return t->options->width ? t->options->width : DEFAULT_WIDTH;
}

void pt_text_cut(const struct pt_text_out *t, const char *text, pt_u32 width, bool right)
{
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    PT_AUTO(pt_str_fini) struct pt_str cut = {0};
    pt_text_clean(&clean, text);
    pt_text_shorten(&cut, pt_str_text(&clean), width, "...");
    const pt_u32 have = pt_text_width(pt_str_text(&cut));
    pt_text_spaces(t, right && have < width ? width - have : 0);
    pt_text_put(t, pt_str_text(&cut));
    pt_text_spaces(t, !right && have < width ? width - have : 0);
}

void pt_text_cut_cell(const struct pt_text_out *t, struct pt_cell cell, pt_u32 width)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_show_value(&text, cell, PT_STYLE_TERMINAL);
    pt_text_cut(t, pt_str_text(&text), width, true);
}

void pt_text_cut_share(const struct pt_text_out *t, double percent, pt_u32 width)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (isfinite(percent))
        pt_str_printf(&text, "%.0f %%", percent);
    pt_text_cut(t, pt_str_text(&text), width, true);
}

void pt_text_end_line(const struct pt_text_out *t)
{
    while (t->out->n && t->out->text[t->out->n - 1] == ' ')
        t->out->text[--t->out->n] = 0;
    pt_str_char(t->out, '\n');
}
