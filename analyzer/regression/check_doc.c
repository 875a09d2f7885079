/* SPDX-License-Identifier: MIT
 *
 * Owns: the tables and the verdict of a check, for people and as JSON. Threads: any.
 */
#include "check_doc.h"

#include <math.h>
#include <stdlib.h>

#include "util/json/json_writer.h"
#include "util/auto.h"
#include "util/mem.h"
#include "show_figure.h"

static const struct {
    const char *for_people, *in_json;
} states[] = {
    [PT_FIGURE_SAME] = {"same", "same"},
    [PT_FIGURE_BETTER] = {"better", "better"},
    [PT_FIGURE_WORSE] = {"WORSE", "worse"},
    [PT_FIGURE_NOT_JUDGED] = {"not judged", "not_judged"},
};
/* What needs a look comes first. */
static const enum pt_figure_state order[] = {PT_FIGURE_WORSE, PT_FIGURE_BETTER, PT_FIGURE_NOT_JUDGED, PT_FIGURE_SAME};
enum { N_STATES = sizeof order / sizeof *order };

const char *pt_figure_state_word(enum pt_figure_state state)
{
    return states[state].for_people;
}

/* In percent of the median before; NAN = there was none. */
static double more_percent(const struct pt_judged *figure)
{
    const double a = pt_median(figure->a, figure->n_a), b = pt_median(figure->b, figure->n_b);
    return a > 0 ? 100 * (b - a) / a : NAN;
}

/* ---- for people ---- */

static struct pt_value median(struct pt_doc *doc, enum pt_figure_kind kind, const double *values, size_t n)
{
    return n ? pt_show_figure(doc, kind, pt_median(values, n)) : pt_unknown("not known");
}

struct row {
    const char *verdict, *figure, *how;
    struct pt_value before, now, more;
};

static void add_rows(struct pt_doc *doc, struct pt_table *table, const struct pt_judged_figures *figures,
                     enum pt_figure_state state)
{
    for (size_t i = 0; i < figures->n; i++) {
        const struct pt_judged *figure = &figures->items[i];
        const double more = more_percent(figure);
        if (figure->state == state)
            pt_table_add(table, &(struct row){states[state].for_people, figure->name, figure->how,
                                              median(doc, figure->kind, figure->a, figure->n_a),
                                              median(doc, figure->kind, figure->b, figure->n_b),
                                              isfinite(more) ? pt_real(more) : pt_unknown("there was none before")});
    }
}

static void add_text(struct pt_doc *doc, struct pt_doc_stage *stage, const char *key, const char *title,
                     const char *text)
{
    if (!text)
        return;
    struct pt_panel *panel = pt_doc_panel(doc, PT_PANEL_TEXTS, key, title);
    panel->texts = pt_arena_alloc(&doc->arena, sizeof *panel->texts);
    panel->texts[panel->n_texts++] = text;
    pt_vec_push(&stage->panels, panel);
}

static void add_stage(struct pt_doc *doc, const struct pt_checked_stage *of)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct row, verdict, TEXT, "Verdict"),
        PT_COLUMN(struct row, figure, TEXT, "Figure"),
        PT_COLUMN(struct row, before, TEXT, "Baseline"),
        PT_COLUMN(struct row, now, TEXT, "Run"),
        PT_COLUMN_AT(struct row, more, "more_percent", PERCENT, "More"),
        PT_COLUMN(struct row, how, TEXT, "How sure"),
    };
    struct pt_doc_stage *stage = pt_arena_alloc(&doc->arena, sizeof *stage);
    *stage = (struct pt_doc_stage){.index = (pt_u32)doc->stages.n, .name = of->name};
    add_text(doc, stage, "undecided", "Cannot be told", of->reason);
    add_text(doc, stage, "left_out", "Left out", of->note);
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(doc, "figures", "Figures", columns, sizeof columns / sizeof *columns, &table);
    for (int i = 0; i < N_STATES; i++)
        add_rows(doc, table, &of->figures, order[i]);
    panel->most = table->n_rows;
    if (table->n_rows)
        pt_vec_push(&stage->panels, panel);
    pt_vec_push(&doc->stages, stage);
}

