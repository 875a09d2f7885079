/* SPDX-License-Identifier: MIT
 *
 * Owns: the layout of each kind of panel. Threads: any. Never: draws: flame graphs and bars are for pages.
 */
#include "panel.h"

#include "util/auto.h"
#include "util/text/fmt.h"

/* A folder of thousands of damaged files has a note for each; report.json keeps them all. */
enum { MOST_TEXTS = 20 };

void pt_text_texts(const struct pt_text_out *t, const char *const *texts, pt_u32 n)
{
    for (pt_u32 i = 0; i < n && i < MOST_TEXTS; i++) {
        PT_AUTO(pt_str_fini) struct pt_str clean = {0};
        pt_text_clean(&clean, texts[i]);
        pt_str_add(t->out, "  ");
        pt_text_put(t, pt_str_text(&clean));
        pt_str_char(t->out, '\n');
    }
    if (n > MOST_TEXTS)
        pt_str_printf(t->out, "  ... and %s more\n", pt_fmt_count(n - MOST_TEXTS).text);
}

static void put_title(const struct pt_text_out *t, const struct pt_panel *panel, const char *stage)
{
    PT_AUTO(pt_str_fini) struct pt_str title = {0};
    pt_str_printf(&title, "%s%s%s", stage ? stage : "", stage ? ": " : "", panel->title);
    pt_text_heading(t, pt_str_text(&title));
}

static void put_why_empty(const struct pt_text_out *t, const struct pt_panel *panel)
{
    pt_str_add(t->out, "  unknown: ");
    pt_text_wrapped(t, panel->why_empty, 2);
    pt_str_char(t->out, '\n');
}

void pt_text_panel(const struct pt_text_out *t, const struct pt_panel *panel, const char *stage)
{
    if (panel->is_for_pages)
        return;
    switch (panel->kind) {
    case PT_PANEL_LINES:
        put_title(t, panel, stage);
        pt_text_lines(t, &panel->lines, "");
        break;
    case PT_PANEL_TABLE:
        if (!panel->table->n_rows && !panel->why_empty)
            return;
        put_title(t, panel, stage);
        if (panel->table->n_rows)
            pt_text_table(t, panel, "");
        else
            put_why_empty(t, panel);
        break;
    case PT_PANEL_TEXTS:
        if (!panel->n_texts)
            return;
        put_title(t, panel, stage);
        pt_text_texts(t, panel->texts, panel->n_texts);
        break;
    case PT_PANEL_LOG:
    case PT_PANEL_FLAME:
    case PT_PANEL_BARS:
        break;
    }
}

void pt_text_panels(const struct pt_text_out *t, const struct pt_panels *panels, const char *stage)
{
    for (size_t i = 0; i < panels->n; i++)
        pt_text_panel(t, panels->items[i], stage);
}

void pt_text_notes(const struct pt_text_out *t, const struct pt_doc *doc)
{
    for (pt_u32 i = 0; i < doc->n_notes; i++) {
        PT_AUTO(pt_str_fini) struct pt_str note = {0};
        pt_text_clean(&note, doc->notes[i]);
        pt_str_add(t->out, "note: ");
        pt_text_wrapped(t, pt_str_text(&note), 6);
        pt_str_char(t->out, '\n');
    }
}
