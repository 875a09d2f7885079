/* SPDX-License-Identifier: MIT
 *
 * Owns: the order of what a page says about stages. Threads: any. Never: computes what the document does not say, but
 * shares of it; leaves out a panel.
 */
#include "stage.h"

#include <math.h>
#include <string.h>

#include "report/svg/svg.h"
#include "util/text/fmt.h"
#include "finding.h"
#include "panel.h"
#include "table.h"
#include "value.h"

/* ---- all of them ---- */

static double longest_s(const struct pt_doc *doc)
{
    double scale_s = 0;
    for (size_t i = 0; i < doc->stages.n; i++) {
        const double wall_s = pt_cell_number(doc->stages.items[i]->time.length);
        scale_s = wall_s > scale_s ? wall_s : scale_s;
    }
    return scale_s;
}

static void put_row(struct pt_str *out, const struct pt_doc_stage *stage, double scale_s)
{
    pt_str_printf(out, "<div class=\"row\"><div class=\"name\"><a href=\"#stage-%u\">", stage->index);
    pt_html_text(out, stage->name);
    pt_str_add(out, "</a></div><div class=\"plot\">");
    if (stage->was_skipped)
        pt_html_badge(out, stage->status);
    else
        pt_svg_bar(out, &stage->time, scale_s);
    pt_str_add(out, "</div><div class=\"num\">");
    pt_html_cell(out, stage->duration);
    pt_str_add(out, "</div></div>\n");
}

static void put_time(struct pt_str *out, const struct pt_doc *doc)
{
    const double scale_s = longest_s(doc);
    const struct pt_bar *bars[PT_HTML_MOST_ROWS];
    size_t n = 0;
    for (; n < doc->stages.n && n < PT_HTML_MOST_ROWS; n++)
        bars[n] = &doc->stages.items[n]->time;
    pt_str_add(out, "<p class=\"note\">Of the main thread of each stage. Bars have one scale; what nobody measured is "
                    "unattributed.</p>");
    pt_html_legend(out, bars, n);
    pt_str_add(out, "<div class=\"bars\">");
    for (size_t i = 0; i < n; i++)
        put_row(out, doc->stages.items[i], scale_s);
    pt_str_add(out, "</div>");
}

/* The largest part: "Native 93 %". */
static void put_mostly(struct pt_str *out, const struct pt_doc_stage *stage)
{
    const struct pt_bar_part *most = NULL;
    for (pt_u32 i = 0; i < stage->time.n_parts; i++)
        if (!most || stage->time.parts[i].seconds > most->seconds)
            most = &stage->time.parts[i];
    if (!most) {
        pt_html_cell(out, pt_cell(PT_SHOW_TEXT, pt_unknown("nothing is known about it")));
        return;
    }
    pt_html_text(out, most->label);
    pt_str_printf(out, " <span class=\"w\">%s</span>",
                  pt_svg_percent(most->seconds, pt_cell_number(stage->time.length)).text);
}

enum { N_COLUMNS = 8 };
static const char *const column_labels[N_COLUMNS] = {"Duration",    "Share",    "CPU mean",   "CPU peak",
                                                     "Peak memory", "GPU busy", "GPU memory", "Mostly"};

/* All but the last column. */
static void cells_of(const struct pt_doc_stage *stage, struct pt_cell cells[N_COLUMNS - 1])
{
    const struct pt_value share = isnan(stage->share_percent) ? stage->duration.value : pt_real(stage->share_percent);
    const struct pt_cell all[N_COLUMNS - 1] = {
        stage->duration, pt_cell(PT_SHOW_PERCENT, share),
        stage->cpu_avg,  stage->cpu_max,
        stage->rss_max,  stage->gpu_util,
        stage->gpu_mem,
    };
    memcpy(cells, all, sizeof all);
}

