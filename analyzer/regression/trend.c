/* SPDX-License-Identifier: MIT
 *
 * Owns: which figures of a history have changed, and with which run. Threads: one. Never: compares times of different
 * machines, or anything of different numbers of CPUs, datasets or versions: only the runs that are like the newest
 * count.
 *
 * A count is told where two runs and more lie on either side, further apart than each side is wide, by 2 % at least. A
 * time needs four runs on either side, 10 % (CPU: 5 %) and a rank test that is corrected for the places it may lie at.
 */
#include "trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_document.h"
#include "util/auto.h"
#include "change_points.h"
#include "figures.h"
#include "level.h"
#include "peers.h"
#include "show_figure.h"

struct row {
    const char *figure;
    struct pt_value before, after, more;
    double before_value, after_value; /* of these, for programs; in this unit */
    const char *unit;
    const char *run, *at, *commit, *how;
};

/* A run and where it stands in the file: a second may see several of them, the newest of which stands first. */
struct past {
    const cJSON *run;
    size_t place;
    size_t nth; /* among all runs of the stage, in order of time */
};

/* The runs of a stage that can be compared, in order of time. */
struct history {
    struct past *runs;
    size_t n, others;
};

struct found {
    struct row row;
    size_t nth; /* of the run: times have a shorter history than counts, in which it stands elsewhere */
};

struct founds {
    PT_VEC(struct found);
};

/* Figures that too few runs know: a change of them would not be seen. */
struct untold {
    size_t n;
    const char *figure; /* the first of them */
    size_t needs, has;
    bool has_times; /* the stage has any */
};

/* What is found of a stage. */
struct of_stage {
    struct founds founds;
    struct untold untold;
    struct history counted, timed;
};

static int by_time(const void *a, const void *b)
{
    const struct past *x = a, *y = b;
    const char *at_x = pt_member_text(x->run, "at_utc"), *at_y = pt_member_text(y->run, "at_utc");
    const int order = strcmp(at_x ? at_x : "", at_y ? at_y : "");
    return order ? order : (x->place < y->place) - (x->place > y->place);
}

static struct history history_of(struct pt_doc *doc, const cJSON *runs, bool with_machine)
{
    struct history history = {.runs = calloc((size_t)cJSON_GetArraySize(runs) + 1, sizeof *history.runs)};
    size_t n = 0, kept = 0;
    const cJSON *run;
    if (!history.runs)
        return history;
    cJSON_ArrayForEach(run, runs)
    {
        history.runs[n] = (struct past){run, n, 0};
        n++;
    }
    qsort(history.runs, n, sizeof *history.runs, by_time);
    const cJSON *newest = history.runs[n - 1].run;
    for (size_t i = 0; i < n; i++)
        history.runs[i].nth = i;
    for (size_t i = 0; i < n; i++)
        if (pt_peers_are_alike(doc, history.runs[i].run, newest, with_machine))
            history.runs[kept++] = history.runs[i];
    history.n = kept;
    history.others = n - kept;
    return history;
}

/* A run that does not know the figure is left out. */
static size_t values_of(const struct history *history, const char *figure, double *values, size_t *at)
{
    size_t n = 0;
    for (size_t i = 0; i < history->n; i++) {
        const double value = pt_figure_value(history->runs[i].run, figure);
        if (isfinite(value)) {
            values[n] = value;
            at[n++] = i;
        }
    }
    return n;
}

/* Of the n runs of a figure from the first on: their least and most untraced processes. */
struct untraced {
    double least, most;
};

static struct untraced untraced_of(const struct history *history, const size_t *at, size_t n)
{
    struct untraced found = {INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        const double untraced = pt_peers_untraced(history->runs[at[i]].run);
        found.least = fmin(found.least, untraced);
        found.most = fmax(found.most, untraced);
    }
    return found;
}

