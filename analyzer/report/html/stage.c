/* SPDX-License-Identifier: MIT
 *
 * Owns: the stages on a page: where their time went, their summary, the charts over them. Threads: any. Never: computes
 * what the document does not say, but shares and sums of it.
 */
#include <math.h>

#include "report/svg/chart_axis.h"
#include "report/svg/svg.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "html.h"

enum { MOST_PARTS = 24 };

static struct pt_fmt duration(double seconds)
{
    return pt_fmt_duration((int64_t)llround(seconds * 1e9));
}

void pt_html_badge(struct pt_str *out, const char *status)
{
    static const char *const known[] = {"ok", "failed", "timeout", "skipped", "error", "warning", "info"};
    const char *class = "";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        class = strcmp(status, known[i]) ? class : known[i];
    pt_str_printf(out, "<span class=\"badge %s\">", class);
    pt_html_text(out, status);
    pt_str_add(out, "</span>");
}

/* ---- where the time went ---- */

static double longest(const struct pt_node *stages)
{
    double scale_s = 0;
    for (const struct pt_node *stage = stages->first; stage; stage = stage->next) {
        const double wall_s = pt_html_number(pt_node_child(stage, "time"), "wall_s");
        scale_s = wall_s > scale_s ? wall_s : scale_s;
    }
    return scale_s;
}

const struct pt_node *pt_html_longest_stage(const struct pt_node *stages)
{
    const struct pt_node *longest_one = NULL;
    double most_s = 0;
    for (const struct pt_node *stage = stages ? stages->first : NULL; stage; stage = stage->next) {
        const double duration_s = pt_html_number(stage, "duration_s");
        longest_one = duration_s > most_s ? stage : longest_one;
        most_s = duration_s > most_s ? duration_s : most_s;
    }
    return longest_one;
}

static void put_legend(struct pt_str *out, const struct pt_node *stages)
{
    double sums[MOST_PARTS] = {0}, total_s = 0;
    const char *labels[MOST_PARTS] = {0};
    for (const struct pt_node *stage = stages->first; stage; stage = stage->next) {
        const struct pt_node *time = pt_node_child(stage, "time");
        pt_u32 i = 0;
        for (const struct pt_node *part = time ? time->first : NULL; part && i < MOST_PARTS; part = part->next, i++) {
            labels[i] = part->label;
            sums[i] += pt_value_number(part->value);
        }
        total_s += time && time->first ? pt_value_number(time->first->value) : 0;
    }
    pt_str_add(out, "<ul class=\"legend\">");
    for (pt_u32 i = 1; i < MOST_PARTS; i++) {
        if (sums[i] <= 0 || !labels[i])
            continue;
        pt_str_add(out, "<li>");
        pt_svg_part_swatch(out, i);
        pt_html_text(out, labels[i]);
        pt_str_printf(out, " <b>%s</b> <span class=\"dim\">%s</span></li>", duration(sums[i]).text,
                      pt_svg_percent(sums[i], total_s).text);
    }
    pt_str_add(out, "</ul>");
}

static void put_thread(struct pt_str *out, const struct pt_node *thread, double scale_s)
{
    const char *process = pt_html_child_text(thread, "process"), *name = pt_html_child_text(thread, "thread");
    const struct pt_node *lived = pt_node_child(thread, "lived_s"), *tid = pt_node_child(thread, "tid");
    PT_AUTO(pt_str_fini) struct pt_str label = {0};
    pt_str_add(&label, process ? process : "");
    if (tid && tid->value.type != PT_VALUE_UNKNOWN)
        pt_str_printf(&label, " %s%s%.0f", name ? name : "", name ? " " : "", pt_value_number(tid->value));
    pt_str_add(out, "<div class=\"row\"><div class=\"name\">");
    pt_html_text(out, pt_str_text(&label));
    pt_str_add(out, "</div><div class=\"plot\">");
    pt_svg_parts_bar(out, pt_str_text(&label), lived, scale_s,
                     tid && tid->value.type == PT_VALUE_UNKNOWN ? "threads" : "thread");
    pt_str_add(out, "</div><div class=\"num\">");
    pt_html_value(out, lived);
    pt_str_add(out, "</div></div>\n");
}

