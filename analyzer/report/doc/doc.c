/* SPDX-License-Identifier: MIT
 *
 * Owns: the document tree and its memory. Threads: one per document. Never: formats.
 */
#include "doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pt_doc *pt_doc_new(void)
{
    struct pt_doc *doc = pt_calloc(1, sizeof *doc);
    doc->root = pt_doc_group(doc, NULL, NULL, NULL, PT_LAYOUT_LINES);
    return doc;
}

void pt_doc_free(struct pt_doc *doc)
{
    if (!doc)
        return;
    pt_arena_fini(&doc->arena);
    free(doc);
}

static const char *copy(struct pt_doc *doc, const char *text)
{
    return text ? pt_arena_text(&doc->arena, text, strlen(text)) : NULL;
}

static struct pt_node *add(struct pt_doc *doc, struct pt_node *parent, enum pt_node_kind kind, const char *key,
                           const char *label)
{
    struct pt_node *node = pt_arena_alloc(&doc->arena, sizeof *node);
    *node = (struct pt_node){.kind = kind, .key = copy(doc, key), .label = copy(doc, label)};
    if (!parent)
        return node;
    if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
    return node;
}

struct pt_node *pt_doc_value(struct pt_doc *doc, struct pt_node *parent, const char *key, const char *label,
                             enum pt_show show, struct pt_value value)
{
    struct pt_node *node = add(doc, parent, PT_NODE_VALUE, key, label);
    node->show = show;
    node->value = value;
    if (value.type == PT_VALUE_TEXT)
        node->value.text = copy(doc, value.text);
    node->value.reason = copy(doc, value.reason);
    return node;
}

struct pt_node *pt_doc_group(struct pt_doc *doc, struct pt_node *parent, const char *key, const char *label,
                             enum pt_layout layout)
{
    struct pt_node *node = add(doc, parent, PT_NODE_GROUP, key, label);
    node->layout = layout;
    return node;
}

struct pt_node *pt_doc_list(struct pt_doc *doc, struct pt_node *parent, const char *key, const char *label,
                            enum pt_layout layout)
{
    struct pt_node *node = add(doc, parent, PT_NODE_LIST, key, label);
    node->layout = layout;
    return node;
}

struct pt_chart *pt_doc_chart(struct pt_doc *doc, struct pt_node *parent, const char *name, const char *title,
                              enum pt_show show)
{
    struct pt_node *node = add(doc, parent, PT_NODE_CHART, NULL, title);
    node->chart = pt_arena_alloc(&doc->arena, sizeof *node->chart);
    *node->chart = (struct pt_chart){.name = copy(doc, name), .title = node->label, .show = show, .limit = NAN};
    return node->chart;
}

struct pt_flame *pt_doc_flame(struct pt_doc *doc, struct pt_node *parent, const char *name, const char *title)
{
    struct pt_node *node = add(doc, parent, PT_NODE_FLAME, NULL, title);
    node->flame = pt_arena_alloc(&doc->arena, sizeof *node->flame);
    *node->flame = (struct pt_flame){.name = copy(doc, name), .title = node->label};
    return node->flame;
}

struct pt_node *pt_doc_table(struct pt_doc *doc, struct pt_node *parent, const char *key, const char *label,
                             const struct pt_table *table, size_t most)
{
    struct pt_node *list = pt_doc_list(doc, parent, key, label, PT_LAYOUT_TABLE);
    for (size_t row = 0; row < table->n_rows && row < most; row++) {
        struct pt_node *item = pt_doc_group(doc, list, NULL, NULL, PT_LAYOUT_LINES);
        const struct pt_value *cells = pt_table_row(table, row);
        for (pt_u32 i = 0; i < table->n_columns; i++)
            pt_doc_value(doc, item, table->columns[i].key, table->columns[i].label, table->columns[i].show, cells[i])
                ->column = table->columns[i].label ? i + 1 : 0;
    }
    list->rows_left_out = table->rows_left_out + (table->n_rows > most ? table->n_rows - most : 0);
    return list;
}

const struct pt_node *pt_node_child(const struct pt_node *node, const char *key)
{
    for (const struct pt_node *child = node ? node->first : NULL; child; child = child->next)
        if (child->key && !strcmp(child->key, key))
            return child;
    return NULL;
}

pt_u32 pt_node_columns(const struct pt_node *list, const struct pt_node **columns, pt_u32 room)
{
    pt_u32 n = 0;
    for (const struct pt_node *cell = list->first ? list->first->first : NULL; cell && n < room; cell = cell->next) {
        if (!cell->column)
            continue;
        pt_u32 at = n++;
        for (; at && columns[at - 1]->column > cell->column; at--)
            columns[at] = columns[at - 1];
        columns[at] = cell;
    }
    return n;
}