/* What a process does that is not traced is in no count: then it may be no change of the program. */
static const char *other_untraced(struct pt_doc *doc, struct untraced before, struct untraced since)
{
    if (before.least <= since.most && since.least <= before.most)
        return "";
    const bool are_more = since.least > before.most;
    return pt_doc_format(doc, "; %.0f processes were not traced before, %.0f since",
                         are_more ? before.most : before.least, are_more ? since.least : since.most);
}

/* The change before which `before` runs lie, back to the change before it, and `since` from it on. */
static struct row row_of(struct pt_doc *doc, const char *figure, const struct pt_change_point *change, size_t before,
                         size_t since, const cJSON *run)
{
    const enum pt_figure_kind kind = pt_figure_kind_of(figure);
    const char *commit = pt_member_text(run, "commit");
    const char *runs = pt_doc_format(doc, "%zu runs before, %zu since", before, since);
    return (struct row){
        .figure = pt_doc_text(doc, figure),
        .before = pt_show_figure(doc, kind, change->before),
        .after = pt_show_figure(doc, kind, change->after),
        .before_value = change->before,
        .after_value = change->after,
        .unit = pt_figure_unit(kind),
        .more = change->before > 0 ? pt_real(100 * (change->after - change->before) / change->before)
                                   : pt_unknown("there was none before"),
        .run = pt_member_text(run, "run"),
        .at = pt_member_text(run, "at_utc"),
        .commit = commit ? pt_doc_format(doc, "%.12s", commit) : NULL,
        .how = !pt_figure_is_time(kind) ? runs
               : change->p < 0.001      ? pt_doc_format(doc, "%s, p < 0.001", runs)
                                        : pt_doc_format(doc, "%s, p = %.3f", runs, change->p),
    };
}

static void add_untold(struct untold *untold, const char *figure, size_t needs, size_t has)
{
    if (!untold->n++) {
        untold->figure = figure;
        untold->needs = needs;
        untold->has = has;
    }
}

static void add_changes(struct pt_doc *doc, const struct history *history, const char *figure, struct of_stage *of)
{
    const enum pt_figure_kind kind = pt_figure_kind_of(figure);
    const struct pt_change_rules rules = pt_figure_change_rules(figure);
    PT_AUTO(pt_freep) double *values = calloc(history->n + 1, sizeof *values);
    PT_AUTO(pt_freep) size_t *at = calloc(history->n + 1, sizeof *at);
    struct pt_change_point changes[PT_SAMPLE_MOST];
    if (!values || !at)
        return;
    const size_t n = values_of(history, figure, values, at);
    if (n < 2 * rules.least)
        add_untold(&of->untold, figure, 2 * rules.least, n);
    of->untold.has_times |= pt_figure_is_time(kind);
    const size_t n_changes = pt_change_points(values, n, &rules, changes);
    for (size_t i = 0; i < n_changes; i++) {
        const size_t begin = i ? changes[i - 1].at : pt_change_points_begin(n), here = changes[i].at;
        const size_t end = i + 1 < n_changes ? changes[i + 1].at : n;
        struct found found = {.nth = history->runs[at[here]].nth};
        found.row = row_of(doc, figure, &changes[i], here - begin, end - here, history->runs[at[here]].run);
        if (!pt_figure_is_time(kind))
            found.row.how = pt_doc_format(doc, "%s%s", found.row.how,
                                          other_untraced(doc, untraced_of(history, at + begin, here - begin),
                                                         untraced_of(history, at + here, end - here)));
        pt_vec_push(&of->founds, found);
    }
}

static int newest_first(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->nth != y->nth ? (x->nth < y->nth) - (x->nth > y->nth) : strcmp(x->row.figure, y->row.figure);
}

static const cJSON *figures_of(const struct history *history, size_t run)
{
    return cJSON_GetObjectItemCaseSensitive(history->runs[run].run, "figures");
}

