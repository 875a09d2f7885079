/* SPDX-License-Identifier: MIT
 *
 * Owns: what fits on one screen, 100 columns or 80, and in which order. Threads: any. Never: says that there is nothing
 * to say; grows with the run.
 */
#include "brief.h"

#include <math.h>

#include "model/window.h"
#include "report/doc/show.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/shell_word.h"
#include "util/text/width.h"
#include "util/whole.h"
#include "bar.h"
#include "cut.h"
#include "stages.h"
#include "training.h"

/* Of the run: less is lost in what two runs differ by. */
#define SMALL_PERCENT 2.0
#define LEAST_CUPTI_SHARE 0.02

enum { MOST_FINDINGS = 5, MOST_OBSERVATIONS = 3, LEAST_OBSERVATIONS = 1, NARROWEST_FACT = 20, BAR = 14, MARGIN = 2 };

static void put_bold(const struct pt_text_out *t, const char *text)
{
    pt_str_add(t->out, t->options->color ? "\033[1m" : "");
    pt_text_put(t, text);
    pt_str_add(t->out, t->options->color ? "\033[0m" : "");
}

/* ---- the verdict ---- */

static void put_verdict(const struct pt_text_out *t, const struct pt_doc *doc)
{
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    pt_text_clean(&clean, doc->verdict);
    pt_text_wrapped(t, pt_str_text(&clean), 0);
    pt_str_char(t->out, '\n');
}

/* ---- one program ---- */

static void put_part(const struct pt_text_out *t, const struct pt_bar *bar, const struct pt_bar_part *part)
{
    const double length_s = pt_cell_number(bar->length);
    const pt_u32 cells = (pt_u32)lround(part->seconds / length_s * 2 * BAR);
    pt_text_spaces(t, MARGIN);
    pt_text_cut(t, part->label, 16, false);
    pt_text_cut_cell(t, pt_cell(PT_SHOW_SECONDS, pt_real(part->seconds)), 9);
    pt_text_cut_share(t, 100 * part->seconds / length_s, 7);
    pt_text_spaces(t, 2);
    for (pt_u32 i = 0; t->options->is_terminal && i < cells; i++)
        pt_str_add(t->out, t->options->utf8 ? "■" : "#");
    pt_text_end_line(t);
}

static pt_u32 width_of_last_line(const struct pt_str *out)
{
    const char *end = out->n ? memrchr(out->text, '\n', out->n) : NULL;
    return pt_text_width(end ? end + 1 : pt_str_text(out));
}

/* Side by side, as many as fit into the line. */
static void put_fact(const struct pt_text_out *t, const char *label, struct pt_cell cell)
{
    if (cell.value.type == PT_VALUE_UNKNOWN)
        return;
    PT_AUTO(pt_str_fini) struct pt_str raw = {0};
    PT_AUTO(pt_str_fini) struct pt_str value = {0};
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    pt_str_printf(&raw, "%s ", label);
    pt_show_value(&value, cell, PT_STYLE_TERMINAL);
    const pt_u32 used = MARGIN + pt_text_width(pt_str_text(&raw));
    pt_text_shorten(&raw, pt_str_text(&value),
                    pt_text_line_width(t) > used + NARROWEST_FACT ? pt_text_line_width(t) - used : NARROWEST_FACT,
                    "...");
    pt_text_clean(&clean, pt_str_text(&raw)); /* a quality metric's key is the user's */
    const pt_u32 so_far = width_of_last_line(t->out);
    if (so_far && so_far + MARGIN + pt_text_width(pt_str_text(&clean)) > pt_text_line_width(t))
        pt_str_char(t->out, '\n');
    pt_text_spaces(t, MARGIN);
    pt_text_put(t, pt_str_text(&clean));
}

static void put_program(const struct pt_text_out *t, const struct pt_doc_stage *stage)
{
    enum { MOST_PARTS = 6 };
    const double length_s = pt_cell_number(stage->time.length);
    pt_u32 ranked[64];
    if (stage->time.n_parts && stage->time.n_parts <= 64 && length_s > 0) {
        pt_str_char(t->out, '\n');
        pt_text_rank_parts(&stage->time, ranked);
        for (pt_u32 i = 0; i < stage->time.n_parts && i < MOST_PARTS; i++)
            if (!i || stage->time.parts[ranked[i]].seconds >= length_s / 100)
                put_part(t, &stage->time, &stage->time.parts[ranked[i]]);
    }
    const size_t before = t->out->n;
    put_fact(t, "CPU", stage->cpu_avg);
    put_fact(t, "peak memory", stage->rss_max);
    /* The sum over processes has what they share once for each. */
    if (pt_cell_number(stage->processes_max) > 1)
        put_fact(t, "shared pages counted once", stage->pss_max);
    put_fact(t, stage->gpu_util_is_sampled ? "GPU of all processes" : "GPU", stage->gpu_util);
    if (t->out->n != before)
        pt_str_char(t->out, '\n');
}

/* ---- the quality that was reached ---- */

