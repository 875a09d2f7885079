/* SPDX-License-Identifier: MIT
 *
 * Owns: how values become markup: their texts are escaped here. Threads: any. Never: lets a recorded name make markup;
 * shows an unknown value as a number.
 */
#include "value.h"

#include <string.h>

#include "report/doc/show.h"
#include "util/auto.h"
#include "util/text/sanitize.h"
#include "util/text/width.h"

static void put_cut(struct pt_str *out, const char *text, pt_u32 longest)
{
    PT_AUTO(pt_str_fini) struct pt_str cut = {0};
    pt_text_shorten(&cut, text, longest, "…");
    pt_sanitize_html(out, pt_str_text(&cut));
}

void pt_html_text(struct pt_str *out, const char *text)
{
    if (text)
        put_cut(out, text, PT_HTML_LONGEST_TEXT);
}

void pt_html_cell_cut(struct pt_str *out, struct pt_cell cell, pt_u32 longest)
{
    if (cell.value.type == PT_VALUE_UNKNOWN) {
        pt_str_add(out, "<span class=\"u\" title=\"");
        pt_html_text(out, cell.value.reason ? cell.value.reason : "unknown");
        pt_str_add(out, "\">–</span>");
        return;
    }
    PT_AUTO(pt_str_fini) struct pt_str raw = {0};
    pt_show_value(&raw, cell, PT_STYLE_TERMINAL);
    put_cut(out, pt_str_text(&raw), longest);
}

void pt_html_cell(struct pt_str *out, struct pt_cell cell)
{
    pt_html_cell_cut(out, cell, PT_HTML_LONGEST_TEXT);
}

void pt_html_cell_and_reason(struct pt_str *out, struct pt_cell cell)
{
    pt_html_cell(out, cell);
    if (cell.value.type != PT_VALUE_UNKNOWN || !cell.value.reason)
        return;
    pt_str_add(out, " <span class=\"dim\">(");
    pt_html_text(out, cell.value.reason);
    pt_str_add(out, ")</span>");
}

void pt_html_element(struct pt_str *out, const char *tag, const char *class, const char *text)
{
    if (class)
        pt_str_printf(out, "<%s class=\"%s\">", tag, class);
    else
        pt_str_printf(out, "<%s>", tag);
    pt_html_text(out, text);
    pt_str_printf(out, "</%s>", tag);
}

void pt_html_badge(struct pt_str *out, const char *word)
{
    static const char *const known[] = {"ok", "failed", "timeout", "running", "skipped", "error", "warning", "info"};
    const char *class = "";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        class = strcmp(word, known[i]) ? class : known[i];
    pt_str_printf(out, "<span class=\"badge %s\">", class);
    pt_html_text(out, word);
    pt_str_add(out, "</span>");
}
