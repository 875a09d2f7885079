/* SPDX-License-Identifier: MIT
 *
 * Owns: the rows of a comparison, the best of each column and the front. Threads: one. Never: calls a run best at what
 * only one run has.
 */
#include "compare.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "report/run_document.h"
#include "util/auto.h"
#include "util/str.h"

static const struct pt_dimension_kind fixed[PT_DIMENSION__FIXED] = {
#define DIMENSION(id, key, show, title, better, role, reason)                                                          \
    [PT_DIMENSION_##id] = {key, title, reason, PT_SHOW_##show, PT_BETTER_##better, PT_AXIS_##role},
#include "dimensions.def"
#undef DIMENSION
};

struct pt_comparison pt_comparison_new(const char *quality)
{
    struct pt_comparison comparison = {.n_dimensions = PT_DIMENSION__FIXED,
                                       .wanted = quality,
                                       .quality = PT_DIMENSION_NONE,
                                       .cost = PT_DIMENSION_NONE};
    memcpy(comparison.dimensions, fixed, sizeof fixed);
    return comparison;
}

/* ---- quality metrics ---- */

/* Does a word begin here? valLoss has two, and so has MSELoss. */
static bool begins_word(const char *key, const char *at)
{
    if (at == key || !isalpha((unsigned char)at[-1]))
        return true;
    return isupper((unsigned char)*at) && (islower((unsigned char)at[-1]) || islower((unsigned char)at[1]));
}

static bool ends_word(const char *end)
{
    return !isalpha((unsigned char)*end) || (isupper((unsigned char)*end) && islower((unsigned char)end[-1]));
}

/* "loss" in "val_loss", "losses" and "lossTrain", not in "lossless" or "glossary". */
static bool has_word(const char *key, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = strcasestr(key, word); at; at = strcasestr(at + 1, word)) {
        const char *end = at + n;
        const bool is_plural =
            (!strncasecmp(end, "s", 1) && ends_word(end + 1)) || (!strncasecmp(end, "es", 2) && ends_word(end + 2));
        if (begins_word(key, at) && (ends_word(end) || is_plural))
            return true;
    }
    return false;
}

/* Of what is less better? Words of its name say so; what has none of them is better when there is more. */
static enum pt_better better_of(const char *key)
{
    static const char *const losses[] = {"loss", "error", "miss", "rmse", "mae", "mse", "perplexity", "wer", "fid"};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (has_word(key, losses[i]))
            return PT_BETTER_LESS;
    return PT_BETTER_MORE;
}

static void leave_out(struct pt_comparison *comparison, const char *key)
{
    for (size_t i = 0; i < comparison->left_out.n; i++)
        if (!strcmp(comparison->left_out.items[i], key))
            return;
    pt_vec_push(&comparison->left_out, key);
}

/* PT_DIMENSION_NONE = there is no more room. What was asked for takes the place of the last. */
static int dimension_of(struct pt_comparison *comparison, const char *key)
{
    for (int i = PT_DIMENSION__FIXED; i < comparison->n_dimensions; i++)
        if (!strcmp(comparison->dimensions[i].key, key))
            return i;
    if (comparison->n_dimensions == PT_DIMENSION__MOST) {
        if (!comparison->wanted || strcmp(comparison->wanted, key) != 0) {
            leave_out(comparison, key);
            return PT_DIMENSION_NONE;
        }
        leave_out(comparison, comparison->dimensions[--comparison->n_dimensions].key);
    }
    comparison->dimensions[comparison->n_dimensions] = (struct pt_dimension_kind){
        key, key, "the run has no such quality metric", PT_SHOW_NUMBER, better_of(key), PT_AXIS_QUALITY};
    for (size_t i = 0; i < comparison->n; i++)
        comparison->items[i].values[comparison->n_dimensions] = NAN;
    return comparison->n_dimensions++;
}

