/* SPDX-License-Identifier: MIT
 *
 * Owns: which call of one run is which of the other. Threads: one. Never: draws what only A has: the tables of
 * functions say that.
 */
#include "flame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_document.h"
#include "util/auto.h"
#include "util/text/path.h"

enum { DEEPEST = 64 };

/* A function below the one that called it. */
struct call {
    const char *function, *module, *kind;
    size_t parent;
    unsigned depth, folded;
    double total_s[PT_DIFF__SIDES], self_s[PT_DIFF__SIDES];
};

struct calls {
    PT_VEC(struct call);
};

/* Without how many threads there were: "python3 (3 threads)". */
static size_t length_of_name(const char *function)
{
    const char *count = strrchr(function, '(');
    const size_t n = strlen(function);
    return count && count > function && pt_ends_with(function, " threads)") ? (size_t)(count - 1 - function) : n;
}

static bool is_same_name(const char *a, const char *b)
{
    const size_t n = length_of_name(a);
    return n == length_of_name(b) && !strncmp(a, b, n);
}

static size_t place_of(struct calls *calls, size_t parent, unsigned depth, const cJSON *row)
{
    const char *function = pt_member_text(row, "function");
    function = function ? function : "?";
    for (size_t i = 0; i < calls->n; i++)
        if (calls->items[i].depth == depth && (!depth || calls->items[i].parent == parent) &&
            is_same_name(calls->items[i].function, function))
            return i;
    pt_vec_push(calls, ((struct call){.function = function,
                                      .module = pt_member_text(row, "module"),
                                      .kind = pt_member_text(row, "kind"),
                                      .parent = parent,
                                      .depth = depth}));
    return calls->n - 1;
}

static double seconds(const cJSON *row, const char *key)
{
    const double value = pt_member_number(row, key);
    return isfinite(value) ? value : 0;
}

/* Rows are callers before what they called. */
static void take(struct calls *calls, const cJSON *stage, enum pt_diff_side side)
{
    size_t at[DEEPEST] = {0};
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(stage, "cpu_flame"))
    {
        const double depth = pt_member_number(row, "depth");
        if (!(depth >= 0 && depth < DEEPEST))
            continue;
        const unsigned level = (unsigned)depth;
        at[level] = place_of(calls, level ? at[level - 1] : 0, level, row);
        struct call *call = &calls->items[at[level]];
        const char *function = pt_member_text(row, "function");
        call->function = function ? function : call->function; /* of the later run, if both have it */
        call->total_s[side] += seconds(row, "total_s");
        call->self_s[side] += seconds(row, "self_s");
        call->folded = (unsigned)fmax(0, seconds(row, "frames") - 1);
    }
}

static int by_width(const void *a, const void *b, void *calls)
{
    const struct call *x = &((const struct calls *)calls)->items[*(const size_t *)a];
    const struct call *y = &((const struct calls *)calls)->items[*(const size_t *)b];
    if (x->total_s[PT_DIFF_B] != y->total_s[PT_DIFF_B])
        return x->total_s[PT_DIFF_B] < y->total_s[PT_DIFF_B] ? 1 : -1;
    return strcmp(x->function, y->function);
}

/* A call and what it calls, from `start_s` on; what B has not, and what lies below that, is not drawn. */
static void draw(struct pt_doc *doc, struct pt_flame *flame, struct calls *calls, size_t which, double start_s)
{
    const struct call *call = &calls->items[which];
    PT_AUTO(pt_freep) size_t *below = pt_calloc(calls->n, sizeof *below);
    size_t n = 0;
    flame->frames[flame->n++] = (struct pt_flame_frame){.function = pt_doc_text(doc, call->function),
                                                        .module = pt_doc_text(doc, call->module),
                                                        .kind = pt_flame_kind_of(call->kind),
                                                        .depth = call->depth,
                                                        .folded = call->folded,
                                                        .start_s = start_s,
                                                        .total_s = call->total_s[PT_DIFF_B],
                                                        .self_s = call->self_s[PT_DIFF_B],
                                                        .before_s = call->total_s[PT_DIFF_A]};
    flame->rows = call->depth + 1 > flame->rows ? call->depth + 1 : flame->rows;
    for (size_t i = 0; i < calls->n; i++)
        if (calls->items[i].depth == call->depth + 1 && calls->items[i].parent == which &&
            calls->items[i].total_s[PT_DIFF_B] > 0)
            below[n++] = i;
    qsort_r(below, n, sizeof *below, by_width, calls);
    for (size_t i = 0; i < n; i++) {
        draw(doc, flame, calls, below[i], start_s);
        start_s += calls->items[below[i]].total_s[PT_DIFF_B];
    }
}

struct pt_panel *pt_diff_flame(struct pt_doc *doc, const struct pt_stage_pair *pair)
{
    struct calls calls = {0};
    struct pt_panel *panel = NULL;
    take(&calls, pair->of[PT_DIFF_A], PT_DIFF_A);
    take(&calls, pair->of[PT_DIFF_B], PT_DIFF_B);
    if (calls.n && calls.items[0].total_s[PT_DIFF_A] > 0 && calls.items[0].total_s[PT_DIFF_B] > 0) {
        panel = pt_doc_panel(doc, PT_PANEL_FLAME, "cpu_flame", "CPU flame graph of B, coloured by B - A");
        panel->flame = pt_arena_alloc(&doc->arena, sizeof *panel->flame);
        *panel->flame =
            (struct pt_flame){.name = "flame",
                              .title = panel->title,
                              .stage = pt_doc_text(doc, pair->name),
                              .is_difference = true,
                              .frames = pt_arena_alloc(&doc->arena, calls.n * sizeof(struct pt_flame_frame))};
        draw(doc, panel->flame, &calls, 0, 0);
    }
    free(calls.items);
    return panel;
}