/* All threads of a stage as bars of one scale; the sum of those that have none of their own would dwarf them. */
static void put_threads(struct pt_str *out, const struct pt_node *stage, bool on_paper)
{
    const struct pt_node *threads = pt_node_child(stage, "threads");
    double scale_s = 0;
    pt_u32 n = 0;
    if (!threads || !threads->first || !threads->first->next)
        return;
    for (const struct pt_node *thread = threads->first; thread; thread = thread->next, n++) {
        const double lived_s = pt_html_number(thread, "lived_s");
        const bool is_one = pt_node_child(thread, "tid")->value.type != PT_VALUE_UNKNOWN;
        scale_s = is_one && lived_s > scale_s ? lived_s : scale_s;
    }
    pt_str_add(out, on_paper ? "<details><summary>" : "<details class=\"np\"><summary>");
    pt_html_value(out, pt_node_child(stage, "stage"));
    pt_str_printf(out, ": each thread <span class=\"dim\">(%u)</span></summary><div class=\"bars cut\">", n);
    for (const struct pt_node *thread = threads->first; thread; thread = thread->next) {
        const double lived_s = pt_html_number(thread, "lived_s");
        put_thread(out, thread, lived_s > scale_s ? lived_s : scale_s);
    }
    pt_str_add(out, "</div>");
    if (n > PT_HTML_PAPER_BARS)
        pt_str_printf(out, "<p class=\"note paper\">The first %d of %u threads; the page on a screen has more.</p>",
                      PT_HTML_PAPER_BARS, n);
    pt_str_add(out, "</details>\n");
}

void pt_html_time(struct pt_str *out, const struct pt_node *stages, const struct pt_node *account)
{
    const double scale_s = longest(stages);
    pt_u32 n = 0;
    pt_str_add(out, "<p class=\"note\">Of the main thread of each stage. Bars have one scale; what nobody measured is "
                    "unattributed.</p>");
    put_legend(out, stages);
    pt_str_add(out, "<div class=\"bars\">");
    for (const struct pt_node *stage = stages->first; stage && n < PT_HTML_MOST_ROWS; stage = stage->next, n++) {
        const char *status = pt_html_child_text(stage, "status");
        pt_str_add(out, "<div class=\"row\"><div class=\"name\">");
        pt_html_value(out, pt_node_child(stage, "stage"));
        pt_str_add(out, "</div><div class=\"plot\">");
        if (status && !strcmp(status, "skipped"))
            pt_html_badge(out, status);
        else
            pt_svg_time_bar(out, stage, scale_s);
        pt_str_add(out, "</div><div class=\"num\">");
        pt_html_value(out, pt_node_child(stage, "duration_s"));
        pt_str_add(out, "</div></div>\n");
    }
    pt_str_add(out, "</div>");
    n = 0;
    for (const struct pt_node *stage = stages->first; stage && n < PT_HTML_MOST_ROWS; stage = stage->next, n++)
        put_threads(out, stage, stage == pt_html_longest_stage(stages));
    if (!account)
        return;
    pt_str_add(out, "<details><summary>The exact numbers</summary>");
    pt_html_table(out, account, account->label);
    pt_str_add(out, "</details>");
}

/* ---- the summary ---- */