/* What a later run has none of may have gone to 0. */
static bool is_in_later_run(const struct history *history, size_t run, const char *figure)
{
    for (size_t i = run + 1; i < history->n; i++)
        if (cJSON_HasObjectItem(figures_of(history, i), figure))
            return true;
    return false;
}

static void find_changes(const struct pt_trend *trend, struct pt_doc *doc, struct of_stage *of, bool is_time)
{
    const struct history *history = is_time ? &of->timed : &of->counted;
    const cJSON *figure;
    for (size_t run = history->n; run-- > 0;)
        cJSON_ArrayForEach(figure, figures_of(history, run))
        {
            if (pt_figure_is_time(pt_figure_kind_of(figure->string)) == is_time &&
                (!trend->figure || !strcmp(trend->figure, figure->string)) &&
                !is_in_later_run(history, run, figure->string))
                add_changes(doc, history, figure->string, of);
        }
}

static const char *verdict_of(struct pt_doc *doc, const char *stage, const struct row *row)
{
    const char *commit = row->commit ? pt_doc_format(doc, ", commit %s", row->commit) : "";
    return pt_doc_format(doc, "%s: %s %s -> %s since run %s%s (%s)", stage, row->figure, row->before.text,
                         row->after.text, row->run, commit, row->how);
}

/* Runs of other machines, whose times are not looked at. */
static size_t elsewhere(const struct of_stage *of)
{
    return of->untold.has_times ? of->timed.others - of->counted.others : 0;
}

/* Of what nobody can tell whether it has changed; NULL = of nothing. */
static const char *text_of_untold(struct pt_doc *doc, const struct of_stage *of)
{
    const struct untold *untold = &of->untold;
    if (!untold->n)
        return NULL;
    const bool is_elsewhere = pt_figure_is_time(pt_figure_kind_of(untold->figure)) && elsewhere(of);
    return pt_doc_format(doc, "nobody can tell of %s%s: %zu runs are needed, and there %s %zu%s", untold->figure,
                         untold->n > 1 ? pt_doc_format(doc, " and %zu more", untold->n - 1) : "", untold->needs,
                         untold->has == 1 ? "is" : "are", untold->has,
                         is_elsewhere ? pt_doc_format(doc, " of this machine (%zu of others)", elsewhere(of)) : "");
}

static const char *text_of_history(struct pt_doc *doc, const struct of_stage *of)
{
    const struct history *counted = &of->counted;
    const size_t left_out = pt_change_points_begin(counted->n);
    return pt_doc_format(
        doc, "%s%zu runs%s, %s", left_out ? pt_doc_format(doc, "the last %d of ", PT_SAMPLE_MOST) : "", counted->n,
        counted->others
            ? pt_doc_format(doc, " (%zu others have another dataset, machine or version of proftrace)", counted->others)
            : "",
        of->founds.n ? "and these changes" : "and no change");
}