static void put_grades(const struct pt_text_out *t, const struct pt_doc *doc)
{
    bool is_first = true;
    for (size_t i = 0; i < doc->grades.n; i++) {
        const struct pt_line *line = &doc->grades.items[i];
        if (line->cell.value.type == PT_VALUE_UNKNOWN)
            continue;
        pt_str_add(t->out, is_first ? "\n" : "");
        put_fact(t, line->label, line->cell);
        is_first = false;
    }
    if (!is_first)
        pt_str_char(t->out, '\n');
    for (size_t i = 0; i < doc->broken_floors.n; i++) {
        const struct pt_doc_floor *floor = &doc->broken_floors.items[i];
        pt_str_printf(t->out, "  below its floor of %g: ", floor->min);
        pt_text_value(t, pt_cell(PT_SHOW_TEXT, pt_text(floor->label)));
        pt_str_add(t->out, " ");
        pt_text_value(t, floor->value);
        pt_str_char(t->out, '\n');
    }
}

/* ---- what to fix ---- */

/* A command that shows more of what this report shows: of this run, stage and window. */
static void add_command(const struct pt_text_out *t, struct pt_str *out, const char *what, const char *option)
{
    const struct pt_render_options *of = t->options;
    PT_AUTO(pt_str_fini) struct pt_str command = {0};
    pt_str_printf(&command, "proftrace %s", what);
    if (of->run_argument) {
        pt_str_char(&command, ' ');
        pt_shell_word(&command, of->run_argument);
    }
    if (of->stage) {
        pt_str_add(&command, " --stage ");
        pt_shell_word(&command, of->stage);
    }
    if (of->since_ns)
        pt_str_printf(&command, " --since %.9gs", (double)of->since_ns / 1e9);
    pt_str_printf(&command, " %s", option);
    pt_text_clean(out, pt_str_text(&command));
}

static void put_headline(const struct pt_text_out *t, const struct pt_doc *doc, const struct pt_doc_finding *finding)
{
    const struct pt_finding *of = finding->of;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    if (pt_finding_has_time(of))
        pt_str_printf(&text, "%s (%.0f %%%s)  ", pt_fmt_duration((pt_i64)llround(of->time_s * 1e9)).text,
                      of->time_percent, pt_doc_whole(doc));
    if (of->gain_upper_s > 0)
        pt_str_printf(&text, "up to %s (%.0f %%%s)  ", pt_fmt_duration((pt_i64)llround(of->gain_upper_s * 1e9)).text,
                      of->gain_upper_percent, pt_doc_whole(doc));
    if (finding->stage && doc->stages.n > 1)
        pt_str_printf(&text, "%s: ", finding->stage->name);
    pt_str_add(&text, of->title);
    pt_text_clean(&clean, pt_str_text(&text));
    pt_str_printf(t->out, "  %u  ", finding->number);
    pt_text_wrapped(t, pt_str_text(&clean), 5);
    pt_str_char(t->out, '\n');
}

/* Of a place what its share is of comes last: it has two lines. */
static void put_detail(const struct pt_text_out *t, const char *label, const char *text, pt_u32 most_lines)
{
    enum { INDENT = 12 };
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    PT_AUTO(pt_str_fini) struct pt_str cut = {0};
    if (!text)
        return;
    pt_text_clean(&clean, text);
    pt_str_printf(t->out, "     %-7s", label);
    const pt_u32 room = pt_text_line_width(t) > INDENT + 20 ? pt_text_line_width(t) - INDENT : 80;
    pt_text_shorten(&cut, pt_str_text(&clean), most_lines * room, "...");
    pt_text_fitted(t, pt_str_text(&cut), INDENT);
    pt_text_end_line(t);
}

static void put_one(const struct pt_text_out *t, const struct pt_doc *doc, const struct pt_doc_finding *finding)
{
    put_headline(t, doc, finding);
    put_detail(t, "where", finding->where, 2);
    put_detail(t, "do", finding->of->remedy, 5);
}

/* Below findings a word is enough: they say what to do. */
static void put_observations(const struct pt_text_out *t, const struct pt_doc *doc)
{
    const size_t room = doc->findings.n ? LEAST_OBSERVATIONS : MOST_OBSERVATIONS;
    const size_t n = doc->observations.n < room ? doc->observations.n : room;
    pt_str_char(t->out, '\n');
    if (!doc->findings.n && !n)
        pt_text_wrapped(t, PT_DOC_NO_PROBLEM, 0);
    if (!doc->findings.n && n)
        pt_text_wrapped(t, PT_DOC_NO_KNOWN_PROBLEM ". Most of the time:", 0);
    if (doc->findings.n && n)
        pt_text_wrapped(t, "Other large parts of the time, no known problem:", 0);
    pt_str_add(t->out, !doc->findings.n || n ? "\n" : "");
    for (size_t i = 0; i < n; i++)
        put_one(t, doc, &doc->observations.items[i]);
}

/* Nobody begins with it, unless there is nothing else. What is about no seconds is never small. */
static bool is_small(const struct pt_doc *doc, size_t i)
{
    const struct pt_finding *of = doc->findings.items[i].of;
    return i > 0 && of->gain_upper_s > 0 && of->gain_upper_percent < SMALL_PERCENT;
}