static const struct {
    const char *key, *label;
} columns[] = {
    {"duration_s", "Duration"},       {"share", "Share"},
    {"cpu_percent_avg", "CPU mean"},  {"cpu_percent_max", "CPU peak"},
    {"rss_mb_max", "Peak memory"},    {"gpu_util_percent_avg", "GPU busy"},
    {"gpu_mem_mb_max", "GPU memory"}, {"mostly", "Mostly"},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static void put_mostly(struct pt_str *out, const struct pt_node *stage)
{
    const struct pt_node *time = pt_node_child(stage, "time"), *most = NULL;
    for (const struct pt_node *part = time && time->first ? time->first->next : NULL; part; part = part->next)
        if (part->label && pt_value_number(part->value) > (most ? pt_value_number(most->value) : 0))
            most = part;
    if (!most) {
        pt_html_value(out, NULL);
        return;
    }
    pt_html_text(out, most->label);
    pt_str_printf(out, " <span class=\"w\">%s</span>",
                  pt_svg_percent(pt_value_number(most->value), pt_value_number(time->first->value)).text);
}

/* Processes that outlived their stage. */
static void put_left(struct pt_str *out, const struct pt_node *stage)
{
    const struct pt_node *left = pt_node_child(stage, "left_running");
    for (const struct pt_node *one = left ? left->first : NULL; one; one = one->next) {
        pt_str_add(out, "<small>left running: ");
        pt_html_value(out, pt_node_child(one, "command"));
        pt_str_add(out, " (pid ");
        pt_html_value(out, pt_node_child(one, "pid"));
        pt_str_add(out, ")</small>");
    }
}

static void put_stage(struct pt_str *out, const struct pt_node *stage, double total_s)
{
    const char *status = pt_html_child_text(stage, "status"), *reason = pt_html_child_text(stage, "reason");
    pt_str_add(out, "<tr><th scope=\"row\" class=\"w\">");
    pt_html_value(out, pt_node_child(stage, "stage"));
    pt_str_add(out, "</th><td class=\"s\">");
    pt_html_badge(out, status ? status : "unknown");
    if (reason) {
        pt_str_add(out, "<small>");
        pt_html_text(out, reason);
        pt_str_add(out, "</small>");
    }
    put_left(out, stage);
    pt_str_add(out, "</td>");
    for (pt_u32 i = 0; i < N_COLUMNS; i++) {
        const bool is_mostly = !strcmp(columns[i].key, "mostly");
        pt_str_printf(out, "<td class=\"%s\">", is_mostly ? "" : "n");
        const double duration_s = pt_html_number(stage, "duration_s");
        if (is_mostly)
            put_mostly(out, stage);
        else if (strcmp(columns[i].key, "share"))
            pt_html_value(out, pt_node_child(stage, columns[i].key));
        else if (isfinite(duration_s))
            pt_str_add(out, pt_svg_percent(duration_s, total_s).text);
        else
            pt_html_value(out, pt_node_child(stage, "duration_s"));
        pt_str_add(out, "</td>");
    }
    pt_str_add(out, "</tr>\n");
}

/* Each reason for a dash once, so that paper and touch tell it, too. */
static void put_reasons(struct pt_str *out, const struct pt_node *stages)
{
    const char *told[N_COLUMNS] = {0};
    for (pt_u32 i = 0; i < N_COLUMNS; i++) {
        for (const struct pt_node *stage = stages->first; stage && !told[i]; stage = stage->next) {
            const struct pt_node *cell = pt_node_child(stage, columns[i].key);
            told[i] = cell && cell->value.type == PT_VALUE_UNKNOWN ? cell->value.reason : NULL;
        }
        bool is_new = told[i] != NULL;
        for (pt_u32 j = 0; j < i && is_new; j++)
            is_new = !told[j] || strcmp(told[i], told[j]);
        if (!is_new)
            continue;
        pt_str_add(out, "<p class=\"note\">– ");
        pt_html_text(out, columns[i].label);
        pt_str_add(out, ": ");
        pt_html_text(out, told[i]);
        pt_str_add(out, "</p>");
    }
}

static void put_commands(struct pt_str *out, const struct pt_node *stages)
{
    pt_str_add(out, "<details><summary>Commands</summary><dl class=\"kv\">");
    for (const struct pt_node *stage = stages->first; stage; stage = stage->next) {
        const struct pt_node *command = pt_node_child(stage, "command");
        PT_AUTO(pt_str_fini) struct pt_str line = {0};
        for (const struct pt_node *word = command ? command->first : NULL; word; word = word->next)
            if (word->value.type == PT_VALUE_TEXT)
                pt_str_printf(&line, "%s%s", line.n ? " " : "", word->value.text);
        if (!line.n)
            continue;
        pt_str_add(out, "<dt>");
        pt_html_value(out, pt_node_child(stage, "stage"));
        pt_str_add(out, "</dt><dd><code>");
        pt_html_text(out, pt_str_text(&line));
        pt_str_add(out, "</code></dd>");
    }
    pt_str_add(out, "</dl></details>");
}

void pt_html_stages(struct pt_str *out, const struct pt_node *stages, double total_s)
{
    pt_str_add(out,
               "<div class=\"t\" role=\"region\" tabindex=\"0\" aria-label=\"Stages\"><table class=\"wide\"><caption>"
               "Stages</caption><thead><tr>"
               "<th scope=\"col\">Stage</th><th scope=\"col\">Status</th>");
    for (pt_u32 i = 0; i < N_COLUMNS; i++)
        pt_str_printf(out, "<th scope=\"col\" class=\"%s\">%s</th>", strcmp(columns[i].key, "mostly") ? "n" : "",
                      columns[i].label);
    pt_str_add(out, "</tr></thead><tbody>\n");
    pt_u32 n = 0;
    for (const struct pt_node *stage = stages->first; stage; stage = stage->next)
        if (n++ < PT_HTML_MOST_ROWS)
            put_stage(out, stage, total_s);
    pt_str_add(out, "</tbody></table></div>");
    if (n > PT_HTML_MOST_ROWS)
        pt_str_printf(out, "<p class=\"note\">… and %u more</p>", n - PT_HTML_MOST_ROWS);
    pt_str_add(out, "<p class=\"note\">CPU: 100 % is one CPU. Share: of the duration of the run.</p>");
    put_reasons(out, stages);
    put_commands(out, stages);
}

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

void pt_html_charts(struct pt_str *out, const struct pt_node *root)
{
    pt_str_add(out, "<p class=\"note\">Over the whole run; shaded by stage. Where no sample was taken, the line has a "
                    "gap. The dot is the peak.</p><div class=\"figures\">");
    for (const struct pt_node *node = root->first; node; node = node->next) {
        if (node->kind != PT_NODE_CHART)
            continue;
        pt_str_add(out, "<figure><figcaption><b>");
        pt_html_text(out, node->chart->title);
        pt_str_add(out, "</b><br/>");
        for (pt_u32 i = 0; i < node->chart->n_series; i++)
            put_series(out, node->chart, i);
        pt_str_add(out, "</figcaption>");
        pt_svg_chart(out, node->chart);
        pt_str_add(out, "</figure>\n");
    }
    pt_str_add(out, "</div>");
}
