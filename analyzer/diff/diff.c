/* SPDX-License-Identifier: MIT
 *
 * Owns: which stages are held against each other, in what order, and the tables that are shown of them. Threads: one.
 */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beside_wall.h"
#include "explain.h"
#include "flame.h"
#include "notes.h"
#include "report/run_document.h"
#include "util/auto.h"

enum { ROWS_MOST = 8 };

struct pairs {
    PT_VEC(struct pt_stage_pair);
};

/* ---- pairs of stages ---- */

static void push_pair(struct pairs *pairs, const char *name, const cJSON *a, const cJSON *b)
{
    struct pt_stage_pair pair = {.name = name, .of = {a, b}};
    pt_pair_take_changes(&pair);
    pt_vec_push(pairs, pair);
}

static void pairs_fini(struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++)
        for (int j = 0; j < PT_DIFF__TABLES; j++)
            pt_changes_fini(&pairs->items[i].changes[j]);
    free(pairs->items);
}

static const cJSON *stage_wanted(const struct pt_diff_run *run, struct pt_error *err)
{
    const cJSON *stage = pt_stage_named(run->document, run->stage);
    if (!stage)
        pt_fail_code(err, 2, "%s has no stage %s; `proftrace report` of that run lists its stages", run->name,
                     run->stage);
    return stage;
}

/* In the order of B, then those that only A has. */
static void pair_by_name(struct pairs *pairs, const cJSON *a, const cJSON *b)
{
    const cJSON *stage;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(b, "stages"))
    {
        const char *name = pt_member_text(stage, "stage");
        if (name)
            push_pair(pairs, name, pt_stage_named(a, name), stage);
    }
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(a, "stages"))
    {
        const char *name = pt_member_text(stage, "stage");
        if (name && !pt_stage_named(b, name))
            push_pair(pairs, name, stage, NULL);
    }
}

static int make_pairs(const struct pt_diff_run *a, const struct pt_diff_run *b, struct pairs *pairs,
                      struct pt_error *err)
{
    if (!a->stage && !b->stage) {
        pair_by_name(pairs, a->document, b->document);
        /* Two commands without a pipeline are stages of their own names: what else should be compared? */
        if (pairs->n == 2 && !pairs->items[0].of[PT_DIFF_A] && !pairs->items[1].of[PT_DIFF_B]) {
            const struct pt_stage_pair only_b = pairs->items[0], only_a = pairs->items[1];
            pairs_fini(pairs);
            *pairs = (struct pairs){0};
            push_pair(pairs, only_b.name, only_a.of[PT_DIFF_A], only_b.of[PT_DIFF_B]);
        }
        return 0;
    }
    const struct pt_diff_run named_a = {a->name, a->stage ? a->stage : b->stage, a->document};
    const struct pt_diff_run named_b = {b->name, b->stage ? b->stage : a->stage, b->document};
    const cJSON *stage_a = stage_wanted(&named_a, err), *stage_b = stage_a ? stage_wanted(&named_b, err) : NULL;
    if (!stage_b)
        return -1;
    push_pair(pairs, named_b.stage, stage_a, stage_b);
    return 0;
}

static double size_of(const struct pt_stage_pair *pair)
{
    const double by = pt_stage_pair_own_seconds(pair);
    return isfinite(by) ? fabs(by) : 0;
}

/* The lower goes first: another time, then another count, then a time that is little more than noise, then none; what
 * is only in one run explains nothing. */
static int group_of(const struct pt_stage_pair *pair)
{
    if (!pair->of[PT_DIFF_A] || !pair->of[PT_DIFF_B])
        return 4;
    if (pt_stage_pair_differs(pair) && pt_stage_pair_is_beyond_noise(pair))
        return 0;
    if (pt_counts_differ(pair) != 0)
        return 1;
    return pt_stage_pair_differs(pair) || pt_differs_beside_wall(pair) ? 2 : 3;
}