static void add_quality(struct pt_comparison *comparison, const cJSON *document, double *values)
{
    const cJSON *metric;
    cJSON_ArrayForEach(metric, cJSON_GetObjectItemCaseSensitive(document, "quality_metrics"))
    {
        const int dimension = cJSON_IsNumber(metric) ? dimension_of(comparison, metric->string) : PT_DIMENSION_NONE;
        if (dimension != PT_DIMENSION_NONE)
            values[dimension] = metric->valuedouble;
    }
}

/* ---- rows ---- */

static double larger(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* The wait for data is that of the training with the highest throughput; where none knows its own, the longest wait. */
static void add_training(double *values, const cJSON *training)
{
    const double samples_per_s = pt_member_number(training, "samples_per_s");
    const double wait_percent = pt_member_number(training, "dataloader_time_pct");
    const double most = values[PT_DIMENSION_throughput];
    if (isfinite(samples_per_s) && !(samples_per_s <= most)) {
        values[PT_DIMENSION_throughput] = samples_per_s;
        values[PT_DIMENSION_data_wait] = wait_percent;
    } else if (isnan(most) && isfinite(wait_percent)) {
        values[PT_DIMENSION_data_wait] = larger(values[PT_DIMENSION_data_wait], wait_percent);
    }
}

/* CPU times of stages add up, and are unknown where one of them is: a part would be less than all of another run. */
static double cpu_of(const cJSON *document, const char *only)
{
    double sum_s = NAN;
    const cJSON *stage;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(document, "stages"))
    {
        const char *own = pt_member_text(stage, "stage");
        if ((only && (!own || strcmp(own, only) != 0)) || pt_stage_is_left_out(stage))
            continue;
        const double cpu_s = pt_member_number(stage, "cpu_s");
        if (isnan(cpu_s))
            return NAN;
        sum_s = isnan(sum_s) ? cpu_s : sum_s + cpu_s;
    }
    return sum_s;
}

/* What is used at once does not add up. */
static void add_stage(double *values, const cJSON *stage)
{
    const cJSON *training = cJSON_GetObjectItemCaseSensitive(stage, "training");
    const cJSON *windows = cJSON_GetObjectItemCaseSensitive(stage, "profiler_windows"), *window;
    values[PT_DIMENSION_memory] = larger(values[PT_DIMENSION_memory], pt_member_number(stage, "rss_mb_max"));
    values[PT_DIMENSION_gpu_memory] =
        larger(values[PT_DIMENSION_gpu_memory], pt_member_number(stage, "gpu_mem_mb_max"));
    add_training(values, training);
    cJSON_ArrayForEach(window, windows)
    {
        values[PT_DIMENSION_flops] = larger(values[PT_DIMENSION_flops], pt_member_number(window, "flops_per_step"));
    }
}

int pt_comparison_add(struct pt_comparison *comparison, const char *name, const cJSON *document, const char *only,
                      struct pt_error *err)
{
    struct pt_compared row = {.name = name, .document = only ? NULL : document};
    const cJSON *stage;
    size_t stages = 0;
    for (int i = 0; i < PT_DIMENSION__MOST; i++)
        row.values[i] = NAN;
    add_quality(comparison, document, row.values);
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(document, "stages"))
    {
        const char *own = pt_member_text(stage, "stage");
        if (only && (!own || strcmp(own, only) != 0))
            continue;
        stages++;
        row.was_cut |= !pt_stage_is_whole(stage) && (only || !pt_stage_is_left_out(stage));
        add_stage(row.values, stage);
        row.values[PT_DIMENSION_time] = pt_member_number(stage, "duration_s");
    }
    row.was_cut |= pt_member_number(cJSON_GetObjectItemCaseSensitive(document, "trace_quality"), "missing_files") > 0;
    row.values[PT_DIMENSION_cpu] = cpu_of(document, only);
    if (only && !stages)
        return pt_fail_code(err, 2, "%s has no stage %s", name, only);
    if (!only)
        row.values[PT_DIMENSION_time] = pt_member_number(document, "total_duration_s");
    if (row.was_cut)
        row.values[PT_DIMENSION_time] = row.values[PT_DIMENSION_cpu] = NAN;
    pt_vec_push(comparison, row);
    return 0;
}

