/* SPDX-License-Identifier: MIT
 *
 * Owns: how time accounts are shown. Threads: one. Never: shows a part that was not measured as 0.
 */
#include "account.h"

#include "facts/wait_kind.h"

/* "Computing" is shown where it is not known whether it was Python or native; else there are these two. */
static bool is_shown(pt_u32 part, struct pt_value python)
{
    return part != PT_PART_computing || python.type == PT_VALUE_UNKNOWN;
}

static struct pt_value part_of(const struct pt_build *b, pt_u32 stage, pt_u32 part)
{
    return is_shown(part, pt_build_metric(b, stage, pt_time_parts[PT_PART_python].metric))
               ? pt_build_metric(b, stage, pt_time_parts[part].metric)
               : pt_real(0);
}

static void add_part(struct pt_bar *bar, const char *label, double seconds, pt_u32 color)
{
    if (seconds > 0)
        bar->parts[bar->n_parts++] = (struct pt_bar_part){label, seconds, color};
}

struct pt_bar pt_build_time_bar(const struct pt_build *b, const struct pt_doc_stage *stage)
{
    struct pt_bar bar = {
        .name = stage->name,
        .whole = "stage",
        .length = pt_cell(PT_SHOW_SECONDS, pt_build_metric(b, stage->index, "time.wall_s")),
        .parts = pt_arena_alloc(&b->doc->arena, PT_PART__COUNT * sizeof *bar.parts),
    };
    for (pt_u32 part = 0; part < PT_PART__COUNT; part++)
        add_part(&bar, pt_time_parts[part].label, pt_value_number(part_of(b, stage->index, part)), part + 1);
    return bar;
}

/* ---- stages ---- */

/* The largest parts first: a narrow terminal drops the last columns, which should be the least important ones. Parts
 * without any time have no column. */
static pt_u32 rank_parts(const struct pt_build *b, pt_u32 ret_parts[PT_PART__COUNT])
{
    double total_s[PT_PART__COUNT] = {0};
    pt_u32 n = 0;
    for (size_t i = 0; i < b->doc->stages.n; i++)
        for (pt_u32 part = 0; part < PT_PART__COUNT; part++)
            total_s[part] += pt_value_number(part_of(b, b->doc->stages.items[i]->index, part));
    for (pt_u32 part = 0; part < PT_PART__COUNT; part++) {
        pt_u32 at = n;
        if (total_s[part] <= 0)
            continue;
        for (; at && total_s[ret_parts[at - 1]] < total_s[part]; at--)
            ret_parts[at] = ret_parts[at - 1];
        ret_parts[at] = part;
        n++;
    }
    return n;
}

struct stage_row {
    const char *stage;
    struct pt_value wall_s, parts[PT_PART__COUNT];
};

void pt_build_time_account(const struct pt_build *b)
{
    pt_u32 parts[PT_PART__COUNT];
    const pt_u32 n = rank_parts(b, parts);
    struct pt_column columns[PT_MAX_COLUMNS] = {
        PT_COLUMN(struct stage_row, stage, TEXT, "Stage"),
        PT_COLUMN(struct stage_row, wall_s, SECONDS, "Wall"),
    };
    for (pt_u32 i = 0; i < n; i++)
        columns[2 + i] = (struct pt_column)PT_COLUMN_AT(struct stage_row, parts[parts[i]], pt_time_parts[parts[i]].key,
                                                        SECONDS, pt_time_parts[parts[i]].label);
    struct pt_table *table;
    struct pt_panel *panel =
        pt_doc_table(b->doc, "time_account", "Where the time of the main thread went", columns, n + 2, &table);
    for (size_t i = 0; i < b->doc->stages.n; i++) {
        const struct pt_doc_stage *stage = b->doc->stages.items[i];
        if (stage->was_skipped)
            continue;
        struct stage_row row = {.stage = stage->name, .wall_s = stage->time.length.value};
        for (pt_u32 part = 0; part < PT_PART__COUNT; part++)
            row.parts[part] = part_of(b, stage->index, part);
        pt_table_add(table, &row);
    }
    b->doc->time_account = table->n_rows ? panel : NULL;
}

