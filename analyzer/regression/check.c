/* SPDX-License-Identifier: MIT
 *
 * Owns: which stages and runs are held against each other, and the verdict. Threads: one. Never: compares what differs
 * for another reason, or passes over a stage that the baseline has.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_document.h"
#include "util/auto.h"
#include "baseline.h"
#include "import.h"
#include "peers.h"

/* ---- figures of a stage ---- */

static void add_name(struct pt_judged_figures *figures, const char *name, bool with_times)
{
    const enum pt_figure_kind kind = pt_figure_kind_of(name);
    for (size_t i = 0; i < figures->n; i++)
        if (!strcmp(figures->items[i].name, name))
            return;
    if (!pt_figure_is_time(kind) || with_times)
        pt_vec_push(
            figures,
            ((struct pt_judged){
                .name = name, .kind = kind, .p = NAN, .p_together = NAN, .p_less = NAN, .p_less_together = NAN}));
}

static void add_names(struct pt_judged_figures *figures, const cJSON *entry, bool with_times)
{
    const cJSON *figure;
    cJSON_ArrayForEach(figure, cJSON_GetObjectItemCaseSensitive(entry, "figures"))
    {
        add_name(figures, figure->string, with_times);
    }
}

static void collect(struct pt_checked_stage *stage, const struct pt_peers *peers, cJSON *const *entries, size_t n,
                    bool with_times)
{
    for (size_t i = 0; i < n; i++)
        add_names(&stage->figures, entries[i], with_times);
    for (size_t i = 0; i < peers->n; i++)
        add_names(&stage->figures, peers->items[i].run, with_times);
    for (size_t i = 0; i < stage->figures.n; i++) {
        struct pt_judged *of = &stage->figures.items[i];
        const bool is_time = pt_figure_is_time(of->kind);
        bool has_unknown = false;
        for (size_t j = 0; j < peers->n && of->n_a < PT_SAMPLE_MOST; j++) {
            const double value = pt_figure_value(peers->items[j].run, of->name);
            if (isfinite(value) && (!is_time || peers->items[j].is_same_machine))
                of->a[of->n_a++] = value;
        }
        for (size_t j = 0; j < n && of->n_b < PT_SAMPLE_MOST; j++) {
            const double value = pt_figure_value(entries[j], of->name);
            if (isfinite(value))
                of->b[of->n_b++] = value;
            has_unknown |= !isfinite(value);
        }
        if (has_unknown && !is_time)
            of->n_b = 0; /* not known in all */
        pt_figure_take_level(of);
    }
}

/* ---- stages ---- */

/* Those of one stage in the runs that are checked. */
struct entries {
    cJSON **items;
    size_t n;
};

static bool any_has(const cJSON *const *documents, size_t n, const char *stage)
{
    for (size_t i = 0; i < n; i++)
        if (pt_stage_named(documents[i], stage))
            return true;
    return false;
}

/* Each run has the stage; of benchmarks, each was measured as often as its tool thought fit. Returns NULL, or why they
 * cannot be compared. */
static const char *entries_of(const struct pt_check *check, struct pt_doc *doc, const char *stage,
                              struct entries *entries)
{
    for (size_t i = 0; i < check->n_documents; i++) {
        struct pt_error err = {0};
        const cJSON *of = pt_stage_named(check->documents[i], stage);
        if (!of && pt_import_is_benchmark(check->documents[i]))
            continue;
        if (!of)
            return check->n_documents == 1 ? "the run has no such stage"
                                           : pt_doc_format(doc, "run %zu has no such stage", i + 1);
        cJSON **entry = &entries->items[entries->n];
        if (pt_baseline_entry(check->documents[i], of, entry, &err) < 0)
            return pt_doc_text(doc, err.text);
        const char *why =
            entries->n++ ? pt_peers_differ(doc, entries->items[0], *entry, i + 1, check->with_times) : NULL;
        if (why)
            return why;
    }
    return entries->n ? NULL : "the run has no such stage";
}