/* ---- runs of other stages ---- */

/* Something that the other run did was not asked of this one. */
static bool left_out_work_of(const struct pt_compared *run, const struct pt_compared *other)
{
    const cJSON *stage;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(run->document, "stages"))
    {
        const char *name = pt_member_text(stage, "stage");
        if (name && pt_stage_is_left_out(stage) && pt_stage_is_whole(pt_stage_named(other->document, name)))
            return true;
    }
    return false;
}

/* A run of a part of the stages would be the fastest of all. */
static void forget_times_of_parts(struct pt_comparison *comparison)
{
    for (size_t i = 0; i < comparison->n; i++) {
        struct pt_compared *run = &comparison->items[i];
        for (size_t j = 0; j < comparison->n && !run->is_part; j++)
            run->is_part = left_out_work_of(run, &comparison->items[j]);
        if (run->is_part)
            run->values[PT_DIMENSION_time] = run->values[PT_DIMENSION_cpu] = NAN;
    }
}

/* ---- the front ---- */

/* What a run that did not do all of its work took is told, and no merit: it would need the least memory, too. */
static bool competes(const struct pt_comparison *comparison, const struct pt_compared *run, int dimension)
{
    const bool is_cost = comparison->dimensions[dimension].role == PT_AXIS_COST;
    return isfinite(run->values[dimension]) && !(is_cost && (run->was_cut || run->is_part));
}

static size_t n_competing(const struct pt_comparison *comparison, int dimension)
{
    size_t n = 0;
    for (size_t i = 0; i < comparison->n; i++)
        n += competes(comparison, &comparison->items[i], dimension);
    return n;
}

static int choose(const struct pt_comparison *comparison, const char *key, enum pt_axis_role role, int *ret,
                  struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str keys = {0};
    *ret = PT_DIMENSION_NONE;
    for (int i = 0; i < comparison->n_dimensions; i++) {
        if (comparison->dimensions[i].role != role)
            continue;
        pt_str_printf(&keys, "%s%s", keys.n ? ", " : "", comparison->dimensions[i].key);
        if (*ret == PT_DIMENSION_NONE &&
            (key ? !strcmp(key, comparison->dimensions[i].key) : n_competing(comparison, i) >= 2))
            *ret = i;
    }
    for (size_t i = 0; role == PT_AXIS_QUALITY && i < comparison->left_out.n; i++)
        pt_str_printf(&keys, "%s%s", keys.n ? ", " : "", comparison->left_out.items[i]);
    if (key && !keys.n) /* of costs there are always some */
        return pt_fail_code(err, 2, "no run has the quality metric '%s': none has a grade report", key);
    if (key && *ret == PT_DIMENSION_NONE)
        return pt_fail_code(err, 2, "'%s' is none of %s", key, pt_str_text(&keys));
    return 0;
}

/* > 0: a is better. */
static int better(const struct pt_comparison *comparison, int dimension, double a, double b)
{
    const int more = (a > b) - (a < b);
    return comparison->dimensions[dimension].better == PT_BETTER_MORE ? more : -more;
}

/* At least as good in both, and better in one. */
static bool beats(const struct pt_comparison *comparison, const struct pt_compared *a, const struct pt_compared *b)
{
    const int quality =
        better(comparison, comparison->quality, a->values[comparison->quality], b->values[comparison->quality]);
    const int cost = better(comparison, comparison->cost, a->values[comparison->cost], b->values[comparison->cost]);
    return quality >= 0 && cost >= 0 && quality + cost > 0;
}

static bool has_both(const struct pt_comparison *comparison, const struct pt_compared *run)
{
    return competes(comparison, run, comparison->quality) && competes(comparison, run, comparison->cost);
}

