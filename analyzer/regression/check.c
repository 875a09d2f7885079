/* SPDX-License-Identifier: MIT
 *
 * Owns: when a figure is worse, and when nobody can tell. Threads: one. Never: compares what differs for another
 * reason.
 *
 * A count that was the same in all runs of the baseline is worse above 2 %. One that varied is worse beyond its largest
 * value by twice as much as it varied and 10 %; where it varied by more than 1 %, it needs four runs to be judged at
 * all: of fewer, the next often lies outside. Of a single run nobody knows whether it varies: 10 %. Times need four
 * runs on both sides, and 0.1 s; how much longer the median has to be depends on how sure a rank test is: see
 * judge_time.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_document.h"
#include "util/auto.h"
#include "baseline.h"
#include "figures.h"
#include "show_figure.h"
#include "statistics.h"

enum { LEAST_RUNS = 4, MANY_RUNS = 10 };
#define ALPHA 0.05      /* of all times of a check together */
#define ALPHA_EACH 0.01 /* of one */

enum state { SAME, BETTER, WORSE, NOT_JUDGED };

struct figure {
    const char *name;
    enum pt_figure_kind kind;
    double a[PT_SAMPLE_MOST], b[PT_SAMPLE_MOST];
    size_t n_a, n_b;
    double p, p_together; /* of a time, by itself and among all that are tested; NAN = not tested */
    enum state state;
    const char *how; /* "stable in 5 of 5 runs" */
};

struct figures {
    PT_VEC(struct figure);
};

static double least(const double *values, size_t n)
{
    double found = INFINITY;
    for (size_t i = 0; i < n; i++)
        found = fmin(found, values[i]);
    return found;
}

static double most(const double *values, size_t n)
{
    double found = -INFINITY;
    for (size_t i = 0; i < n; i++)
        found = fmax(found, values[i]);
    return found;
}

/* ---- judgement ---- */

/* Below it nobody would notice: a call takes microseconds, a process that is started milliseconds. */
static double floor_of(const struct figure *figure)
{
    if (figure->kind == PT_FIGURE_COUNT)
        return strcmp(figure->name, "processes") ? 10 : 2;
    if (figure->kind == PT_FIGURE_BENCHMARK)
        return 0; /* it was measured as often as its tool thought fit */
    return figure->kind == PT_FIGURE_BYTES ? 65536 : 0.1;
}

static void judge_count(struct pt_doc *doc, struct figure *figure)
{
    const double low = least(figure->a, figure->n_a), high = most(figure->a, figure->n_a);
    const double b = least(figure->b, figure->n_b), best = most(figure->b, figure->n_b);
    const bool varies = high > low;
    const double room = !varies ? (figure->n_a > 1 ? 0.02 : 0.10) * high : fmax(0.10 * high, 2 * (high - low));
    figure->how = figure->n_a == 1 ? "one run"
                  : !varies        ? pt_doc_format(doc, "stable in %zu of %zu runs", figure->n_a, figure->n_a)
                                   : pt_doc_format(doc, "varies in %zu runs", figure->n_a);
    if (high - low > 0.01 * high && figure->n_a < LEAST_RUNS)
        figure->state = NOT_JUDGED;
    else if (b > high + room && b - high >= floor_of(figure))
        figure->state = WORSE;
    else if (best < low - room && low - best >= floor_of(figure))
        figure->state = BETTER;
}

/* The probability that it got so much longer by chance. */
static void test_time(struct figure *figure)
{
    if (figure->n_a >= LEAST_RUNS && figure->n_b >= LEAST_RUNS)
        figure->p = pt_mann_whitney(figure->a, figure->n_a, figure->b, figure->n_b);
}

/* 10 % that is no chance in nineteen of twenty checks; or less, down to what so many runs can tell from noise, that is
 * none in ninety-nine of a hundred either: of 10 % more, half of all draws have a median that is less than 10 % above.
 */
static void judge_time(struct pt_doc *doc, struct figure *figure)
{
    const double a = pt_median(figure->a, figure->n_a), b = pt_median(figure->b, figure->n_b);
    const bool are_many = figure->n_a >= MANY_RUNS && figure->n_b >= MANY_RUNS;
    if (isnan(figure->p)) {
        figure->state = NOT_JUDGED;
        figure->how = pt_doc_format(doc, "needs %d runs on both sides", LEAST_RUNS);
        return;
    }
    const double effect = figure->p > ALPHA_EACH ? 0.10 : are_many ? 0.025 : 0.05;
    figure->how = pt_doc_format(doc, "p = %.3f", figure->p_together);
    if (b - a >= effect * a && b - a >= floor_of(figure) && figure->p_together <= ALPHA)
        figure->state = WORSE;
}

