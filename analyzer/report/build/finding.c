/* SPDX-License-Identifier: MIT
 *
 * Owns: the labels of evidence, and the rows of a table that belong to it. Threads: one. Never: judges.
 */
#include "finding.h"

#include <math.h>

#include "facts/wait_kind.h"
#include "util/text/fmt.h"
#include "program.h"

static void add_fact(struct pt_lines *lines, const struct pt_evidence *fact)
{
    const char *label = pt_evidence_label(fact->key);
    pt_doc_line(lines, fact->key, label ? label : fact->key, fact->show, fact->value);
}

/* The rows that the rule chose, as a table of their own. */
static struct pt_panel *rows_of(const struct pt_build *b, const struct pt_finding *finding)
{
    const struct pt_table *from = finding->table;
    struct pt_table *table;
    if (!from || !finding->n_rows)
        return NULL;
    const struct pt_table_view *view = &pt_table_views[from->view];
    struct pt_panel *panel = pt_doc_table(b->doc, view->name, view->label, from->columns, from->n_columns, &table);
    for (pt_u32 i = 0; i < finding->n_rows; i++)
        pt_table_copy_row(table, from, finding->rows[i]);
    return panel;
}

static struct pt_doc_stage *stage_of(const struct pt_build *b, const struct pt_finding *finding)
{
    for (size_t i = 0; i < b->doc->stages.n; i++)
        if ((pt_i64)b->doc->stages.items[i]->index == finding->stage)
            return b->doc->stages.items[i];
    return NULL;
}

static void add_mark(const struct pt_build *b, struct pt_doc_stage *stage, const struct pt_doc_finding *finding)
{
    struct pt_bar *bar = &stage->time;
    const pt_u32 color = (pt_u32)finding->of->part + 1;
    bool is_there = false;
    for (pt_u32 i = 0; i < bar->n_parts; i++)
        is_there |= bar->parts[i].color == color;
    if (!is_there)
        return;
    if (!bar->marks)
        bar->marks = pt_arena_alloc(&b->doc->arena, b->findings->n * sizeof *bar->marks);
    bar->marks[bar->n_marks++] =
        (struct pt_bar_mark){finding->number, color, b->doc->findings.n < PT_DOC_MOST_FINDINGS_OF_A_PAGE};
}

static const char *text_in(const struct pt_table *table, const struct pt_value *row, const char *key)
{
    const pt_u32 column = pt_table_column(table, key);
    return column < table->n_columns && row[column].type == PT_VALUE_TEXT ? pt_value_label(row[column]) : NULL;
}

/* The name of a row: of whom it waited for, where its first column is the part of the account. */
static const char *row_name(const struct pt_table *table, const struct pt_value *row)
{
    const char *waited_for = text_in(table, row, "waited_for");
    return waited_for ? waited_for : text_in(table, row, table->columns[0].key);
}

/* A function or a phase is what cost the time, not what it went into. */
static bool is_of_code(const struct pt_table *table)
{
    return !strcmp(table->columns[0].key, "function") || !strcmp(table->columns[0].key, "phase");
}

/* A line of a terminal is cut at its end: the address comes last, what it is of first. */
static const char *held_in(const struct pt_build *b, const char *lock, const char *holder, const char *in)
{
    const char *address = strstr(lock, " 0x");
    return address
               ? pt_doc_format(b->doc, "%.*s held in %s, by %s:%s", (int)(address - lock), lock, in, holder, address)
               : pt_doc_format(b->doc, "held in %s, by %s: %s", in, holder, lock);
}

/* What it is about, by the first of its rows: a file, a host, a lock and who holds it. A process says something where
 * no place does. */