int pt_comparison_front(struct pt_comparison *comparison, const char *quality, const char *cost, struct pt_error *err)
{
    forget_times_of_parts(comparison);
    if (choose(comparison, quality, PT_AXIS_QUALITY, &comparison->quality, err) < 0 ||
        choose(comparison, cost, PT_AXIS_COST, &comparison->cost, err) < 0)
        return -1;
    if (comparison->quality == PT_DIMENSION_NONE || comparison->cost == PT_DIMENSION_NONE)
        return 0;
    for (size_t i = 0; i < comparison->n; i++) {
        struct pt_compared *run = &comparison->items[i];
        run->is_on_front = has_both(comparison, run);
        for (size_t j = 0; j < comparison->n && run->is_on_front; j++)
            if (has_both(comparison, &comparison->items[j]) && beats(comparison, &comparison->items[j], run))
                run->is_on_front = false;
    }
    return 0;
}

/* ---- the document ---- */

struct row {
    const char *run;
    struct pt_value values[PT_DIMENSION__MOST];
    const char *best, *front;
};

/* The best value of a column; NAN where fewer than two runs have one, or all have the same. */
static double best_of(const struct pt_comparison *comparison, int dimension)
{
    double best = NAN, worst = NAN;
    if (comparison->dimensions[dimension].better == PT_BETTER_NEITHER || n_competing(comparison, dimension) < 2)
        return NAN;
    for (size_t i = 0; i < comparison->n; i++) {
        const double value = comparison->items[i].values[dimension];
        if (!competes(comparison, &comparison->items[i], dimension))
            continue;
        if (isnan(best) || better(comparison, dimension, value, best) > 0)
            best = value;
        if (isnan(worst) || better(comparison, dimension, value, worst) < 0)
            worst = value;
    }
    return best == worst ? NAN : best;
}

static const char *best_at(const struct pt_comparison *comparison, struct pt_doc *doc, const struct pt_compared *run)
{
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    for (int i = 0; i < comparison->n_dimensions; i++)
        if (competes(comparison, run, i) && run->values[i] == best_of(comparison, i))
            pt_str_printf(&out, "%s%s", out.n ? ", " : "", comparison->dimensions[i].title);
    return out.n ? pt_doc_text(doc, pt_str_text(&out)) : NULL;
}

static bool is_known(const struct pt_comparison *comparison, int dimension)
{
    for (size_t i = 0; i < comparison->n; i++)
        if (isfinite(comparison->items[i].values[dimension]))
            return true;
    return false;
}

static pt_u32 put_columns(const struct pt_comparison *comparison, struct pt_column *columns)
{
    pt_u32 n = 0;
    columns[n++] = (struct pt_column)PT_COLUMN(struct row, run, TEXT, "Run");
    for (int i = 0; i < comparison->n_dimensions; i++) {
        if (!is_known(comparison, i))
            continue;
        columns[n] = (struct pt_column)PT_COLUMN_AT(struct row, values[0], comparison->dimensions[i].key, NUMBER,
                                                    comparison->dimensions[i].title);
        columns[n].show = comparison->dimensions[i].show;
        columns[n++].offset += (pt_u32)((size_t)i * sizeof(struct pt_value));
    }
    columns[n++] = (struct pt_column)PT_COLUMN_AT(struct row, best, "best_at", TEXT, "Best at");
    if (comparison->quality != PT_DIMENSION_NONE && comparison->cost != PT_DIMENSION_NONE)
        columns[n++] = (struct pt_column)PT_COLUMN_AT(struct row, front, "front", TEXT, "Front");
    return n;
}