static void judge(struct pt_doc *doc, struct figures *figures, bool with_times)
{
    PT_AUTO(pt_freep) double *p = calloc(figures->n + 1, sizeof *p);
    size_t n = 0;
    for (size_t i = 0; p && i < figures->n; i++)
        if (with_times && pt_figure_is_time(figures->items[i].kind)) {
            test_time(&figures->items[i]);
            if (!isnan(figures->items[i].p))
                p[n++] = figures->items[i].p;
        }
    pt_holm(p, n);
    n = 0;
    for (size_t i = 0; i < figures->n; i++) {
        struct figure *figure = &figures->items[i];
        if (!pt_figure_is_time(figure->kind)) {
            judge_count(doc, figure);
            continue;
        }
        if (!isnan(figure->p))
            figure->p_together = p[n++];
        judge_time(doc, figure);
    }
}

/* ---- collecting ---- */

/* What a run does not have, it has done no times. */
static double value_in(const cJSON *entry, const char *name)
{
    const double value = pt_member_number(cJSON_GetObjectItemCaseSensitive(entry, "figures"), name);
    return isfinite(value) ? value : 0;
}

static void add_name(struct figures *figures, const char *name, bool with_times)
{
    const enum pt_figure_kind kind = pt_figure_kind_of(name);
    for (size_t i = 0; i < figures->n; i++)
        if (!strcmp(figures->items[i].name, name))
            return;
    if (!pt_figure_is_time(kind) || with_times)
        pt_vec_push(figures, ((struct figure){.name = name, .kind = kind, .p = NAN, .p_together = NAN}));
}

static void collect(struct figures *figures, const cJSON *runs, cJSON *const *entries, size_t n, bool with_times)
{
    const cJSON *run, *figure;
    for (size_t i = 0; i < n; i++)
        cJSON_ArrayForEach(figure, cJSON_GetObjectItemCaseSensitive(entries[i], "figures"))
        {
            add_name(figures, figure->string, with_times);
        }
    cJSON_ArrayForEach(figure, cJSON_GetObjectItemCaseSensitive(runs->child, "figures"))
    {
        add_name(figures, figure->string, with_times);
    }
    for (size_t i = 0; i < figures->n; i++) {
        struct figure *of = &figures->items[i];
        cJSON_ArrayForEach(run, runs)
        {
            if (of->n_a < PT_SAMPLE_MOST)
                of->a[of->n_a++] = value_in(run, of->name);
        }
        for (size_t j = 0; j < n && of->n_b < PT_SAMPLE_MOST; j++)
            of->b[of->n_b++] = value_in(entries[j], of->name);
    }
}

/* ---- what makes runs incomparable ---- */

static const char *text_or(const cJSON *entry, const char *key, const char *other)
{
    const char *text = pt_member_text(entry, key);
    return text ? text : other;
}

/* NULL = they can be compared. */
static const char *why_not(struct pt_doc *doc, const cJSON *run, const cJSON *entry, bool with_times)
{
    static const char *const same[][2] = {
        {"tool", "version of proftrace"}, {"dataset", "dataset"}, {"host", "machine"}};
    for (size_t i = 0; i < 2 + (size_t)with_times; i++) {
        const char *a = text_or(run, same[i][0], "none"), *b = text_or(entry, same[i][0], "none");
        if (strcmp(a, b) != 0)
            return pt_doc_format(doc, "another %s: the baseline has %s, the run %s", same[i][1], a, b);
    }
    const double a = pt_member_number(run, "cpus"), b = pt_member_number(entry, "cpus");
    return isfinite(a) && isfinite(b) && a != b
               ? pt_doc_format(doc, "another machine: the baseline has %.0f CPUs, the run %.0f", a, b)
               : NULL;
}

/* ---- the document ---- */

struct row {
    const char *verdict, *figure, *how;
    struct pt_value before, now, more;
};

static void add_rows(struct pt_doc *doc, struct pt_table *table, const struct figures *figures, enum state state)
{
    static const char *const names[] = {
        [SAME] = "same", [BETTER] = "better", [WORSE] = "WORSE", [NOT_JUDGED] = "not judged"};
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *figure = &figures->items[i];
        const double a = pt_median(figure->a, figure->n_a), b = pt_median(figure->b, figure->n_b);
        if (figure->state == state)
            pt_table_add(table,
                         &(struct row){names[state], pt_doc_text(doc, figure->name), figure->how,
                                       pt_show_figure(doc, figure->kind, a), pt_show_figure(doc, figure->kind, b),
                                       a > 0 ? pt_real(100 * (b - a) / a) : pt_unknown("there was none before")});
    }
}