static void add_stage(struct pt_doc *doc, const char *name, const struct of_stage *of)
{
    const struct founds *founds = &of->founds;
    static const struct pt_column columns[] = {
        PT_COLUMN(struct row, figure, TEXT, "Figure"),
        PT_COLUMN(struct row, before, TEXT, "Before"),
        PT_COLUMN(struct row, after, TEXT, "Since"),
        PT_COLUMN_AT(struct row, more, "more_percent", PERCENT, "More"),
        PT_COLUMN(struct row, run, TEXT, "With run"),
        PT_COLUMN(struct row, at, TEXT, "At"),
        PT_COLUMN(struct row, commit, TEXT, "Commit"),
        PT_COLUMN(struct row, how, TEXT, "How sure"),
        PT_COLUMN(struct row, before_value, NUMBER, "Before, as a number"),
        PT_COLUMN(struct row, after_value, NUMBER, "Since, as a number"),
        PT_COLUMN(struct row, unit, TEXT, "Unit"),
    };
    static const pt_u8 for_people[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct pt_doc_stage *stage = pt_arena_alloc(&doc->arena, sizeof *stage);
    *stage = (struct pt_doc_stage){.index = (pt_u32)doc->stages.n, .name = pt_doc_text(doc, name)};
    struct pt_panel *panel = pt_doc_panel(doc, PT_PANEL_TEXTS, "history", "History");
    panel->texts = pt_arena_alloc(&doc->arena, 3 * sizeof *panel->texts);
    panel->texts[panel->n_texts++] = text_of_history(doc, of);
    if (elsewhere(of))
        panel->texts[panel->n_texts++] = pt_doc_format(
            doc, "times: the %zu of these runs that are of this machine; the others tell none", of->timed.n);
    const char *untold = text_of_untold(doc, of);
    if (untold)
        panel->texts[panel->n_texts++] = untold;
    pt_vec_push(&stage->panels, panel);
    struct pt_table *table;
    panel = pt_doc_table(doc, "changes", "Changes", columns, sizeof columns / sizeof *columns, &table);
    for (size_t i = 0; i < founds->n; i++)
        pt_table_add(table, &founds->items[i].row);
    panel->most = table->n_rows;
    panel->columns = for_people;
    panel->n_columns = sizeof for_people;
    if (table->n_rows)
        pt_vec_push(&stage->panels, panel);
    pt_vec_push(&doc->stages, stage);
}

struct told {
    size_t stages, changed, cut; /* cut: those of which the first runs are left out */
    const char *untold;          /* the first of what nobody can tell; NULL = nothing */
    const char *elsewhere;       /* of times, where they are of a part of the runs; NULL = of all */
};

static void tell_stage(const struct pt_trend *trend, struct pt_doc *doc, const cJSON *runs, struct told *told)
{
    struct of_stage of = {.counted = history_of(doc, runs, false), .timed = history_of(doc, runs, true)};
    find_changes(trend, doc, &of, false);
    find_changes(trend, doc, &of, true);
    if (of.founds.n)
        qsort(of.founds.items, of.founds.n, sizeof *of.founds.items, newest_first);
    add_stage(doc, runs->string, &of);
    if (of.founds.n && !doc->verdict)
        doc->verdict = verdict_of(doc, runs->string, &of.founds.items[0].row);
    const char *untold = text_of_untold(doc, &of);
    if (untold && !told->untold)
        told->untold = pt_doc_format(doc, "%s: %s", runs->string, untold);
    if (elsewhere(&of) && !told->elsewhere)
        told->elsewhere = pt_doc_format(doc, "; %s: times of %zu of %zu runs, those of this machine", runs->string,
                                        of.timed.n, of.counted.n);
    told->stages++;
    told->changed += of.founds.n > 0;
    told->cut += pt_change_points_begin(of.counted.n) > 0;
    free(of.founds.items);
    free(of.counted.runs);
    free(of.timed.runs);
}

static const char *no_change(struct pt_doc *doc, const struct told *told)
{
    const char *elsewhere = told->elsewhere ? told->elsewhere : "";
    if (told->untold)
        return pt_doc_format(doc, "no change that could be told. %s", told->untold);
    if (told->cut)
        return pt_doc_format(doc, "no change in the last %d runs: every figure is at the level of the first of these%s",
                             PT_SAMPLE_MOST, elsewhere);
    return pt_doc_format(doc, "no change: every figure is at the level of its first runs%s", elsewhere);
}

void pt_trend(const struct pt_trend *trend, struct pt_doc *doc)
{
    const cJSON *runs;
    struct told told = {0};
    doc->title = "trend";
    cJSON_ArrayForEach(runs, cJSON_GetObjectItemCaseSensitive(trend->baseline, "stages"))
    {
        if (!runs->child || (trend->stage && strcmp(trend->stage, runs->string) != 0))
            continue;
        tell_stage(trend, doc, runs, &told);
    }
    if (!told.stages)
        doc->verdict = "there are no such runs";
    else if (!told.changed)
        doc->verdict = no_change(doc, &told);
}