/* A launcher's time is that of what it started: whose. */
void pt_build_whose_time(const struct pt_build *b)
{
    struct pt_panel *panel = pt_doc_panel(b->doc, PT_PANEL_TEXTS, "whose_time", "Whose time that is");
    panel->texts = pt_arena_alloc(&b->doc->arena, (b->doc->stages.n + 1) * sizeof *panel->texts);
    for (size_t i = 0; i < b->doc->stages.n; i++) {
        const struct pt_doc_stage *stage = b->doc->stages.items[i];
        const struct pt_value of = pt_build_metric(b, stage->index, "account.of");
        if (of.type == PT_VALUE_TEXT)
            panel->texts[panel->n_texts++] = pt_doc_format(b->doc, "%s: %s", stage->name, of.text);
    }
    b->doc->whose_time = panel->n_texts ? panel : NULL;
}

/* ---- threads ---- */

static struct pt_value part_of_row(const struct pt_table *table, size_t row, pt_u32 part)
{
    return pt_table_cell(table, row, pt_time_parts[part].key);
}

/* The columns of the largest parts first, behind those up to the thread's life. */
static void rank_columns(const struct pt_build *b, struct pt_panel *panel)
{
    const struct pt_table *table = panel->table;
    const pt_u32 first = pt_table_column(table, "lived_s") + 1;
    double sums_s[PT_MAX_COLUMNS] = {0};
    pt_u8 *columns = pt_arena_alloc(&b->doc->arena, table->n_columns);
    bool is_computing_shown = false;
    pt_u32 n = 0;
    for (; n < first; n++)
        columns[n] = (pt_u8)n;
    for (size_t row = 0; row < table->n_rows; row++)
        is_computing_shown |= pt_value_number(part_of_row(table, row, PT_PART_computing)) > 0 &&
                              is_shown(PT_PART_computing, part_of_row(table, row, PT_PART_python));
    for (pt_u32 part = 0; part < PT_PART__COUNT; part++) {
        const pt_u32 column = pt_table_column(table, pt_time_parts[part].key);
        pt_u32 at = n;
        if (part == PT_PART_computing && !is_computing_shown)
            continue;
        for (size_t row = 0; row < table->n_rows; row++)
            sums_s[column] += pt_value_number(pt_table_row(table, row)[column]);
        for (; at > first && sums_s[columns[at - 1]] < sums_s[column]; at--)
            columns[at] = columns[at - 1];
        columns[at] = (pt_u8)column;
        n++;
    }
    panel->columns = columns;
    panel->n_columns = n;
}

static struct pt_bar thread_bar(const struct pt_build *b, const struct pt_table *table, size_t row)
{
    const char *process = pt_table_cell(table, row, "process").text;
    const struct pt_value name = pt_table_cell(table, row, "thread"), tid = pt_table_cell(table, row, "tid");
    const struct pt_value python = part_of_row(table, row, PT_PART_python);
    const bool is_sum = tid.type == PT_VALUE_UNKNOWN;
    const char *thread = name.type == PT_VALUE_TEXT ? name.text : "";
    struct pt_bar bar = {
        .name = is_sum
                    ? process
                    : pt_doc_format(b->doc, "%s %s%s%.0f", process, thread, *thread ? " " : "", pt_value_number(tid)),
        .whole = is_sum ? "threads" : "thread",
        .length = pt_cell(PT_SHOW_SECONDS, pt_table_cell(table, row, "lives_s")),
        .parts = pt_arena_alloc(&b->doc->arena, PT_PART__COUNT * sizeof *bar.parts),
        .is_sum = is_sum,
    };
    for (pt_u32 part = 0; part < PT_PART__COUNT; part++)
        if (is_shown(part, python))
            add_part(&bar, pt_time_parts[part].label, pt_value_number(part_of_row(table, row, part)), part + 1);
    return bar;
}

void pt_build_threads(const struct pt_build *b, struct pt_doc_stage *stage)
{
    enum { MOST_ROWS = 8 };
    const struct pt_table_view *view = &pt_table_views[PT_VIEW_thread_time];
    const struct pt_table *table = pt_view_table(&b->profile->metrics, stage->index, PT_VIEW_thread_time);
    if (!table || table->n_rows < 2)
        return;
    const size_t most = b->options->top < MOST_ROWS ? b->options->top : MOST_ROWS;
    struct pt_panel *rows = pt_doc_rows(b->doc, view->id, view->label, table, most);
    struct pt_panel *bars = pt_doc_panel(b->doc, PT_PANEL_BARS, "thread_bars", "Each thread");
    rows->section = bars->section = view->section;
    rank_columns(b, rows);
    for (size_t row = 0; row < table->n_rows; row++)
        pt_vec_push(&bars->bars, thread_bar(b, table, row));
    pt_vec_push(&stage->panels, bars);
    pt_vec_push(&stage->panels, rows);
}
