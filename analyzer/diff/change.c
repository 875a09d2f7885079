/* SPDX-License-Identifier: MIT
 *
 * Owns: which row of one run is which of the other, and the sums of rows that are one. Threads: any.
 */
#include "change.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "facts/call_class.h"
#include "model/layers.h"
#include "proftrace/events.h"
#include "report/run_document.h"
#include "util/map.h"
#include "util/text/fold.h"
#include "util/auto.h"
#include "util/text/path.h"

const struct pt_diff_table_kind pt_diff_tables[PT_DIFF__TABLES] = {
#define TABLE(id, path, label, apart, seconds, count, bytes, title)                                                    \
    {#id, path, label, apart, seconds, count, bytes, title},
#include "tables.def"
#undef TABLE
};

struct collecting {
    const struct pt_diff_table_kind *kind;
    struct pt_changes changes;
    struct pt_intern names;
    struct pt_map by_name;        /* address of the interned name -> index + 1 */
    bool is_cut[PT_DIFF__SIDES];  /* the run has more rows than its document */
    double least[PT_DIFF__SIDES]; /* of what its rows are ranked by */
};

static double amount(const cJSON *row, const char *key)
{
    const double number = *key ? pt_member_number(row, key) : 0;
    return isfinite(number) ? number : 0;
}

/* One run's files may lie in run-1, the other's in run-2. */
static const char *name_for(const struct pt_diff_table_kind *kind, const char *label, struct pt_str *folded)
{
    if (strcmp(kind->label, "path_group") != 0)
        return label;
    pt_fold_numbers(folded, label);
    return pt_str_text(folded);
}

/* Two checkouts have the same file in two folders, and an edited one has its functions in other lines. */
static struct pt_change *change_of(struct collecting *c, const cJSON *row, const char *label)
{
    const char *apart = *c->kind->apart ? pt_member_text(row, c->kind->apart) : NULL;
    const char *file = pt_member_text(row, "file");
    PT_AUTO(pt_str_fini) struct pt_str name = {0}, folded = {0};
    pt_str_printf(&name, "%s\n%s\n%s", name_for(c->kind, label, &folded), apart ? pt_base_name(apart) : "",
                  file ? pt_base_name(file) : "");
    uint64_t *index = pt_map_at(&c->by_name, (uintptr_t)pt_intern_text(&c->names, pt_str_text(&name)));
    if (!*index) {
        pt_vec_push(&c->changes, ((struct pt_change){.label = label, .apart = apart, .file = file}));
        *index = c->changes.n;
    }
    return &c->changes.items[*index - 1];
}

static void take_row(struct collecting *c, const cJSON *row, enum pt_diff_side side)
{
    const char *label = pt_member_text(row, c->kind->label);
    if (!label)
        return;
    struct pt_change *change = change_of(c, row, label);
    const double line = amount(row, "line"), line_s = amount(row, c->kind->seconds);
    if (line > 0 && (side > change->line_of || line_s >= change->line_s)) {
        change->line = line;
        change->line_s = line_s;
        change->line_of = side;
    }
    change->seconds[side] += amount(row, c->kind->seconds);
    change->count[side] += amount(row, c->kind->count);
    change->bytes[side] += amount(row, c->kind->bytes);
    change->is_in[side] = true;
    /* A range with a promise has its row however short it is: ranges that are not there may have more. */
    if (!(amount(row, "sla_s") > 0))
        c->least[side] = fmin(c->least[side], amount(row, *c->kind->seconds ? c->kind->seconds : c->kind->bytes));
}

/* A table that is cut holds the rows with the most time: one that is missing there has at most that of the last row,
 * and may have as much as in the other run. */
static bool is_known(const struct collecting *c, const struct pt_change *change)
{
    const double *of = *c->kind->seconds ? change->seconds : change->bytes;
    for (int side = 0; side < PT_DIFF__SIDES; side++)
        if (!change->is_in[side] && c->is_cut[side] && of[!side] < 2 * c->least[side])
            return false;
    return true;
}

/* The rows at "a.b.c" below an object; of each item of an array on the way. */
static void take(struct collecting *c, const cJSON *object, const char *path, enum pt_diff_side side)
{
    char key[64];
    const char *dot = strchr(path, '.');
    const size_t n = dot ? (size_t)(dot - path) : strlen(path);
    if (n >= sizeof key)
        return;
    memcpy(key, path, n);
    key[n] = '\0';
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key), *item;
    char left_out[sizeof key + sizeof "_left_out"];
    snprintf(left_out, sizeof left_out, "%s_left_out", key);
    c->is_cut[side] |= !dot && pt_member_number(object, left_out) > 0;
    if (!cJSON_IsArray(member)) {
        if (dot)
            take(c, member, dot + 1, side);
        return;
    }
    cJSON_ArrayForEach(item, member)
    {
        if (dot)
            take(c, item, dot + 1, side);
        else
            take_row(c, item, side);
    }
}

double pt_change_of(const struct pt_diff_table_kind *kind, const struct pt_change *change)
{
    const double *of = *kind->seconds ? change->seconds : change->bytes;
    return of[PT_DIFF_B] - of[PT_DIFF_A];
}

static int by_size(const void *a, const void *b, void *kind)
{
    const double x = fabs(pt_change_of(kind, a)), y = fabs(pt_change_of(kind, b));
    return x == y ? strcmp(((const struct pt_change *)a)->label, ((const struct pt_change *)b)->label)
                  : (x < y) - (x > y);
}

