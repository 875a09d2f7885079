/* SPDX-License-Identifier: MIT
 *
 * doc.h - a report as a tree, before anybody decides how it looks. Renderers see only this.
 *
 * A node is a value, a group of named nodes, or a list of groups of the same shape. A node with a key goes into JSON, a
 * node with a label is shown to people; most have both. A list shown as a table has one column per value with a column
 * number; when the page is narrow, the highest numbers go first. A value may be unknown, with the reason.
 *
 *     struct pt_doc *doc = pt_doc_new();
 *     struct pt_node *stages = pt_doc_list(doc, doc->root, "stages", "Summary", PT_LAYOUT_TABLE);
 *     struct pt_node *stage = pt_doc_group(doc, stages, NULL, NULL, PT_LAYOUT_LINES);
 *     pt_doc_value(doc, stage, "stage", "Stage", PT_SHOW_TEXT, pt_text(name))->column = 1;
 */
#ifndef PT_REPORT_DOC_H
#define PT_REPORT_DOC_H

#include "../analysis/metrics.h"

enum pt_node_kind { PT_NODE_VALUE, PT_NODE_GROUP, PT_NODE_LIST };

enum pt_layout {
    PT_LAYOUT_LINES,    /* one "label: value" per line */
    PT_LAYOUT_TABLE,    /* of a list */
    PT_LAYOUT_CALLOUTS, /* of a list: numbered findings, each with a headline */
    PT_LAYOUT_PLAIN,    /* a list of values: one per line */
};

struct pt_node {
    enum pt_node_kind kind;
    enum pt_layout layout;
    const char *key;   /* NULL = not in JSON */
    const char *label; /* NULL = not shown to people */
    enum pt_show show;
    struct pt_value value;
    pt_u32 column;        /* in the table of its list, from 1; 0 = in none */
    pt_u64 rows_left_out; /* of a list */
    bool people_only;     /* not in JSON although it has a key (which names its column) */
    bool is_detail;       /* may be folded or left out when space is short */
    struct pt_node *first, *last, *next;
};

struct pt_doc {
    struct pt_arena arena;
    struct pt_node *root;
};

struct pt_doc *pt_doc_new(void);
void pt_doc_free(struct pt_doc *doc);
static inline void pt_doc_freep(struct pt_doc **doc)
{
    pt_doc_free(*doc);
}

/* All copy the texts that they are given. Keys and labels of a list's items are NULL. */
struct pt_node *pt_doc_value(struct pt_doc *doc, struct pt_node *parent, const char *key, const char *label,
                             enum pt_show show, struct pt_value value);
struct pt_node *pt_doc_group(struct pt_doc *doc, struct pt_node *parent, const char *key, const char *label,
                             enum pt_layout layout);
struct pt_node *pt_doc_list(struct pt_doc *doc, struct pt_node *parent, const char *key, const char *label,
                            enum pt_layout layout);
/* A table of metrics as a list, at most `most` rows. `key` and `label` replace the table's own. */
struct pt_node *pt_doc_table(struct pt_doc *doc, struct pt_node *parent, const char *key, const char *label,
                             const struct pt_table *table, size_t most);

/* The child with a key; NULL when there is none. */
const struct pt_node *pt_node_child(const struct pt_node *node, const char *key);
/* The value nodes of a list's first item that are columns, in order; returns how many (at most `room`). */
pt_u32 pt_node_columns(const struct pt_node *list, const struct pt_node **columns, pt_u32 room);

#endif