static void put_stage_row(struct pt_str *out, const struct pt_doc_stage *stage)
{
    struct pt_cell cells[N_COLUMNS - 1];
    cells_of(stage, cells);
    pt_str_printf(out, "<tr><th scope=\"row\" class=\"w\"><a href=\"#stage-%u\">", stage->index);
    pt_html_text(out, stage->name);
    pt_str_add(out, "</a></th><td class=\"s\">");
    pt_html_badge(out, stage->status);
    if (pt_cell_text(stage->reason))
        pt_html_element(out, "small", NULL, pt_cell_text(stage->reason));
    for (size_t i = 0; i < stage->left.n; i++) {
        pt_str_add(out, "<small>left running: ");
        pt_html_cell(out, stage->left.items[i].cell);
        pt_str_printf(out, " (%s)</small>", stage->left.items[i].label);
    }
    pt_str_add(out, "</td>");
    for (pt_u32 i = 0; i < N_COLUMNS - 1; i++) {
        pt_str_add(out, "<td class=\"n\">");
        pt_html_cell(out, cells[i]);
        pt_str_add(out, "</td>");
    }
    pt_str_add(out, "<td class=\"\">");
    put_mostly(out, stage);
    pt_str_add(out, "</td></tr>\n");
}

/* Each reason for a dash once as text, for paper and touch screens. */
static void put_reasons(struct pt_str *out, const struct pt_doc *doc)
{
    const char *reasons[N_COLUMNS - 1] = {0};
    for (size_t i = 0; i < doc->stages.n; i++) {
        struct pt_cell cells[N_COLUMNS - 1];
        cells_of(doc->stages.items[i], cells);
        for (pt_u32 j = 0; j < N_COLUMNS - 1; j++)
            if (!reasons[j] && cells[j].value.type == PT_VALUE_UNKNOWN)
                reasons[j] = cells[j].value.reason;
    }
    for (pt_u32 i = 0; i < N_COLUMNS - 1; i++) {
        bool is_new = reasons[i] != NULL;
        for (pt_u32 j = 0; j < i && is_new; j++)
            is_new = !reasons[j] || strcmp(reasons[i], reasons[j]) != 0;
        if (!is_new)
            continue;
        pt_str_printf(out, "<p class=\"note\">– %s: ", column_labels[i]);
        pt_html_text(out, reasons[i]);
        pt_str_add(out, "</p>");
    }
}

static void put_table(struct pt_str *out, const struct pt_doc *doc)
{
    pt_str_add(out,
               "<div class=\"t\" role=\"region\" tabindex=\"0\" aria-label=\"Stages\"><table class=\"wide\"><caption>"
               "Stages</caption><thead><tr><th scope=\"col\">Stage</th><th scope=\"col\">Status</th>");
    for (pt_u32 i = 0; i < N_COLUMNS; i++)
        pt_str_printf(out, "<th scope=\"col\" class=\"%s\">%s</th>", i < N_COLUMNS - 1 ? "n" : "", column_labels[i]);
    pt_str_add(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < doc->stages.n && i < PT_HTML_MOST_ROWS; i++)
        put_stage_row(out, doc->stages.items[i]);
    pt_str_add(out, "</tbody></table></div>");
    if (doc->stages.n > PT_HTML_MOST_ROWS)
        pt_str_printf(out, "<p class=\"note\">… and %zu more</p>", doc->stages.n - PT_HTML_MOST_ROWS);
    pt_str_add(out, "<p class=\"note\">CPU: 100 % is one CPU. Share: of the duration of the run.</p>");
    put_reasons(out, doc);
}

void pt_html_overview(struct pt_str *out, const struct pt_doc *doc)
{
    if (!doc->stages.n)
        return;
    pt_str_add(out, "<section id=\"stages\"><h2>Where the time went</h2>");
    put_time(out, doc);
    put_table(out, doc);
    pt_str_add(out, "</section>\n");
}

/* ---- each of them ---- */