/* All rows of one table of two stages (either may be NULL), the largest change first. */
static struct pt_changes changes_of(const struct pt_diff_table_kind *kind, const cJSON *a, const cJSON *b)
{
    struct collecting c = {.kind = kind, .least = {INFINITY, INFINITY}};
    take(&c, a, kind->path, PT_DIFF_A);
    take(&c, b, kind->path, PT_DIFF_B);
    size_t n_known = 0;
    for (size_t i = 0; i < c.changes.n; i++)
        if (is_known(&c, &c.changes.items[i]))
            c.changes.items[n_known++] = c.changes.items[i];
    c.changes.n = n_known;
    if (c.changes.n)
        qsort_r(c.changes.items, c.changes.n, sizeof *c.changes.items, by_size, (void *)(uintptr_t)kind);
    pt_map_fini(&c.by_name);
    pt_intern_fini(&c.names);
    return c.changes;
}

bool pt_counts_samples(const struct pt_diff_table_kind *kind)
{
    return !strcmp(kind->count, "samples");
}

/* A stage that computed so long that a sampler had seen it. */
static bool lacks_samples(const struct pt_stage_pair *pair, enum pt_diff_side side)
{
    const double least_cpu_s = 0.05;
    for (int i = 0; i < PT_DIFF__TABLES; i++)
        for (size_t j = 0; pt_counts_samples(&pt_diff_tables[i]) && j < pair->changes[i].n; j++)
            if (pair->changes[i].items[j].count[side] > 0)
                return false;
    return !(pt_member_number(pair->of[side], "cpu_s") < least_cpu_s);
}

/* Without this each function of the other run would have gone from all of its time to none. */
static void drop_samples_of_one(struct pt_stage_pair *pair)
{
    const bool lacks_a = lacks_samples(pair, PT_DIFF_A), lacks_b = lacks_samples(pair, PT_DIFF_B);
    if (lacks_a == lacks_b || !pair->of[PT_DIFF_A] || !pair->of[PT_DIFF_B])
        return;
    pair->unsampled = lacks_a ? "A" : "B";
    for (int i = 0; i < PT_DIFF__TABLES; i++)
        if (pt_counts_samples(&pt_diff_tables[i]))
            pair->changes[i].n = 0;
}

static bool is_recorded(const cJSON *stage, const char *layer)
{
    return !cJSON_HasObjectItem(cJSON_GetObjectItemCaseSensitive(stage, "not_recorded"), layer);
}

static enum pt_layer layer_of_call(const char *call)
{
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
        if (pt_layer_of_kind(kind) != PT_LAYER__COUNT && !strcmp(pt_call_name(kind), call))
            return pt_layer_of_kind(kind);
    return PT_LAYER__COUNT;
}

static void drop_calls_of(struct pt_stage_pair *pair, enum pt_layer layer)
{
    struct pt_changes *calls = &pair->changes[PT_DIFF_calls];
    size_t kept = 0;
    for (size_t i = 0; i < calls->n; i++)
        if (layer_of_call(calls->items[i].label) != layer)
            calls->items[kept++] = calls->items[i];
    calls->n = kept;
}

/* Without this each file and call of the other run would have come, or gone. What neither records is compared as it is.
 */
static void drop_what_one_does_not_record(struct pt_stage_pair *pair)
{
    for (int layer = 0; layer < PT_LAYER__COUNT; layer++) {
        const char *name = pt_layer_name((enum pt_layer)layer);
        const bool is_a = is_recorded(pair->of[PT_DIFF_A], name), is_b = is_recorded(pair->of[PT_DIFF_B], name);
        if (!pair->of[PT_DIFF_A] || !pair->of[PT_DIFF_B] || is_a == is_b)
            continue;
        drop_calls_of(pair, (enum pt_layer)layer);
        pair->changes[PT_DIFF_places].n = 0;
        if (layer == PT_LAYER_IO || layer == PT_LAYER_STDIO)
            pair->changes[PT_DIFF_files].n = pair->changes[PT_DIFF_single_files].n =
                pair->changes[PT_DIFF_directories].n = 0;
        if (layer == PT_LAYER_IO)
            pair->changes[PT_DIFF_commands].n = 0;
        if (pair->unrecorded)
            continue;
        pair->unrecorded = is_a ? "B" : "A";
        pair->why_unrecorded = pt_member_text(
            cJSON_GetObjectItemCaseSensitive(pair->of[is_a ? PT_DIFF_B : PT_DIFF_A], "not_recorded"), name);
    }
}

void pt_pair_take_changes(struct pt_stage_pair *pair)
{
    for (int i = 0; i < PT_DIFF__TABLES; i++)
        pair->changes[i] = changes_of(&pt_diff_tables[i], pair->of[PT_DIFF_A], pair->of[PT_DIFF_B]);
    drop_samples_of_one(pair);
    drop_what_one_does_not_record(pair);
}

const struct pt_change *pt_change_largest(const struct pt_stage_pair *pair, enum pt_diff_table table, double direction,
                                          bool (*fits)(const struct pt_change *, const char *), const char *what)
{
    const struct pt_changes *changes = &pair->changes[table];
    for (size_t i = 0; i < changes->n; i++) /* the largest first */
        if (pt_change_of(&pt_diff_tables[table], &changes->items[i]) * direction > 0 &&
            pt_change_is_named(&changes->items[i]) && (!fits || fits(&changes->items[i], what)))
            return &changes->items[i];
    return NULL;
}

const struct pt_change *pt_change_of_function(const struct pt_stage_pair *pair, double direction)
{
    const struct pt_change *python = pt_change_largest(pair, PT_DIFF_python, direction, NULL, NULL);
    const struct pt_change *native = pt_change_largest(pair, PT_DIFF_native, direction, NULL, NULL);
    const struct pt_diff_table_kind *kind = &pt_diff_tables[PT_DIFF_native];
    if (!python || !native)
        return python ? python : native;
    return fabs(pt_change_of(kind, python)) >= 0.5 * fabs(pt_change_of(kind, native)) ? python : native;
}
