/* SPDX-License-Identifier: MIT
 *
 * Owns: the document and its memory. Threads: one per document. Never: formats values.
 */
#include "doc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* Panels and their contents are freed with the document, which keeps them all, whether they are in lists or not. */
struct owned {
    struct pt_doc doc; /* first: a document is one of these */
    struct {
        PT_VEC(struct pt_panel *);
    } panels;
    struct {
        PT_VEC(struct pt_table *);
    } tables;
};

const struct pt_flame_kind_row pt_flame_kinds[PT_FLAME__KINDS] = {
    [PT_FLAME_THREAD] = {NULL, "thread", "threads of this name"},
    [PT_FLAME_PYTHON] = {"python", "Python", "the Python interpreter"},
    [PT_FLAME_NATIVE] = {"native", "native", "native code"},
    [PT_FLAME_KERNEL] = {"kernel", "kernel", "the kernel"},
    [PT_FLAME_OTHER] = {"other", "other", "in no known file"},
};

enum pt_flame_kind pt_flame_kind_of(const char *key)
{
    for (enum pt_flame_kind kind = 0; key && kind < PT_FLAME__KINDS; kind++)
        if (pt_flame_kinds[kind].key && !strcmp(pt_flame_kinds[kind].key, key))
            return kind;
    return PT_FLAME_THREAD;
}

struct pt_doc *pt_doc_new(void)
{
    struct owned *owned = pt_calloc(1, sizeof *owned);
    owned->doc.epochs = owned->doc.duration_s = NAN;
    return &owned->doc;
}

static void free_panel(struct pt_panel *panel)
{
    free(panel->lines.items);
    free(panel->bars.items);
}

static void free_stage(struct pt_doc_stage *stage)
{
    free(stage->left.items);
    free(stage->panels.items);
}

static void free_findings(struct pt_doc_finding *findings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(findings[i].evidence.items);
        free(findings[i].panels.items);
    }
}

void pt_doc_free(struct pt_doc *doc)
{
    struct owned *owned = (struct owned *)doc;
    if (!doc)
        return;
    for (size_t i = 0; i < owned->panels.n; i++)
        free_panel(owned->panels.items[i]);
    for (size_t i = 0; i < owned->tables.n; i++)
        pt_table_free(owned->tables.items[i]);
    for (size_t i = 0; i < doc->stages.n; i++)
        free_stage(doc->stages.items[i]);
    free_findings(doc->findings.items, doc->findings.n);
    free_findings(doc->observations.items, doc->observations.n);
    struct pt_lines *const lines[] = {&doc->head, &doc->grades, &doc->trace_quality};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        free(lines[i]->items);
    free(owned->panels.items);
    free(owned->tables.items);
    free(doc->stages.items);
    free(doc->findings.items);
    free(doc->observations.items);
    free(doc->failures.items);
    free(doc->broken_floors.items);
    free(doc->charts.items);
    pt_arena_fini(&doc->arena);
    free(owned);
}

const char *pt_doc_text(struct pt_doc *doc, const char *text)
{
    return text ? pt_arena_text(&doc->arena, text, strlen(text)) : NULL;
}

const char *pt_doc_format(struct pt_doc *doc, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = pt_arena_vformat(&doc->arena, format, arguments);
    va_end(arguments);
    return text;
}

struct pt_panel *pt_doc_panel(struct pt_doc *doc, enum pt_panel_kind kind, const char *key, const char *title)
{
    struct pt_panel *panel = pt_arena_alloc(&doc->arena, sizeof *panel);
    *panel = (struct pt_panel){.kind = kind, .key = key, .title = pt_doc_text(doc, title)};
    pt_vec_push(&((struct owned *)doc)->panels, panel);
    return panel;
}

struct pt_panel *pt_doc_rows(struct pt_doc *doc, const char *key, const char *title, const struct pt_table *table,
                             size_t most)
{
    struct pt_panel *panel = pt_doc_panel(doc, PT_PANEL_TABLE, key, title);
    panel->table = table;
    panel->most = most;
    return panel;
}

struct pt_panel *pt_doc_table(struct pt_doc *doc, const char *key, const char *title, const struct pt_column *columns,
                              pt_u32 n_columns, struct pt_table **ret_table)
{
    const struct pt_table_kind kind = {.view = PT_VIEW__COUNT, .columns = columns, .n_columns = n_columns};
    struct pt_table *table = pt_table_new(&kind);
    pt_vec_push(&((struct owned *)doc)->tables, table);
    *ret_table = table;
    return pt_doc_rows(doc, key, title, table, SIZE_MAX);
}

void pt_doc_line(struct pt_lines *lines, const char *key, const char *label, enum pt_show show, struct pt_value value)
{
    pt_vec_push(lines, ((struct pt_line){key, label, {show, value}}));
}

struct pt_chart *pt_doc_chart(struct pt_doc *doc, const char *name, const char *title, enum pt_show show)
{
    struct pt_chart *chart = pt_arena_alloc(&doc->arena, sizeof *chart);
    *chart =
        (struct pt_chart){.name = pt_doc_text(doc, name), .title = pt_doc_text(doc, title), .show = show, .limit = NAN};
    pt_vec_push(&doc->charts, chart);
    return chart;
}