struct outcome {
    size_t worse, undecided;
    const char *first; /* the first thing that is worse, or cannot be told */
};

static void add_stage(struct pt_doc *doc, const char *name, const struct figures *figures, const char *reason)
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
    *stage = (struct pt_doc_stage){.index = (pt_u32)doc->stages.n, .name = pt_doc_text(doc, name)};
    if (reason) {
        struct pt_panel *panel = pt_doc_panel(doc, PT_PANEL_TEXTS, "undecided", "Cannot be told");
        panel->texts = pt_arena_alloc(&doc->arena, sizeof *panel->texts);
        panel->texts[panel->n_texts++] = reason;
        pt_vec_push(&stage->panels, panel);
    }
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(doc, "figures", "Figures", columns, sizeof columns / sizeof *columns, &table);
    const enum state order[] = {WORSE, BETTER, NOT_JUDGED, SAME};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        add_rows(doc, table, figures, order[i]);
    panel->most = table->n_rows;
    if (table->n_rows)
        pt_vec_push(&stage->panels, panel);
    pt_vec_push(&doc->stages, stage);
}

static void count(struct pt_doc *doc, const char *stage, const struct figures *figures, struct outcome *outcome)
{
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *figure = &figures->items[i];
        if (figure->state == NOT_JUDGED && pt_figure_is_time(figure->kind)) {
            outcome->undecided++;
            continue;
        }
        if (figure->state != WORSE)
            continue;
        if (!outcome->worse++) {
            const struct pt_value a = pt_show_figure(doc, figure->kind, pt_median(figure->a, figure->n_a));
            const struct pt_value b = pt_show_figure(doc, figure->kind, pt_median(figure->b, figure->n_b));
            outcome->first =
                pt_doc_format(doc, "%s: %s %s -> %s (%s)", stage, figure->name, a.text, b.text, figure->how);
        }
    }
}

/* The entries of one stage in all runs that are checked; NULL = the reason is set. */
static const char *entries_of(const struct pt_check *check, struct pt_doc *doc, const char *stage, cJSON **entries)
{
    for (size_t i = 0; i < check->n_documents; i++) {
        struct pt_error err = {0};
        const cJSON *of = pt_stage_named(check->documents[i], stage);
        if (!of)
            return pt_doc_format(doc, "run %zu has no such stage", i + 1);
        if (pt_baseline_entry(check->documents[i], of, &entries[i], &err) < 0)
            return pt_doc_text(doc, err.text);
    }
    return NULL;
}

static void check_stage(const struct pt_check *check, struct pt_doc *doc, const char *stage, struct outcome *outcome)
{
    PT_AUTO(pt_freep) cJSON **entries = calloc(check->n_documents + 1, sizeof *entries);
    const cJSON *runs = pt_baseline_runs(check->baseline, stage);
    struct figures figures = {0};
    const char *reason = runs ? entries_of(check, doc, stage, entries)
                              : "the baseline has no run of this stage: `proftrace baseline add` puts one there";
    if (!reason)
        reason = why_not(doc, runs->child, entries[0], check->with_times);
    if (!reason) {
        collect(&figures, runs, entries, check->n_documents, check->with_times);
        judge(doc, &figures, check->with_times);
    }
    count(doc, stage, &figures, outcome);
    if (reason && !outcome->undecided++ && !outcome->first)
        outcome->first = pt_doc_format(doc, "%s: %s", stage, reason);
    add_stage(doc, stage, &figures, reason);
    for (size_t i = 0; i < check->n_documents; i++)
        cJSON_Delete(entries[i]);
    free(figures.items);
}

enum pt_check_result pt_check(const struct pt_check *check, struct pt_doc *doc)
{
    struct outcome outcome = {0};
    const cJSON *stage;
    if (check->stage)
        check_stage(check, doc, check->stage, &outcome);
    else
        cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(check->documents[0], "stages"))
        {
            const char *name = pt_member_text(stage, "stage");
            if (name)
                check_stage(check, doc, name, &outcome);
        }
    if (outcome.worse) {
        doc->verdict = pt_doc_format(doc, "regression: %zu figure%s worse. %s", outcome.worse,
                                     outcome.worse == 1 ? " is" : "s are", outcome.first);
        return PT_CHECK_WORSE;
    }
    if (outcome.undecided) {
        doc->verdict =
            pt_doc_format(doc, "undecided: %s", outcome.first ? outcome.first : "times need four runs on both sides");
        return PT_CHECK_UNDECIDED;
    }
    doc->verdict = "ok: no figure is worse than in the baseline";
    return PT_CHECK_OK;
}