static int by_size(const void *a, const void *b)
{
    const struct pt_stage_pair *x = a, *y = b;
    const int difference = group_of(x) - group_of(y);
    if (difference)
        return difference;
    return size_of(x) == size_of(y) ? strcmp(x->name, y->name) : (size_of(x) < size_of(y)) - (size_of(x) > size_of(y));
}

/* ---- tables ---- */

static struct pt_value known(double number)
{
    return isfinite(number) ? pt_real(number) : pt_unknown("not known in this run");
}

static struct pt_value difference(double a, double b)
{
    return isfinite(a) && isfinite(b) ? pt_real(b - a) : pt_unknown("not known in both runs");
}

struct figure_row {
    const char *figure;
    struct pt_value a, b, difference;
};

static const struct pt_column time_columns[] = {
    PT_COLUMN(struct figure_row, figure, TEXT, "Time"),
    PT_COLUMN(struct figure_row, a, SECONDS, "A"),
    PT_COLUMN(struct figure_row, b, SECONDS, "B"),
    PT_COLUMN(struct figure_row, difference, SECONDS, "B - A"),
};
static const struct pt_column other_columns[] = {
    PT_COLUMN(struct figure_row, figure, TEXT, "Figure"),
    PT_COLUMN(struct figure_row, a, NUMBER, "A"),
    PT_COLUMN(struct figure_row, b, NUMBER, "B"),
    PT_COLUMN(struct figure_row, difference, NUMBER, "B - A"),
};

/* A table of figures: its name in JSON, its title, its columns. */
struct figures {
    const char *key, *title;
    const struct pt_column *columns;
    const struct figure *items;
    size_t n;
};

/* Members of a stage, or of an object in it, that are single figures. */
struct figure {
    const char *object, *key, *label;
};
static const struct figure times[] = {
    {NULL, "duration_s", "Wall"},
    {NULL, "cpu_s", "CPU"},
#define PART(id, label) {"time", #id "_s", label},
#include "facts/time_parts.def"
#undef PART
};
static const struct figure others[] = {
    {NULL, "rss_mb_max", "Memory at most, MiB"},
    {"heap", "allocs", "Allocations"},
    {"heap", "bytes", "Allocated bytes"},
    {"heap", "live_bytes_peak_of_largest_process", "Live heap at most, bytes"},
    {"training", "steps", "Training steps"},
    {"training", "samples_per_s", "Samples per second"},
    {"training", "dataloader_time_pct", "Waiting for data, %"},
    {NULL, "gpu_util_percent_avg", "GPU utilisation, %"},
    {NULL, "gpu_mem_mb_max", "GPU memory at most, MiB"},
};

static const struct figures figures[] = {
    {"times", "Time", time_columns, times, sizeof times / sizeof *times},
    {"figures", "Figures", other_columns, others, sizeof others / sizeof *others},
};

static double figure_of(const cJSON *stage, const struct figure *figure)
{
    return pt_member_number(figure->object ? cJSON_GetObjectItemCaseSensitive(stage, figure->object) : stage,
                            figure->key);
}

static bool is_large(double value)
{
    return isfinite(value) && fabs(value) >= 0.001;
}

static void add_figures(struct pt_doc *doc, struct pt_panels *panels, const struct pt_stage_pair *pair,
                        const struct figures *of)
{
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(doc, of->key, of->title, of->columns, 4, &table);
    for (const struct figure *figure = of->items; figure < of->items + of->n; figure++) {
        const double a = figure_of(pair->of[PT_DIFF_A], figure), b = figure_of(pair->of[PT_DIFF_B], figure);
        const bool is_sum = !strcmp(figure->key, "computing_s") && pt_stage_pair_splits_computing(pair);
        if (!is_sum && (is_large(a) || is_large(b)))
            pt_table_add(table, &(struct figure_row){figure->label, known(a), known(b), difference(a, b)});
    }
    panel->most = table->n_rows;
    if (table->n_rows)
        pt_vec_push(panels, panel);
}

struct change_row {
    const char *name, *place;
    double a_s, b_s, difference_s;
    pt_u64 a_count, b_count, a_bytes, b_bytes;
};

