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
#ifndef PT_REPORT_DOC_DOC_H
#define PT_REPORT_DOC_DOC_H

#include "profile/metrics.h"

enum pt_node_kind {
    PT_NODE_VALUE,
    PT_NODE_GROUP,
    PT_NODE_LIST,
    PT_NODE_CHART, /* curves over the run's time: for renderers that draw; the others skip it */
    PT_NODE_FLAME, /* a flame graph: the same */
};

enum pt_layout {
    PT_LAYOUT_LINES,    /* one "label: value" per line */
    PT_LAYOUT_TABLE,    /* of a list */
    PT_LAYOUT_CALLOUTS, /* of a list: numbered findings, each with a headline */
    PT_LAYOUT_PLAIN,    /* a list of values: one per line */
};

/* A curve. Times rise; a value that is NAN is a gap, never 0. */
struct pt_chart_series {
    const char *label;
    double *t_s, *values;
    pt_u32 n;
};

/* A stretch of the run that has a name: a stage. */
struct pt_chart_band {
    const char *name;
    double start_s, end_s;
};

enum { PT_CHART_MOST_SERIES = 4 };

struct pt_chart {
    const char *name;         /* of its file: letters, digits, underscores */
    const char *title, *unit; /* the unit stands behind numbers that `show` gives none: "cores"; NULL = none */
    enum pt_show show;
    double end_s; /* where the time axis ends; it begins at 0 */
    double limit; /* what the machine has of it; NAN = unknown */
    struct pt_chart_series series[PT_CHART_MOST_SERIES];
    pt_u32 n_series;
    struct pt_chart_band *bands;
    pt_u32 n_bands;
};

enum pt_flame_kind {
    PT_FLAME_THREAD, /* no function: the stage, or threads */
    PT_FLAME_PYTHON,
    PT_FLAME_NATIVE,
    PT_FLAME_KERNEL,
    PT_FLAME_OTHER,
    PT_FLAME__KINDS
};

struct pt_flame_frame {
    const char *function; /* hostile */
    const char *module;   /* NULL = none */
    enum pt_flame_kind kind;
    pt_u32 depth;                    /* from 0; the frame above it that spans it called it */
    pt_u32 folded;                   /* functions that it stands for, besides the one that is named last */
    double start_s, total_s, self_s; /* start: where it begins across */
};

struct pt_flame {
    const char *name; /* of its file: letters, digits, dashes, underscores */
    const char *title, *stage;
    const char *note;              /* why all or some samples are missing; NULL = nothing is */
    struct pt_flame_frame *frames; /* the first is the whole; n = 0: there are no samples */
    pt_u32 n, rows;
    pt_u64 left_out; /* places too small to be drawn */
    double deeper_s; /* in calls too deep to be drawn */
    bool is_largest; /* of all stages */
};

struct pt_node {
    enum pt_node_kind kind;
    enum pt_layout layout;
    const char *key;   /* NULL = not in JSON */
    const char *label; /* NULL = not shown to people */
    enum pt_show show;
    struct pt_value value;
    pt_u32 column;          /* in the table of its list, from 1; 0 = in none */
    pt_u64 rows_left_out;   /* of a list */
    struct pt_chart *chart; /* of a PT_NODE_CHART */
    struct pt_flame *flame; /* of a PT_NODE_FLAME */
    bool people_only;       /* not in JSON although it has a key (which names its column) */
    bool is_detail;         /* may be folded or left out when space is short */
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
/* An empty chart: the caller fills it, with memory of doc->arena. */
struct pt_chart *pt_doc_chart(struct pt_doc *doc, struct pt_node *parent, const char *name, const char *title,
                              enum pt_show show);
/* An empty flame graph: the same. */
struct pt_flame *pt_doc_flame(struct pt_doc *doc, struct pt_node *parent, const char *name, const char *title);
/* A table of metrics as a list, at most `most` rows. `key` and `label` replace the table's own. */
struct pt_node *pt_doc_table(struct pt_doc *doc, struct pt_node *parent, const char *key, const char *label,
                             const struct pt_table *table, size_t most);

/* The child with a key; NULL when there is none. */
const struct pt_node *pt_node_child(const struct pt_node *node, const char *key);
/* The value nodes of a list's first item that are columns, in order; returns how many (at most `room`). */
pt_u32 pt_node_columns(const struct pt_node *list, const struct pt_node **columns, pt_u32 room);

#endif
