/* SPDX-License-Identifier: MIT
 *
 * Owns: the time accounts of threads in a report. Threads: one. Never: repeats the stage's account where there is one
 * thread only.
 */
#include <string.h>

#include "build.h"

static const struct pt_table *table_of(const struct pt_build *b, pt_u32 stage)
{
    return pt_metrics_find_table(&b->profile->metrics, pt_scope_stage(stage), "threads");
}

void pt_build_threads(const struct pt_build *b, struct pt_node *item, pt_u32 stage)
{
    const struct pt_table *table = table_of(b, stage);
    if (table)
        pt_doc_table(b->doc, item, "threads", NULL, table, table->n_rows);
}

/* The columns of the largest parts first: a narrow terminal drops the last ones. */
static void rank_columns(const struct pt_table *table, pt_u32 columns[PT_MAX_COLUMNS])
{
    double sums_s[PT_MAX_COLUMNS] = {0};
    for (size_t row = 0; row < table->n_rows; row++)
        for (pt_u32 i = 0; i < table->n_columns; i++)
            sums_s[i] += pt_value_number(pt_table_row(table, row)[i]);
    pt_u32 first = 0; /* of the parts: behind the thread's life */
    while (first < table->n_columns && strcmp(table->columns[first].key, "lived_s"))
        first++;
    for (pt_u32 i = 0; i < table->n_columns; i++) {
        columns[i] = i <= first ? i + 1 : first + 2;
        for (pt_u32 j = first + 1; i > first && j < table->n_columns; j++)
            columns[i] += sums_s[j] > sums_s[i] || (j < i && sums_s[j] == sums_s[i]);
    }
}

void pt_build_thread_details(const struct pt_build *b, pt_u32 stage, const char *label)
{
    enum { MOST_ROWS = 8 };
    const struct pt_table *table = table_of(b, stage);
    pt_u32 columns[PT_MAX_COLUMNS];
    if (!table || table->n_rows < 2)
        return;
    const size_t most = b->options->top < MOST_ROWS ? b->options->top : MOST_ROWS;
    struct pt_node *list = pt_doc_table(b->doc, b->doc->root, "thread_time", label, table, most);
    list->people_only = true;
    list->is_detail = true;
    rank_columns(table, columns);
    for (struct pt_node *row = list->first; row; row = row->next)
        for (struct pt_node *cell = row->first; cell; cell = cell->next)
            cell->column = columns[cell->column - 1];
}