static void put_findings(const struct pt_text_out *t, const struct pt_doc *doc)
{
    size_t n_shown = 0;
    if (doc->findings.n) {
        pt_str_char(t->out, '\n');
        put_bold(t, "Fix first");
        pt_str_add(t->out, doc->findings.n > 1 ? "  (what they could save may overlap)\n" : "\n");
    }
    for (size_t i = 0; i < doc->findings.n && n_shown < MOST_FINDINGS; i++) {
        if (is_small(doc, i))
            continue;
        put_one(t, doc, &doc->findings.items[i]);
        n_shown++;
    }
    if (doc->findings.n > n_shown) {
        PT_AUTO(pt_str_fini) struct pt_str command = {0};
        add_command(t, &command, "report", "--full");
        pt_str_printf(t->out, "  ... and %zu more: ", doc->findings.n - n_shown);
        pt_text_put(t, pt_str_text(&command));
        pt_str_char(t->out, '\n');
    }
    if (!n_shown || (doc->observations.n && n_shown < MOST_FINDINGS))
        put_observations(t, doc);
}

/* ---- what is missing, and what to type next ---- */

static void add_lost(struct pt_str *text, const struct pt_doc *doc)
{
    const bool is_one = doc->lost_events == 1;
    pt_str_printf(text, ", %s event%s%s %s lost", pt_fmt_count(pt_whole(doc->lost_events)).text, is_one ? "" : "s",
                  pt_session_is_window(doc->profile->session) ? " of the run" : "", is_one ? "was" : "were");
}

static void put_quality(const struct pt_text_out *t, const struct pt_doc *doc)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (doc->is_cut)
        pt_str_add(&text, ", trace files are cut short");
    if (doc->lost_files > 0)
        pt_str_add(&text, ", trace files are missing or damaged");
    if (doc->lost_events > 0)
        add_lost(&text, doc);
    if (doc->untraced > 0)
        pt_str_printf(&text, ", %s %s not traced", pt_fmt_count(pt_whole(doc->untraced)).text,
                      doc->untraced > 1 ? "programs were" : "program was");
    const pt_u32 n_ignored = doc->profile->session->n_ignored_options;
    if (n_ignored)
        pt_str_printf(&text, ", %u PROFTRACE_ variable%s had no effect", n_ignored, n_ignored > 1 ? "s" : "");
    const char *why = doc->profile->session->why_no_run;
    PT_AUTO(pt_str_fini) struct pt_str said = {0};
    if (doc->cupti_s >= LEAST_CUPTI_SHARE * doc->duration_s)
        pt_str_printf(&said, "Recording the GPU took %s of this (PROFTRACE_CUPTI=off leaves it out). ",
                      pt_fmt_duration((pt_i64)llround(doc->cupti_s * 1e9)).text);
    if (text.n)
        pt_str_printf(&said, "Not everything is here: %s (proftrace info).", pt_str_text(&text) + 2);
    else if (!doc->profile->run && !doc->is_empty)
        pt_str_printf(&said, "CPU time by function, waits by stack and resources over time: %s.",
                      why ? why : "start it with proftrace run");
    if (!said.n)
        return;
    pt_str_char(t->out, '\n');
    pt_text_wrapped(t, pt_str_text(&said), 0);
    pt_str_char(t->out, '\n');
}

static void put_command(const struct pt_text_out *t, const char *what, const char *option, const char *gives)
{
    enum { INDENT = 7, COMMAND = 34 };
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    add_command(t, &clean, what, option);
    pt_text_put(t, pt_str_text(&clean));
    const pt_u32 width = pt_text_width(pt_str_text(&clean)), gap = width < COMMAND ? COMMAND - width : 2;
    /* A command is there to be copied: it is never cut. */
    if (INDENT + width + gap + pt_text_width(gives) <= pt_text_line_width(t)) {
        pt_text_spaces(t, gap);
        pt_str_add(t->out, gives);
    }
    pt_str_char(t->out, '\n');
}

static void put_next(const struct pt_text_out *t, const struct pt_doc *doc)
{
    if (doc->is_empty)
        return;
    pt_str_add(t->out, "\nNext   ");
    if (doc->findings.n || doc->observations.n)
        put_command(t, "report", "--finding 1", "its evidence, and stacks");
    else
        put_command(t, "report", "--full", "all tables");
    pt_str_add(t->out, "       ");
    put_command(t, "export", "--to perfetto", "timeline for ui.perfetto.dev");
    if (!t->options->page)
        return;
    PT_AUTO(pt_str_fini) struct pt_str page = {0};
    pt_text_clean(&page, t->options->page);
    pt_str_add(t->out, "Page   ");
    pt_text_put(t, pt_str_text(&page));
    pt_str_char(t->out, '\n');
}

void pt_text_brief(const struct pt_text_out *t, const struct pt_doc *doc)
{
    put_verdict(t, doc);
    if (doc->stages.n > 1)
        pt_text_stages(t, doc);
    else if (doc->stages.n)
        put_program(t, doc->stages.items[0]);
    pt_text_training(t, doc);
    put_grades(t, doc);
    put_findings(t, doc);
    put_quality(t, doc);
    put_next(t, doc);
}