static void put_facts(struct pt_str *out, const struct pt_doc *doc, const struct pt_doc_stage *stage)
{
    pt_str_add(out, "<p class=\"facts\">");
    pt_html_badge(out, stage->status);
    if (pt_cell_text(stage->reason)) {
        pt_str_char(out, ' ');
        pt_html_text(out, pt_cell_text(stage->reason));
    }
    for (size_t i = 0; i < doc->findings.n; i++)
        if (doc->findings.items[i].stage == stage) {
            pt_str_char(out, ' ');
            pt_html_finding_number(out, &doc->findings.items[i], i < PT_DOC_MOST_FINDINGS_OF_A_PAGE);
        }
    pt_str_add(out, "</p>");
    if (stage->command)
        pt_html_element(out, "code", "cmd", stage->command);
}

static void put_stage_time(struct pt_str *out, const struct pt_doc_stage *stage)
{
    const double length_s = pt_cell_number(stage->time.length);
    if (!stage->time.n_parts || !(length_s > 0))
        return;
    pt_svg_bar(out, &stage->time, length_s);
    pt_html_legend(out, (const struct pt_bar *const[]){&stage->time}, 1);
}

/* What is worth it at once, then what is folded. */
static void put_section(struct pt_str *out, const struct pt_doc_stage *stage, enum pt_section section)
{
    bool has_heading = section == PT_SECTION_TIME;
    for (int open = 1; open >= 0; open--)
        for (size_t i = 0; i < stage->panels.n; i++) {
            const struct pt_panel *panel = stage->panels.items[i];
            if (panel->section != section || panel->is_open != (open == 1))
                continue;
            if (!has_heading)
                pt_str_printf(out, "<h3>%s</h3>", pt_section_labels[section]);
            has_heading = true;
            pt_html_fold(out, panel);
        }
}

static void put_stage(struct pt_str *out, const struct pt_doc *doc, const struct pt_doc_stage *stage)
{
    const bool is_open = stage->is_longest || doc->stages.n == 1;
    pt_str_printf(out, "<details class=\"stage%s\"%s><summary><h2>", is_open ? "" : " np",
                  is_open ? " open=\"open\"" : "");
    pt_html_text(out, stage->name);
    pt_str_add(out, " <span class=\"dim\">");
    pt_html_cell(out, stage->duration);
    if (stage->share_percent > 0)
        pt_str_printf(out, ", %s of the run", pt_svg_percent(stage->share_percent, 100).text);
    /* The anchor lies inside: a browser that jumps there opens the fold. */
    pt_str_printf(out, "</span></h2></summary><div id=\"stage-%u\">", stage->index);
    put_facts(out, doc, stage);
    put_stage_time(out, stage);
    for (enum pt_section section = 0; section < PT_SECTION__COUNT; section++)
        put_section(out, stage, section);
    pt_str_add(out, "</div></details>\n");
}

/* The details of one stage make a page or two, those of all a book. */
static void put_paper_note(struct pt_str *out, const struct pt_doc *doc)
{
    for (size_t i = 0; i < doc->stages.n && doc->stages.n > 1; i++)
        if (doc->stages.items[i]->is_longest) {
            pt_str_add(out, "<p class=\"note paper\">Details are those of ");
            pt_html_text(out, doc->stages.items[i]->name);
            pt_str_printf(out, ", which took longest. The page on a screen has those of %zu other %s, too.</p>\n",
                          doc->stages.n - 1, doc->stages.n == 2 ? "stage" : "stages");
        }
}

void pt_html_stages(struct pt_str *out, const struct pt_doc *doc)
{
    pt_str_add(out, "<section id=\"each\">");
    for (size_t i = 0; i < doc->stages.n && i < PT_HTML_MOST_ROWS; i++)
        put_stage(out, doc, doc->stages.items[i]);
    put_paper_note(out, doc);
    pt_str_add(out, "</section>\n");
}