static const char *ok_of(struct pt_doc *doc, const struct pt_checked *checked)
{
    size_t n = 0, not_judged = 0;
    for (size_t i = 0; i < checked->stages.n; i++) {
        const struct pt_judged_figures *figures = &checked->stages.items[i].figures;
        for (size_t j = 0; j < figures->n; j++)
            not_judged += figures->items[j].state == PT_FIGURE_NOT_JUDGED;
        n += figures->n;
    }
    if (!not_judged)
        return "ok: no figure is worse than in the baseline";
    return pt_doc_format(doc, "ok: none of the %zu figures that could be judged is worse; %zu %s not judged",
                         n - not_judged, not_judged, not_judged == 1 ? "was" : "were");
}

void pt_check_doc(struct pt_checked *checked)
{
    struct pt_doc *doc = checked->doc;
    doc->title = "check";
    for (size_t i = 0; i < checked->stages.n; i++)
        add_stage(doc, &checked->stages.items[i]);
    if (checked->worse.n)
        doc->verdict = pt_doc_format(doc, "regression: %zu figure%s worse. %s", checked->worse.n,
                                     checked->worse.n == 1 ? " is" : "s are", checked->worse.items[0]);
    else if (checked->undecided.n)
        doc->verdict = pt_doc_format(doc, "undecided: %s", checked->undecided.items[0]);
    else
        doc->verdict = ok_of(doc, checked);
}

/* ---- for programs ---- */

static int append(void *context, const char *bytes, size_t n)
{
    pt_str_bytes(context, bytes, n);
    return 0;
}

static void put_number(struct pt_json *json, const char *of, enum pt_figure_kind kind, double value)
{
    PT_AUTO(pt_str_fini) struct pt_str key = {0};
    pt_str_printf(&key, "%s_%s", of, pt_figure_unit(kind));
    pt_json_f64(json, pt_str_text(&key), value);
}

static void put_figure(struct pt_json *json, const struct pt_judged *figure)
{
    pt_json_object(json, NULL);
    pt_json_text(json, "figure", figure->name);
    pt_json_text(json, "verdict", states[figure->state].in_json);
    put_number(json, "baseline", figure->kind, pt_median(figure->a, figure->n_a));
    put_number(json, "run", figure->kind, pt_median(figure->b, figure->n_b));
    pt_json_f64(json, "more_percent", more_percent(figure));
    pt_json_u64(json, "baseline_runs", figure->n_a);
    pt_json_u64(json, "runs", figure->n_b);
    if (pt_figure_is_time(figure->kind))
        pt_json_f64(json, "p", pt_judged_p(figure));
    pt_json_text(json, "how", figure->how);
    pt_json_end(json);
}

static void put_stage(struct pt_json *json, const struct pt_checked_stage *stage)
{
    pt_json_object(json, NULL);
    pt_json_text(json, "stage", stage->name);
    pt_json_text(json, "undecided", stage->reason);
    pt_json_text(json, "left_out", stage->note);
    pt_json_array(json, "figures");
    for (int i = 0; i < N_STATES; i++)
        for (size_t j = 0; j < stage->figures.n; j++)
            if (stage->figures.items[j].state == order[i])
                put_figure(json, &stage->figures.items[j]);
    pt_json_end(json);
    pt_json_end(json);
}

static void put_texts(struct pt_json *json, const char *key, const char *const *texts, size_t n)
{
    pt_json_array(json, key);
    for (size_t i = 0; i < n; i++)
        pt_json_text(json, NULL, texts[i]);
    pt_json_end(json);
}

void pt_check_json(const struct pt_checked *checked, struct pt_str *out)
{
    struct pt_json *json = pt_malloc(sizeof *json);
    pt_json_init(json, append, out, true);
    pt_json_object(json, NULL);
    pt_json_text(json, "schema_version", "1.0");
    pt_json_text(json, "verdict",
                 checked->result == PT_CHECK_WORSE       ? "worse"
                 : checked->result == PT_CHECK_UNDECIDED ? "undecided"
                                                         : "ok");
    pt_json_u64(json, "exit_code", checked->result);
    pt_json_text(json, "summary", checked->doc->verdict);
    put_texts(json, "worse", checked->worse.items, checked->worse.n);
    put_texts(json, "undecided", checked->undecided.items, checked->undecided.n);
    put_texts(json, "notes", checked->doc->notes, checked->doc->n_notes);
    pt_json_array(json, "stages");
    for (size_t i = 0; i < checked->stages.n; i++)
        put_stage(json, &checked->stages.items[i]);
    pt_json_end(json);
    pt_json_end(json);
    pt_json_close(json);
    free(json);
    pt_str_char(out, '\n');
}