static const char *place_of(struct pt_doc *doc, const struct pt_diff_table_kind *kind, const struct pt_change *change)
{
    const bool is_file = change->file && change->apart && !strcmp(change->file, change->apart);
    const char *apart = *kind->apart && change->apart && !is_file ? change->apart : NULL;
    if (!change->file)
        return pt_doc_text(doc, apart);
    const char *before = apart ? pt_doc_format(doc, "%s, ", apart) : "";
    return change->line > 0 ? pt_doc_format(doc, "%s%s:%.0f", before, change->file, change->line)
                            : pt_doc_format(doc, "%s%s", before, change->file);
}

/* Only where there is nothing better do samples count. */
static bool has_count(const struct pt_diff_table_kind *kind)
{
    return *kind->count && !pt_counts_samples(kind);
}

/* What nobody would look at twice is left out: under half a percent of the stage, unless a call is made a tenth more or
 * less often. */
static bool is_told(const struct pt_diff_table_kind *kind, const struct pt_change *change, double wall_s)
{
    enum { LEAST_BYTES = 1 << 20, LEAST_CALLS = 100 };
    const double *count = change->count, by = fabs(count[PT_DIFF_B] - count[PT_DIFF_A]);
    if (fabs(pt_change_of(kind, change)) >= (*kind->seconds ? fmax(0.001, 0.005 * wall_s) : LEAST_BYTES))
        return true;
    return *kind->seconds && has_count(kind) && by >= LEAST_CALLS && by >= 0.1 * count[PT_DIFF_A];
}

static void add_changes(struct pt_doc *doc, struct pt_panels *panels, const struct pt_stage_pair *pair,
                        enum pt_diff_table which)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct change_row, name, TEXT, "Name"),
        PT_COLUMN(struct change_row, a_s, SECONDS, "A"),
        PT_COLUMN(struct change_row, b_s, SECONDS, "B"),
        PT_COLUMN(struct change_row, difference_s, SECONDS, "B - A"),
        PT_COLUMN(struct change_row, a_count, COUNT, "Times A"),
        PT_COLUMN(struct change_row, b_count, COUNT, "Times B"),
        PT_COLUMN(struct change_row, a_bytes, BYTES, "Bytes A"),
        PT_COLUMN(struct change_row, b_bytes, BYTES, "Bytes B"),
        PT_COLUMN(struct change_row, place, TEXT, "Where"),
    };
    const struct pt_diff_table_kind *kind = &pt_diff_tables[which];
    struct pt_table *table;
    struct pt_panel *panel =
        pt_doc_table(doc, kind->key, kind->title, columns, sizeof columns / sizeof *columns, &table);
    const struct {
        bool is_there;
        const char *keys[3];
    } groups[] = {{*kind->seconds, {"a_s", "b_s", "difference_s"}},
                  {has_count(kind), {"a_count", "b_count"}},
                  {*kind->bytes, {"a_bytes", "b_bytes"}},
                  {*kind->apart, {"place"}}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (int j = 0; !groups[i].is_there && j < 3 && groups[i].keys[j]; j++)
            pt_table_drop_column(table, groups[i].keys[j]);
    const double wall_s = fmax(0, figure_of(pair->of[PT_DIFF_B], &times[0]));
    for (size_t i = 0; i < pair->changes[which].n; i++) {
        const struct pt_change *change = &pair->changes[which].items[i];
        if (!is_told(kind, change, wall_s))
            continue;
        pt_table_add(table, &(struct change_row){
                                .name = pt_doc_text(doc, change->label),
                                .place = place_of(doc, kind, change),
                                .a_s = change->seconds[PT_DIFF_A],
                                .b_s = change->seconds[PT_DIFF_B],
                                .difference_s = change->seconds[PT_DIFF_B] - change->seconds[PT_DIFF_A],
                                .a_count = (pt_u64)change->count[PT_DIFF_A],
                                .b_count = (pt_u64)change->count[PT_DIFF_B],
                                .a_bytes = (pt_u64)change->bytes[PT_DIFF_A],
                                .b_bytes = (pt_u64)change->bytes[PT_DIFF_B],
                            });
    }
    panel->most = ROWS_MOST;
    if (table->n_rows)
        pt_vec_push(panels, panel);
}

