/* SPDX-License-Identifier: MIT
 *
 * Owns: the first sentence of every report: the result, what took longest, what could be gained. Threads: one. Never:
 * claims what the document does not show.
 */
#include "verdict.h"

#include <math.h>

#include "facts/wait_kind.h"
#include "report/outcome.h"
#include "util/auto.h"
#include "util/str.h"
#include "util/text/fmt.h"
#include "program.h"

/* What a main thread does in a part of its time. */
static const char *const doing[PT_PART__COUNT] = {
    [PT_PART_gpu_wait] = "waits for the GPU",
    [PT_PART_copy] = "waits for copies to or from the GPU",
    [PT_PART_file_read] = "reads files",
    [PT_PART_file_write] = "writes files",
    [PT_PART_file_meta] = "opens and looks for files",
    [PT_PART_network] = "waits for the network",
    [PT_PART_data_wait] = "waits for data from other processes",
    [PT_PART_idle] = "waits for something to do",
    [PT_PART_lock] = "waits for locks",
    [PT_PART_gil_wait] = "waits for Python's GIL",
    [PT_PART_sleep] = "sleeps",
    [PT_PART_child_wait] = "waits for child processes",
    [PT_PART_workers] = "waits for its own workers",
    [PT_PART_page_fault] = "waits for pages of memory",
    [PT_PART_heap] = "allocates and frees memory",
    [PT_PART_python] = "runs Python",
    [PT_PART_native] = "runs native code",
    [PT_PART_computing] = "computes",
    [PT_PART_runnable] = "waits for a CPU",
};

/* What its workers do while it waits for them. */
static const char *const meanwhile[PT_PART__COUNT] = {
    [PT_PART_file_read] = ", which read files,",
    [PT_PART_file_write] = ", which write files,",
    [PT_PART_file_meta] = ", which open and look for files,",
    [PT_PART_network] = ", which wait for the network,",
    [PT_PART_lock] = ", which wait for locks,",
    [PT_PART_gil_wait] = ", which wait for Python's GIL,",
    [PT_PART_sleep] = ", which sleep,",
    [PT_PART_child_wait] = ", which wait for child processes,",
    [PT_PART_page_fault] = ", which wait for pages of memory,",
    [PT_PART_computing] = ", which compute,",
    [PT_PART_runnable] = ", which wait for a CPU,",
};

static void put_seconds(struct pt_str *out, double seconds)
{
    pt_str_add(out, pt_fmt_duration((pt_i64)llround(seconds * 1e9)).text);
}

/* ---- what took longest ---- */

static const struct pt_bar_part *largest(const struct pt_bar *bar, const struct pt_bar_part *but)
{
    const struct pt_bar_part *most = NULL;
    for (pt_u32 i = 0; i < bar->n_parts; i++)
        if (&bar->parts[i] != but && (!most || bar->parts[i].seconds > most->seconds))
            most = &bar->parts[i];
    return most;
}

static bool is_unknown(const struct pt_bar_part *part)
{
    return part->color == PT_PART_unattributed + 1;
}

/* What takes more than half of the time for which workers are waited for; "" = nothing does, or it is not known: who
 * pauses and looks again is followed to nobody. */
static const char *what_workers_do(const struct pt_build *b, const struct pt_doc_stage *stage)
{
    const struct pt_table *waits = pt_view_table(&b->profile->metrics, stage->index, PT_VIEW_waits);
    double seconds[PT_PART__COUNT] = {0}, all_s = 0;
    for (size_t row = 0; waits && row < waits->n_rows; row++) {
        if (pt_table_number(waits, row, "step") != 1)
            continue;
        all_s += pt_table_number(waits, row, "total_s");
        for (int part = 0; part < PT_PART__COUNT; part++) {
            const double s = meanwhile[part] ? pt_table_number(waits, row, pt_time_parts[part].key) : 0;
            seconds[part] += s > 0 ? s : 0;
        }
    }
    const double workers_s = pt_value_number(pt_build_metric(b, stage->index, pt_time_parts[PT_PART_workers].metric));
    for (int part = 0; part < PT_PART__COUNT; part++)
        if (all_s > 0 && all_s > workers_s / 2 && seconds[part] > all_s / 2)
            return meanwhile[part];
    return "";
}

/* What is not known is said as such: it is nothing that the thread does. */
static void put_doing(struct pt_str *out, const struct pt_build *b, const struct pt_doc_stage *stage)
{
    enum { LEAST_SHOWN_PERCENT = 10 };
    const double length_s = pt_cell_number(stage->time.length);
    const struct pt_bar_part *first = largest(&stage->time, NULL);
    const struct pt_bar_part *second = first ? largest(&stage->time, first) : NULL;
    if (!first || !(length_s > 0))
        return;
    const bool has_second = second && 100 * second->seconds / length_s >= LEAST_SHOWN_PERCENT;
    const struct pt_bar_part *said[] = {first, has_second ? second : NULL}, *unknown = NULL;
    size_t n = 0;
    for (size_t i = 0; i < 2 && said[i]; i++) {
        if (is_unknown(said[i])) {
            unknown = said[i];
            continue;
        }
        const int part = said[i]->color - 1;
        pt_str_printf(out, "%s %s%s %.0f %%%s", n ? " and" : " Its main thread", doing[part],
                      part == PT_PART_workers ? what_workers_do(b, stage) : "", 100 * said[i]->seconds / length_s,
                      n ? "" : " of the time");
        n++;
    }
    if (unknown)
        pt_str_printf(out, n ? "; nobody measured %.0f %%" : " Nobody measured %.0f %% of its main thread's time",
                      100 * unknown->seconds / length_s);
    pt_str_char(out, '.');
}