static void compare(const struct pt_check *check, struct pt_doc *doc, struct pt_checked_stage *stage,
                    const struct entries *entries, const cJSON *runs)
{
    struct pt_peers peers = pt_peers_of(doc, runs, entries->items[0]);
    stage->reason = peers.reason;
    stage->note = peers.left_out;
    if (!peers.reason)
        collect(stage, &peers, entries->items, entries->n, check->with_times);
    for (size_t i = 0; i < stage->figures.n; i++) {
        struct pt_judged *figure = &stage->figures.items[i];
        figure->name = pt_doc_text(doc, figure->name); /* the entries go */
        if (pt_figure_is_time(figure->kind) && !peers.no_times)
            pt_figure_test(figure);
        else if (pt_figure_is_time(figure->kind))
            figure->how = peers.no_times;
    }
    free(peers.items);
}

static void check_stage(const struct pt_check *check, struct pt_checked *checked, const char *name)
{
    PT_AUTO(pt_freep) cJSON **items = pt_calloc(check->n_documents + 1, sizeof *items);
    struct entries entries = {.items = items};
    const cJSON *runs = pt_baseline_runs(check->baseline, name);
    struct pt_checked_stage stage = {.name = pt_doc_text(checked->doc, name)};
    stage.reason = runs ? entries_of(check, checked->doc, name, &entries)
                        : "the baseline has no run of this stage: `proftrace baseline add` puts one there";
    if (!stage.reason)
        compare(check, checked->doc, &stage, &entries, runs);
    for (size_t i = 0; i < entries.n; i++)
        cJSON_Delete(items[i]);
    pt_vec_push(&checked->stages, stage);
}

static void add_note(struct pt_doc *doc, const char *note)
{
    const char **notes = pt_arena_alloc(&doc->arena, (doc->n_notes + 1) * sizeof *notes);
    if (doc->n_notes)
        memcpy(notes, doc->notes, doc->n_notes * sizeof *notes);
    notes[doc->n_notes++] = note;
    doc->notes = notes;
}

/* Those of one document that none before it has. */
static void check_document(const struct pt_check *check, struct pt_checked *checked, size_t index)
{
    const cJSON *stage;
    const cJSON *const *documents = (const cJSON *const *)check->documents;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(documents[index], "stages"))
    {
        const char *name = pt_member_text(stage, "stage");
        if (name && any_has(documents, index, name))
            continue;
        if (name && pt_stage_is_left_out(stage))
            add_note(checked->doc,
                     pt_doc_format(checked->doc, "%s is not compared: %s", name, pt_member_text(stage, "reason")));
        else if (name)
            check_stage(check, checked, name);
    }
}

/* Those of the first run, and of all benchmarks; then those that only the baseline has: something may have kept them
 * from being run. */
static void check_stages(const struct pt_check *check, struct pt_checked *checked)
{
    const cJSON *stage;
    const cJSON *const *documents = (const cJSON *const *)check->documents;
    size_t n = 0;
    do
        check_document(check, checked, n++);
    while (n < check->n_documents && pt_import_is_benchmark(documents[n]));
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(check->baseline, "stages"))
    {
        if (stage->child && !any_has(documents, n, stage->string))
            pt_vec_push(
                &checked->stages,
                ((struct pt_checked_stage){
                    .name = pt_doc_text(checked->doc, stage->string),
                    .reason = "the run has no such stage, and the baseline has; --stage compares a single one"}));
    }
}

/* ---- the verdict ---- */

static double *p_of(struct pt_judged *figure, bool is_less, bool is_together)
{
    if (is_less)
        return is_together ? &figure->p_less_together : &figure->p_less;
    return is_together ? &figure->p_together : &figure->p;
}

/* Chance has as many tries as times are tested, of all stages. */
static void test_together(struct pt_checked *checked, bool is_less)
{
    struct {
        PT_VEC(double);
    } p = {0};
    size_t n = 0;
    for (size_t i = 0; i < checked->stages.n; i++)
        for (size_t j = 0; j < checked->stages.items[i].figures.n; j++)
            if (!isnan(*p_of(&checked->stages.items[i].figures.items[j], is_less, false)))
                pt_vec_push(&p, *p_of(&checked->stages.items[i].figures.items[j], is_less, false));
    pt_holm(p.items, p.n);
    for (size_t i = 0; i < checked->stages.n; i++)
        for (size_t j = 0; j < checked->stages.items[i].figures.n; j++)
            if (!isnan(*p_of(&checked->stages.items[i].figures.items[j], is_less, false)))
                *p_of(&checked->stages.items[i].figures.items[j], is_less, true) = p.items[n++];
    free(p.items);
}