/* Where there is no room for all, the axes of the front and who is best are what was asked for. */
static void put_important_columns(const struct pt_comparison *comparison, struct pt_doc *doc, struct pt_panel *panel)
{
    const bool has_quality = comparison->quality != PT_DIMENSION_NONE;
    const char *const keys[] = {
        "run",
        comparison->cost != PT_DIMENSION_NONE ? comparison->dimensions[comparison->cost].key : "wall_s",
        has_quality ? comparison->dimensions[comparison->quality].key : "memory_mb",
        "front",
        "best_at",
        "wall_s",
        "memory_mb",
        "cpu_s",
    };
    pt_u8 *columns = pt_arena_alloc(&doc->arena, PT_MAX_COLUMNS);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const pt_u32 column = pt_table_column(panel->table, keys[i]);
        if (column < panel->table->n_columns && !memchr(columns, (int)column, panel->n_columns))
            columns[panel->n_columns++] = (pt_u8)column;
    }
    for (pt_u32 column = 0; column < panel->table->n_columns; column++)
        if (!memchr(columns, (int)column, panel->n_columns))
            columns[panel->n_columns++] = (pt_u8)column;
    panel->columns = columns;
}

static const char *front_text(const struct pt_comparison *comparison, struct pt_doc *doc)
{
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    for (size_t i = 0; i < comparison->n; i++)
        if (comparison->items[i].is_on_front)
            pt_str_printf(&out, "%s%s", out.n ? ", " : "", comparison->items[i].name);
    if (!out.n)
        return NULL;
    const struct pt_dimension_kind *quality = &comparison->dimensions[comparison->quality];
    return pt_doc_format(doc, "no other run has %s %s for less %s: %s",
                         quality->better == PT_BETTER_MORE ? "more" : "less", quality->key,
                         comparison->dimensions[comparison->cost].key, pt_str_text(&out));
}

static const char *why_unknown(const struct pt_comparison *comparison, const struct pt_compared *run, int dimension)
{
    const bool is_time = dimension == PT_DIMENSION_time || dimension == PT_DIMENSION_cpu;
    if (run->is_part && !run->was_cut && is_time)
        return "it left out a stage that another run has";
    return comparison->dimensions[run->was_cut && is_time ? PT_DIMENSION_time : dimension].reason;
}

static void note_left_out(const struct pt_comparison *comparison, struct pt_doc *doc)
{
    if (!comparison->left_out.n)
        return;
    doc->notes = pt_arena_alloc(&doc->arena, sizeof *doc->notes);
    doc->notes[doc->n_notes++] =
        pt_doc_format(doc, "%zu quality metrics are not shown: there is room for %d; --quality KEY brings one in",
                      comparison->left_out.n, PT_DIMENSION__MOST - PT_DIMENSION__FIXED);
}

void pt_comparison_document(const struct pt_comparison *comparison, struct pt_doc *doc)
{
    struct pt_column columns[PT_DIMENSION__MOST + 3];
    const pt_u32 n_columns = put_columns(comparison, columns);
    struct pt_doc_stage *stage = pt_arena_alloc(&doc->arena, sizeof *stage);
    struct pt_table *table;
    *stage = (struct pt_doc_stage){.name = "all runs"};
    struct pt_panel *panel = pt_doc_table(doc, "runs", "Runs", columns, n_columns, &table);
    for (size_t i = 0; i < comparison->n; i++) {
        const struct pt_compared *run = &comparison->items[i];
        struct row row = {.run = pt_doc_text(doc, run->name), .best = best_at(comparison, doc, run)};
        row.front = run->is_on_front ? "yes" : "no";
        for (int j = 0; j < comparison->n_dimensions; j++)
            row.values[j] =
                isfinite(run->values[j]) ? pt_real(run->values[j]) : pt_unknown(why_unknown(comparison, run, j));
        pt_table_add(table, &row);
    }
    panel->most = table->n_rows;
    put_important_columns(comparison, doc, panel);
    pt_vec_push(&stage->panels, panel);
    pt_vec_push(&doc->stages, stage);
    doc->title = "comparison of runs";
    doc->verdict = front_text(comparison, doc);
    note_left_out(comparison, doc);
}