/* ---- findings ---- */

struct finding_row {
    const char *change, *finding, *rule;
    struct pt_value a_s, b_s;
};

static const cJSON *finding_like(const cJSON *document, const cJSON *finding, const char *stage)
{
    const cJSON *one;
    const char *rule = pt_member_text(finding, "rule");
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(document, "findings"))
    {
        const char *own = pt_member_text(one, "rule"), *of = pt_member_text(one, "stage");
        if (own && rule && !strcmp(own, rule) && (!stage || !of || !strcmp(of, stage)))
            return one;
    }
    return NULL;
}

/* The findings of one run, beside those of the other. */
struct findings_of {
    const cJSON *document, *other;
    const char *stage, *other_stage; /* NULL = that run has no such stage */
    bool is_b;
};

static void add_findings_of(struct pt_doc *doc, struct pt_table *table, const struct findings_of *of)
{
    const struct pt_value none = pt_unknown("not found in this run");
    const cJSON *finding;
    cJSON_ArrayForEach(finding, cJSON_GetObjectItemCaseSensitive(of->document, "findings"))
    {
        const char *own = pt_member_text(finding, "stage"), *title = pt_member_text(finding, "title");
        const cJSON *same = finding_like(of->other, finding, of->other_stage);
        if (!title || (own && strcmp(own, of->stage) != 0) || (same && of->is_b))
            continue;
        const struct pt_value gain = known(pt_member_number(finding, "gain_upper_s"));
        pt_table_add(table, &(struct finding_row){
                                .change = same       ? "stays"
                                          : of->is_b ? "came"
                                                     : "went",
                                .finding = pt_doc_text(doc, title),
                                .rule = pt_doc_text(doc, pt_member_text(finding, "rule")),
                                .a_s = of->is_b ? none : gain,
                                .b_s = of->is_b ? gain
                                       : same   ? known(pt_member_number(same, "gain_upper_s"))
                                                : none,
                            });
    }
}

static void add_findings(struct pt_doc *doc, struct pt_panels *panels, const struct pt_stage_pair *pair, const cJSON *a,
                         const cJSON *b)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct finding_row, change, TEXT, "Change"),
        PT_COLUMN(struct finding_row, finding, TEXT, "Finding"),
        PT_COLUMN(struct finding_row, a_s, SECONDS, "Gain in A"),
        PT_COLUMN(struct finding_row, b_s, SECONDS, "Gain in B"),
        PT_COLUMN(struct finding_row, rule, TEXT, "Rule"),
    };
    const char *name_a = pt_member_text(pair->of[PT_DIFF_A], "stage");
    const char *name_b = pt_member_text(pair->of[PT_DIFF_B], "stage");
    struct pt_table *table;
    struct pt_panel *panel =
        pt_doc_table(doc, "findings", "Findings that came and went", columns, sizeof columns / sizeof *columns, &table);
    if (name_b)
        add_findings_of(doc, table, &(struct findings_of){b, a, name_b, name_a, true});
    if (name_a)
        add_findings_of(doc, table, &(struct findings_of){a, b, name_a, name_b, false});
    panel->most = table->n_rows;
    if (table->n_rows)
        pt_vec_push(panels, panel);
}

/* ---- the document ---- */

static struct pt_panel *text_panel(struct pt_doc *doc, const char *key, const char *title, const char *text)
{
    struct pt_panel *panel = pt_doc_panel(doc, PT_PANEL_TEXTS, key, title);
    panel->texts = pt_arena_alloc(&doc->arena, sizeof *panel->texts);
    panel->texts[panel->n_texts++] = text;
    return panel;
}