static const char *object_of(const struct pt_build *b, const struct pt_finding *of)
{
    const struct pt_table *table = of->table;
    if (!table || !of->n_rows || is_of_code(table) || (of->place.text && !strcmp(table->columns[0].key, "process")))
        return NULL;
    const struct pt_value *row = pt_table_row(table, of->rows[0]);
    const char *object = row_name(table, row);
    const char *last = text_in(table, row, "last"); /* at a barrier */
    const char *holder = text_in(table, row, "holder"), *in = text_in(table, row, "holder_in");
    if (object && last)
        return pt_doc_format(b->doc, "barrier %s, where %s mostly comes last", object, last);
    if (!object || !holder || !strcmp(holder, "unknown"))
        return object;
    if (in && *in != '[')
        return held_in(b, object, holder, in);
    return pt_doc_format(b->doc, "%s, held mostly by %s", object, holder);
}

/* Without the parameters of C++ functions: "f(int, std::vector<long>) (a.so)" -> "f (a.so)". A file after a space
 * stays. */
static const char *short_name(const struct pt_build *b, const char *name)
{
    if (!name)
        return NULL;
    char *copy = pt_arena_text(&b->doc->arena, name, strlen(name)), *to = copy;
    int depth = 0;
    for (const char *at = copy; *at; at++) {
        const bool opens = *at == '(' && (depth || (at != copy && at[-1] != ' ' && at[-1] != ')'));
        depth += opens;
        if (!depth)
            *to++ = *at;
        depth -= depth && *at == ')';
    }
    *to = 0;
    return copy;
}

/* Of a finding about imports, which has no rows. */
static const char *modules_of(const struct pt_finding *of)
{
    for (pt_u32 i = 0; i < of->n_evidence; i++)
        if (!strcmp(of->evidence[i].key, "modules") && of->evidence[i].value.type == PT_VALUE_TEXT)
            return of->evidence[i].value.text;
    return NULL;
}

static const char *where_of(const struct pt_build *b, const struct pt_finding *of)
{
    const char *object = of->table ? short_name(b, object_of(b, of)) : modules_of(of),
               *place = short_name(b, of->place.text);
    if (object && of->place.language && !of->place.function)
        return object; /* which file of code it was says less */
    if (place && object)
        return pt_doc_format(b->doc, "%s; %s", place, object);
    if (!place && !object && of->stage >= 0)
        return pt_build_program_name(b, (pt_u32)of->stage);
    return place ? place : object;
}

enum { MOST_BEHIND = 10 };

/* The rows of the stage's table of waits that are of the finding's part. */
static struct pt_panel *waits_of(const struct pt_build *b, const struct pt_finding *of, const struct pt_table *from)
{
    struct pt_table *table;
    struct pt_panel *panel =
        pt_doc_table(b->doc, "off_cpu_stacks", "Where threads wait", from->columns, from->n_columns, &table);
    for (size_t row = 0; row < from->n_rows; row++) {
        if ((enum pt_time_part)pt_table_number(from, row, "part") != of->part)
            continue;
        if (table->n_rows < MOST_BEHIND)
            pt_table_copy_row(table, from, row);
        else
            table->rows_left_out++;
    }
    return panel;
}