static void judge_figure(const struct pt_check *check, struct pt_checked *checked, const char *stage,
                         struct pt_judged *figure)
{
    const char *no_times = figure->how; /* set where times of another machine are all there is */
    pt_figure_judge(checked->doc, figure, check->threshold_percent);
    if (no_times)
        figure->how = no_times;
    checked->is_near |= figure->is_near || figure->state == PT_FIGURE_WORSE;
    if (figure->state != PT_FIGURE_WORSE && figure->is_undecided)
        pt_vec_push(&checked->undecided, pt_doc_format(checked->doc, "%s: %s: %s", stage, figure->name, figure->how));
}

/* One that is worse, and of which stage. */
struct worse {
    const struct pt_judged *figure;
    const char *stage;
};

static int by_weight(const void *a, const void *b)
{
    const struct worse *x = a, *y = b;
    const int order = pt_judged_by_weight(x->figure, y->figure);
    return order ? order : strcmp(x->stage, y->stage);
}

/* In the tables, too. What is not worse stays in its order. */
static int worse_first(const void *a, const void *b)
{
    const struct pt_judged *x = a, *y = b;
    const bool is_x = x->state == PT_FIGURE_WORSE, is_y = y->state == PT_FIGURE_WORSE;
    if (is_x != is_y)
        return is_x ? -1 : 1;
    return is_x ? pt_judged_by_weight(x, y) : (x->place > y->place) - (x->place < y->place);
}

/* The first line names the first of them. */
static void tell_worse(struct pt_checked *checked)
{
    struct {
        PT_VEC(struct worse);
    } all = {0};
    for (size_t i = 0; i < checked->stages.n; i++) {
        const struct pt_checked_stage *stage = &checked->stages.items[i];
        if (stage->figures.n)
            qsort(stage->figures.items, stage->figures.n, sizeof *stage->figures.items, worse_first);
        for (size_t j = 0; j < stage->figures.n; j++)
            if (stage->figures.items[j].state == PT_FIGURE_WORSE)
                pt_vec_push(&all, ((struct worse){&stage->figures.items[j], stage->name}));
    }
    if (all.n)
        qsort(all.items, all.n, sizeof *all.items, by_weight);
    for (size_t i = 0; i < all.n; i++)
        pt_vec_push(&checked->worse, pt_judged_sentence(checked->doc, all.items[i].stage, all.items[i].figure));
    free(all.items);
}

static void judge_stages(const struct pt_check *check, struct pt_checked *checked)
{
    for (size_t i = 0; i < checked->stages.n; i++) {
        struct pt_checked_stage *stage = &checked->stages.items[i];
        if (stage->reason)
            pt_vec_push(&checked->undecided, pt_doc_format(checked->doc, "%s: %s", stage->name, stage->reason));
        for (size_t j = 0; j < stage->figures.n; j++) {
            stage->figures.items[j].place = j;
            judge_figure(check, checked, stage->name, &stage->figures.items[j]);
        }
    }
    tell_worse(checked);
    if (!checked->stages.n)
        pt_vec_push(&checked->undecided, "there is no stage that could be compared");
    checked->result = checked->worse.n ? PT_CHECK_WORSE : checked->undecided.n ? PT_CHECK_UNDECIDED : PT_CHECK_OK;
}

void pt_check(const struct pt_check *check, struct pt_checked *checked)
{
    *checked = (struct pt_checked){.doc = pt_doc_new()};
    if (check->n_repeated)
        add_note(checked->doc, pt_doc_format(checked->doc, "%zu of the runs %s named more than once, and count%s once",
                                             check->n_repeated, check->n_repeated == 1 ? "was" : "were",
                                             check->n_repeated == 1 ? "s" : ""));
    if (check->stage)
        check_stage(check, checked, check->stage);
    else
        check_stages(check, checked);
    test_together(checked, false);
    test_together(checked, true);
    judge_stages(check, checked);
}

void pt_checked_fini(struct pt_checked *checked)
{
    for (size_t i = 0; i < checked->stages.n; i++)
        free(checked->stages.items[i].figures.items);
    free(checked->stages.items);
    free(checked->worse.items);
    free(checked->undecided.items);
    pt_doc_free(checked->doc);
}