static const struct pt_doc_stage *longest(const struct pt_doc *doc)
{
    for (size_t i = 0; i < doc->stages.n; i++)
        if (doc->stages.items[i]->is_longest)
            return doc->stages.items[i];
    return NULL;
}

/* The finding with the largest gain, about the program or about others; NULL = none has any. */
static const struct pt_doc_finding *best(const struct pt_doc *doc, bool is_of_others)
{
    const struct pt_doc_finding *most = NULL;
    for (size_t i = 0; i < doc->findings.n; i++) {
        const struct pt_finding *of = doc->findings.items[i].of;
        if ((of->others != NULL) == is_of_others && of->gain_upper_s > (most ? most->of->gain_upper_s : 0))
            most = &doc->findings.items[i];
    }
    return most;
}

static void put_most(struct pt_str *out, const struct pt_doc *doc, const struct pt_doc_finding *finding,
                     const char *before, const char *after)
{
    if (!finding)
        return;
    pt_str_add(out, before);
    put_seconds(out, finding->of->gain_upper_s);
    pt_str_printf(out, " (%.0f %%%s)%s", finding->of->gain_upper_percent, pt_doc_whole(doc), after);
    if (finding->stage && doc->stages.n > 1)
        pt_str_printf(out, " in %s", finding->stage->name);
    pt_str_char(out, '.');
}

/* What other programs took is nothing that a change of this one saves. */
static void put_gain(struct pt_str *out, const struct pt_doc *doc)
{
    const struct pt_doc_finding *others = best(doc, true);
    put_most(out, doc, best(doc, false), " Up to ", " could be saved");
    if (others) {
        pt_str_printf(out, " %s took", others->of->others);
        put_most(out, doc, others, " up to ", "");
    }
}

/* ---- how it went ---- */

/* Of many failures the first ones: the summary's table has all stages where there is room, and failures have a list. */
static void put_failures(struct pt_str *out, const struct pt_doc *doc)
{
    enum { MOST_NAMED = 5 };
    size_t n = 0;
    for (size_t i = 0; i < doc->stages.n; i++) {
        const struct pt_doc_stage *stage = doc->stages.items[i];
        const char *reason = pt_cell_text(stage->reason);
        if (stage->was_skipped || !strcmp(stage->status, "ok"))
            continue;
        if (n++ >= MOST_NAMED)
            continue;
        pt_str_printf(out, " %s: %s", stage->name, stage->status);
        if (reason)
            pt_str_printf(out, " (%s)", reason);
        pt_str_char(out, '.');
    }
    if (n > MOST_NAMED)
        pt_str_printf(out, " And %zu more.", n - MOST_NAMED);
}

static void put_pipeline(struct pt_str *out, const struct pt_doc *doc)
{
    const struct pt_doc_stage *slowest = longest(doc);
    size_t n_skipped = 0;
    for (size_t i = 0; i < doc->stages.n; i++)
        n_skipped += doc->stages.items[i]->was_skipped;
    if (doc->dataset)
        pt_str_add(out, doc->dataset);
    if (isfinite(doc->epochs))
        pt_str_printf(out, "%s%.0f epoch%s", doc->dataset ? ", " : "", doc->epochs, doc->epochs == 1 ? "" : "s");
    pt_str_add(out, out->n ? ": " : "");
    if (isfinite(doc->duration_s)) {
        put_seconds(out, doc->duration_s);
        pt_str_add(out, " in ");
    }
    const size_t n_run = doc->stages.n - n_skipped;
    pt_str_printf(out, "%zu stage%s", n_run, n_run == 1 ? "" : "s");
    if (n_skipped)
        pt_str_printf(out, ", %zu skipped", n_skipped);
    pt_str_char(out, '.');
    put_failures(out, doc);
    if (slowest && slowest->share_percent > 0)
        pt_str_printf(out, " %s takes %.0f %%.", slowest->name, slowest->share_percent);
}

static void put_program(struct pt_str *out, const struct pt_build *b, const struct pt_doc_stage *stage)
{
    const char *reason = pt_cell_text(stage->reason);
    const double duration_s = pt_cell_number(stage->duration);
    const char *name = pt_build_program_name(b, stage->index);
    pt_str_add(out, name);
    if (strcmp(name, stage->name) != 0) /* tables have that name, and --stage takes it */
        pt_str_printf(out, " (stage %s)", stage->name);
    pt_str_add(out, ": ");
    if (isfinite(duration_s)) {
        put_seconds(out, duration_s);
        pt_str_add(out, ", ");
    }
    pt_str_add(out, reason ? reason : stage->status);
    pt_str_char(out, '.');
    const struct pt_value of = pt_build_metric(b, stage->index, "account.of");
    if (of.type == PT_VALUE_TEXT)
        pt_str_printf(out, " The times are those of %s, which then only waits.", of.text);
    put_doing(out, b, stage);
}

void pt_build_verdict(const struct pt_build *b)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const struct pt_value window = pt_report_window(b->profile, &b->doc->arena);
    if (window.type == PT_VALUE_TEXT)
        pt_str_printf(&text, "A window, %s. ", window.text);
    if (!b->doc->stages.n)
        pt_str_add(&text, "Nothing was captured.");
    else if (b->doc->stages.n > 1)
        put_pipeline(&text, b->doc);
    else
        put_program(&text, b, b->doc->stages.items[0]);
    put_gain(&text, b->doc);
    b->doc->verdict = pt_doc_text(b->doc, pt_str_text(&text));
}
