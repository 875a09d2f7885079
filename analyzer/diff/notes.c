/* SPDX-License-Identifier: MIT
 *
 * Owns: the notes of a comparison. Threads: one. Never: changes what is compared.
 */
#include "notes.h"

#include <math.h>
#include <string.h>

#include "report/run_document.h"
#include "util/auto.h"

static void add(struct pt_doc *doc, const char *note)
{
    doc->notes[doc->n_notes++] = note;
}

static void add_circumstances(struct pt_doc *doc, const cJSON *a, const cJSON *b)
{
    static const char *const same[][2] = {
        {"host", "machine"}, {"tool", "version of proftrace"}, {"dataset", "dataset"}, {"git_commit", "commit"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *of_a = pt_member_text(a, same[i][0]), *of_b = pt_member_text(b, same[i][0]);
        if (of_a && of_b && strcmp(of_a, of_b) != 0)
            add(doc, pt_doc_format(doc, "another %s: %s, then %s", same[i][1], of_a, of_b));
    }
}

static const cJSON *training_of(const struct pt_stage_pair *pair, enum pt_diff_side side)
{
    return cJSON_GetObjectItemCaseSensitive(pair->of[side], "training");
}

static bool was_cut_short(const struct pt_stage_pair *pair, enum pt_diff_side side)
{
    return cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(training_of(pair, side), "is_complete"));
}

/* A training that made a part of the steps was not faster. */
static void add_work(struct pt_doc *doc, const struct pt_stage_pair *pair)
{
    const double least_share = 0.02;
    const double a = pt_member_number(training_of(pair, PT_DIFF_A), "steps");
    const double b = pt_member_number(training_of(pair, PT_DIFF_B), "steps");
    const bool is_a_cut = was_cut_short(pair, PT_DIFF_A), is_b_cut = was_cut_short(pair, PT_DIFF_B);
    if (is_a_cut != is_b_cut)
        add(doc, pt_doc_format(doc, "%s: %s did not come to its end%s", pair->name, is_a_cut ? "A" : "B",
                               isnan(a) || isnan(b) ? "" : pt_doc_format(doc, " (%.0f steps in A, %.0f in B)", a, b)));
    else if (fabs(a - b) > least_share * fmax(a, b))
        add(doc, pt_doc_format(doc, "%s: A made %.0f steps, B %.0f", pair->name, a, b));
}

static void add_notes_of_stage(struct pt_doc *doc, const struct pt_stage_pair *pair)
{
    if (pair->unsampled)
        add(doc,
            pt_doc_format(doc, "%s: %s has no CPU profile: its functions are not known", pair->name, pair->unsampled));
    if (pair->unrecorded)
        add(doc, pt_doc_format(doc, "%s: not all calls of %s are compared: %s", pair->name, pair->unrecorded,
                               pair->why_unrecorded ? pair->why_unrecorded : "not recorded"));
    add_work(doc, pair);
}

static void add_quality(struct pt_doc *doc, const char *name, const cJSON *document)
{
    const struct pt_lost_events lost = pt_document_lost(document);
    const char *of_calls = lost.in_no_total > 0 ? pt_doc_format(doc, ", and its calls %.0f", lost.in_no_total) : "";
    PT_AUTO(pt_str_fini) struct pt_str lacks = {0};
    if (lost.all > 0)
        add(doc, pt_doc_format(doc, "%s lost %.0f events: its files, places and percentiles lack them%s", name,
                               lost.all, of_calls));
    pt_document_lacks(document, &lacks);
    if (lacks.n)
        add(doc, pt_doc_format(doc, "%s is not whole: %s: its figures of calls may be too small", name,
                               pt_str_text(&lacks)));
}

void pt_diff_add_notes(struct pt_doc *doc, const struct pt_stage_pair *pairs, size_t n, const cJSON *a, const cJSON *b)
{
    enum { MOST_OF_RUNS = 8, MOST_OF_STAGE = 3 };
    doc->notes = pt_arena_alloc(&doc->arena, (MOST_OF_RUNS + MOST_OF_STAGE * n) * sizeof *doc->notes);
    add_circumstances(doc, a, b);
    for (size_t i = 0; i < n; i++)
        add_notes_of_stage(doc, &pairs[i]);
    add_quality(doc, "A", a);
    add_quality(doc, "B", b);
}
