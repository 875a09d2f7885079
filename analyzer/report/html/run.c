/* SPDX-License-Identifier: MIT
 *
 * Owns: what a page says about the run as a whole. Threads: any. Never: draws a chart without a sample.
 */
#include "run.h"

#include <math.h>

#include "report/svg/chart_axis.h"
#include "report/svg/svg.h"
#include "util/auto.h"
#include "util/text/shell_word.h"
#include "head.h"
#include "panel.h"
#include "value.h"

/* ---- charts ---- */

static void put_series(struct pt_str *out, const struct pt_chart *chart, pt_u32 i)
{
    PT_AUTO(pt_str_fini) struct pt_str peak = {0};
    pt_chart_peak_text(&peak, chart, i);
    pt_str_add(out, "<span class=\"sr\">");
    pt_svg_series_swatch(out, i);
    pt_html_text(out, chart->series[i].label);
    pt_str_add(out, ": ");
    pt_html_text(out, pt_str_text(&peak));
    pt_str_add(out, "</span>");
}

static void put_charts(struct pt_str *out, const struct pt_doc *doc)
{
    if (!doc->charts.n)
        return;
    pt_str_add(out,
               "<h3>Resources</h3><p class=\"note\">Over the whole run; shaded by stage. Where no sample was taken, "
               "the line has a gap. The dot is the peak.</p><div class=\"figures\">");
    for (size_t i = 0; i < doc->charts.n; i++) {
        const struct pt_chart *chart = doc->charts.items[i];
        pt_str_add(out, "<figure><figcaption><b>");
        pt_html_text(out, chart->title);
        pt_str_add(out, "</b><br/>");
        for (pt_u32 j = 0; j < chart->n_series; j++)
            put_series(out, chart, j);
        pt_str_add(out, "</figcaption>");
        pt_svg_chart(out, chart);
        pt_str_add(out, "</figure>\n");
    }
    pt_str_add(out, "</div>");
}

/* ---- quality ---- */

static void put_grades(struct pt_str *out, const struct pt_doc *doc)
{
    if (!doc->grades.n)
        return;
    pt_str_add(out, "<h3 id=\"grades\">Quality metrics</h3>");
    for (size_t i = 0; i < doc->broken_floors.n; i++) {
        const struct pt_doc_floor *floor = &doc->broken_floors.items[i];
        pt_str_add(out, "<p>");
        pt_html_badge(out, "failed");
        pt_str_char(out, ' ');
        pt_html_text(out, floor->key);
        pt_str_add(out, " is ");
        pt_html_cell_and_reason(out, floor->value);
        pt_str_printf(out, ", must be at least %g</p>", floor->min);
    }
    pt_html_lines(out, &doc->grades);
}

/* ---- commands ---- */

static void put_command(struct pt_str *out, const struct pt_doc *doc, const char *command, const char *what)
{
    PT_AUTO(pt_str_fini) struct pt_str run = {0};
    pt_shell_word(&run, doc->run);
    pt_str_printf(out, "<dt><code>proftrace %s ", command);
    pt_html_text(out, pt_str_text(&run));
    pt_str_printf(out, "</code></dt><dd>%s</dd>", what);
}

/* RUN is the run directory: from there its name is enough. */
static void put_commands(struct pt_str *out, const struct pt_doc *doc)
{
    pt_str_add(out, "<h3 id=\"commands\">Commands to copy</h3><p class=\"note\">In the folder that holds the run.</p>"
                    "<dl class=\"kv\">");
    put_command(out, doc, "report --full", "all tables of this page as text");
    put_command(out, doc, "stats --by file", "tables of calls, files, call sites, threads, sizes");
    put_command(out, doc, "export --to perfetto -o trace.pftrace",
                "every call on a time axis, thread by thread: open it in ui.perfetto.dev");
    put_command(out, doc, "export --to chrome -o trace.json.gz", "the same for chrome://tracing and speedscope");
    pt_str_add(out, "</dl>");
}

static void put_fold(struct pt_str *out, const struct pt_panel *panel)
{
    if (panel)
        pt_html_fold(out, panel);
}

void pt_html_run(struct pt_str *out, const struct pt_doc *doc)
{
    pt_str_add(out, "<section id=\"run\"><h2>The run as a whole</h2>");
    put_charts(out, doc);
    put_fold(out, doc->resources);
    put_fold(out, doc->time_account);
    put_fold(out, doc->whose_time);
    put_grades(out, doc);
    put_fold(out, doc->processes);
    if (!pt_html_trace_is_incomplete(doc))
        pt_html_trace_quality(out, doc);
    put_commands(out, doc);
    pt_str_add(out, "</section>\n");
}