/* The table of the profile in which its place was found. */
static void add_behind(const struct pt_build *b, struct pt_doc_finding *finding)
{
    static const enum pt_view views[] = {
        [PT_PLACE_NOWHERE] = PT_VIEW__COUNT,
        [PT_PLACE_WAIT] = PT_VIEW_off_cpu_stacks,
        [PT_PLACE_FETCH_WAIT] = PT_VIEW_off_cpu_stacks,
        [PT_PLACE_WAIT_OF_ALL] = PT_VIEW_off_cpu_stacks,
        [PT_PLACE_WORKERS] = PT_VIEW_off_cpu_stacks,
        [PT_PLACE_DISK] = PT_VIEW_off_cpu_stacks,
        [PT_PLACE_READ_AGAIN] = PT_VIEW_off_cpu_stacks,
        [PT_PLACE_IMPORT] = PT_VIEW_off_cpu_stacks,
        [PT_PLACE_CPU] = PT_VIEW_cpu_functions,
        [PT_PLACE_STEPS] = PT_VIEW_cpu_functions,
        [PT_PLACE_FORWARD] = PT_VIEW_cpu_functions,
        [PT_PLACE_PREPARING] = PT_VIEW_cpu_functions,
        [PT_PLACE_IMPORTING] = PT_VIEW_cpu_functions,
        [PT_PLACE_TRAINING] = PT_VIEW_cpu_functions,
        [PT_PLACE_BESIDE] = PT_VIEW_cpu_functions,
        [PT_PLACE_BEHIND] = PT_VIEW_cpu_functions,
        [PT_PLACE_FETCH] = PT_VIEW_cpu_functions,
        [PT_PLACE_HAND_OVER] = PT_VIEW__COUNT,
        [PT_PLACE_HANDED_OVER] = PT_VIEW__COUNT,
        [PT_PLACE_IN_LOOP] = PT_VIEW__COUNT,
        [PT_PLACE_RANK] = PT_VIEW_cpu_functions,
        [PT_PLACE_FAULT] = PT_VIEW_cpu_functions,
        [PT_PLACE_FORK] = PT_VIEW__COUNT,
        [PT_PLACE_ALLOCATED] = PT_VIEW_heap_sites,
        [PT_PLACE_GROWTH] = PT_VIEW_heap_sites,
        [PT_PLACE_HELD] = PT_VIEW_heap_sites,
        [PT_PLACE_CHURN] = PT_VIEW_heap_sites,
    };
    const struct pt_finding *of = finding->of;
    const enum pt_view view = views[of->place_kind];
    const struct pt_table *table =
        view != PT_VIEW__COUNT && of->stage >= 0 ? pt_view_rows(&b->profile->metrics, (pt_u32)of->stage, view) : NULL;
    if (!table || table == of->table)
        return;
    if (view == PT_VIEW_off_cpu_stacks)
        pt_vec_push(&finding->panels, waits_of(b, of, table));
    else
        pt_vec_push(&finding->panels,
                    pt_doc_rows(b->doc, pt_table_views[view].id, pt_table_views[view].label, table, MOST_BEHIND));
}

/* Whoever adds up the evidence gets less than the gain. */
static const char *gain_of(const struct pt_build *b, const struct pt_finding *of)
{
    enum { MANY_PERCENT = 1 };
    const struct pt_gain_of *gain = &of->gain_of;
    if (!(of->gain_upper_s > 0) || !(gain->measured_s > 0))
        return NULL;
    const double sum_s = gain->measured_s * (1 + gain->around_percent / 100) * gain->stretch;
    const char *stretched = gain->stretch >= 1 + MANY_PERCENT / 100.0
                                ? pt_doc_format(b->doc, ", times %.2f for waiting for CPUs", gain->stretch)
                                : "";
    return pt_doc_format(b->doc, "%s measured, and %.0f %% for the work around it%s%s",
                         pt_fmt_duration((pt_i64)llround(gain->measured_s * 1e9)).text, gain->around_percent, stretched,
                         sum_s > of->gain_upper_s * (1 + MANY_PERCENT / 1000.0) ? "; not more than all" : "");
}

void pt_build_findings(const struct pt_build *b)
{
    for (size_t i = 0; i < b->findings->n; i++) {
        const struct pt_finding *of = &b->findings->items[i];
        struct pt_doc_finding finding = {
            .number = (pt_u32)(b->doc->findings.n + b->doc->observations.n) + 1,
            .of = of,
            .stage = stage_of(b, of),
            .where = where_of(b, of),
            .gain_of = gain_of(b, of),
            .rows = rows_of(b, of),
        };
        if (of->stage >= 0 && !finding.stage)
            continue; /* of a stage that is not shown */
        for (pt_u32 j = 0; j < of->n_evidence; j++)
            add_fact(&finding.evidence, &of->evidence[j]);
        add_behind(b, &finding);
        if (finding.stage && !of->is_observation)
            add_mark(b, finding.stage, &finding);
        if (of->is_observation)
            pt_vec_push(&b->doc->observations, finding);
        else
            pt_vec_push(&b->doc->findings, finding);
    }
}