/* Of the time account: what stands in `times` behind wall and CPU. */
static struct pt_bar bar_of(struct pt_doc *doc, const char *name, const cJSON *stage)
{
    enum { FIRST = 2, N = sizeof times / sizeof *times };
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(stage, "time");
    const bool is_split = isfinite(pt_member_number(time, "python_s") + pt_member_number(time, "native_s"));
    struct pt_bar bar = {.name = name,
                         .whole = "stage",
                         .length = pt_cell(PT_SHOW_SECONDS, known(pt_member_number(stage, "duration_s"))),
                         .parts = pt_arena_alloc(&doc->arena, N * sizeof *bar.parts)};
    for (pt_u32 i = FIRST; i < N; i++) {
        const double of_part_s = pt_member_number(time, times[i].key);
        const bool is_told = is_split && !strcmp(times[i].key, "computing_s"); /* as Python and native */
        if (of_part_s > 0 && !is_told)
            bar.parts[bar.n_parts++] = (struct pt_bar_part){times[i].label, of_part_s, i - FIRST + 1};
    }
    return bar;
}

/* One above the other, on one scale; then where the CPU time went. */
static void add_drawings(struct pt_doc *doc, struct pt_panels *panels, const struct pt_stage_pair *pair)
{
    struct pt_panel *bars = pt_doc_panel(doc, PT_PANEL_BARS, "bars", "Where the time went"), *flame;
    pt_vec_push(&bars->bars, bar_of(doc, "A", pair->of[PT_DIFF_A]));
    pt_vec_push(&bars->bars, bar_of(doc, "B", pair->of[PT_DIFF_B]));
    bars->has_legend = true;
    if (bars->bars.items[0].n_parts && bars->bars.items[1].n_parts)
        pt_vec_push(panels, bars);
    flame = pt_diff_flame(doc, pair);
    if (flame)
        pt_vec_push(panels, flame);
}

static void add_stage(struct pt_doc *doc, const struct pt_stage_pair *pair, const cJSON *a, const cJSON *b)
{
    PT_AUTO(pt_str_fini) struct pt_str why = {0};
    struct pt_doc_stage *stage = pt_arena_alloc(&doc->arena, sizeof *stage);
    *stage = (struct pt_doc_stage){.index = (pt_u32)doc->stages.n, .name = pt_doc_text(doc, pair->name)};
    pt_explain_stage(pair, &why);
    const char *sentence = pt_doc_text(doc, pt_str_text(&why));
    if (!doc->verdict)
        doc->verdict = sentence;
    pt_vec_push(&stage->panels, text_panel(doc, "why", "Why", sentence));
    if (pair->of[PT_DIFF_A] && pair->of[PT_DIFF_B]) {
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            add_figures(doc, &stage->panels, pair, &figures[i]);
        add_findings(doc, &stage->panels, pair, a, b);
        add_drawings(doc, &stage->panels, pair);
        for (int i = 0; i < PT_DIFF__TABLES; i++)
            add_changes(doc, &stage->panels, pair, (enum pt_diff_table)i);
    }
    pt_vec_push(&doc->stages, stage);
}

struct pt_doc *pt_diff_build(const struct pt_diff_run *a, const struct pt_diff_run *b, struct pt_error *err)
{
    struct pairs pairs = {0};
    struct pt_doc *doc = NULL;
    if (!make_pairs(a, b, &pairs, err)) {
        doc = pt_doc_new();
        doc->title = "comparison of two runs";
        for (size_t i = 0; i < pairs.n; i++)
            pairs.items[i].has_lost = pt_document_lost(a->document).all > 0 || pt_document_lost(b->document).all > 0;
        if (pairs.n)
            qsort(pairs.items, pairs.n, sizeof *pairs.items, by_size);
        for (size_t i = 0; i < pairs.n; i++)
            add_stage(doc, &pairs.items[i], a->document, b->document);
        pt_diff_add_notes(doc, pairs.items, pairs.n, a->document, b->document);
        pt_doc_line(&doc->head, "a", "A", PT_SHOW_TEXT, pt_text(pt_doc_text(doc, a->name)));
        pt_doc_line(&doc->head, "b", "B", PT_SHOW_TEXT, pt_text(pt_doc_text(doc, b->name)));
        if (!doc->verdict)
            doc->verdict = "Neither run has a stage.";
    }
    pairs_fini(&pairs);
    return doc;
}
