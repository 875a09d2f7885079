/* SPDX-License-Identifier: MIT
 *
 * doc.h - a report for people, before its layout is decided. Renderers of text, Markdown and HTML see only this.
 *
 * What every report has (stages, findings, failures) are structs with named members. What analyses add are panels:
 * lines, tables and drawings with the stage and the section that they belong to, so that no renderer has a list of
 * them. Values may be unknown, with the reason. Everything lives in the arena of the document or in the profile, which
 * must outlive it.
 */
#ifndef PT_REPORT_DOC_DOC_H
#define PT_REPORT_DOC_DOC_H

#include "profile/views.h"
#include "rules/rule.h"
#include "run_file/run_file.h"
#include "util/arena.h"

/* ---- values ---- */

struct pt_cell {
    enum pt_show show;
    struct pt_value value;
};

struct pt_line {
    const char *key; /* its name in JSON, where a command prints some */
    const char *label;
    struct pt_cell cell;
};

struct pt_lines {
    PT_VEC(struct pt_line);
};

/* ---- drawings ---- */

/* A length of time and what it consists of. */
struct pt_bar_part {
    const char *label;
    double seconds;
    pt_u32 color; /* which of svg.css, from 1; in the bar of a stage's time: its part + 1 */
};

/* A page has no more of them: a link to another one would lead nowhere. */
enum { PT_DOC_MOST_FINDINGS_OF_A_PAGE = 60 };

/* A finding that lies in a part. */
struct pt_bar_mark {
    pt_u32 number; /* of the finding */
    pt_u32 color;  /* of the part */
    bool is_on_page;
};

struct pt_bar {
    const char *name;
    const char *whole; /* what it is the time of: "stage" */
    struct pt_cell length;
    struct pt_bar_part *parts;
    pt_u32 n_parts;
    struct pt_bar_mark *marks;
    pt_u32 n_marks;
    bool is_sum; /* of several: as long as all of them together */
};

struct pt_bars {
    PT_VEC(struct pt_bar);
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

struct pt_flame_kind_row {
    const char *key;                 /* as tables have it; NULL = in none */
    const char *label, *description; /* for people */
};
extern const struct pt_flame_kind_row pt_flame_kinds[PT_FLAME__KINDS];
/* PT_FLAME_THREAD for NULL, and for what is not known. */
enum pt_flame_kind pt_flame_kind_of(const char *key);

struct pt_flame_frame {
    const char *function; /* hostile */
    const char *module;   /* NULL = none */
    enum pt_flame_kind kind;
    pt_u32 depth;                    /* from 0; the frame above it that spans it called it */
    pt_u32 folded;                   /* functions that it represents, besides the one that is named last */
    double start_s, total_s, self_s; /* start: where it begins across */
    double before_s;                 /* of a difference: how long it took in the other run */
};

struct pt_flame {
    const char *name; /* of its file: letters, digits, dashes, underscores */
    const char *title, *stage;
    const char *note;              /* why all or some samples are missing; NULL = nothing is */
    struct pt_flame_frame *frames; /* the first is the whole; n = 0: there are no samples */
    pt_u32 n, rows;
    bool is_difference; /* of two runs: colours are the change, not the kind */
    pt_u64 left_out;    /* places too small to be drawn */
    double deeper_s;    /* in calls too deep to be drawn */
};

/* ---- panels ---- */

enum pt_panel_kind {
    PT_PANEL_LINES,
    PT_PANEL_TABLE,
    PT_PANEL_TEXTS, /* one per line */
    PT_PANEL_LOG,   /* lines as they are; for pages */
    PT_PANEL_FLAME,
    PT_PANEL_BARS,
};

struct pt_panel {
    enum pt_panel_kind kind;
    enum pt_section section;
    bool is_open;      /* worth being seen at once where there is room */
    bool is_for_pages; /* text and Markdown have it for the whole run */
    const char *key;   /* its name in JSON, where a command prints some */
    const char *title; /* without the stage */
    struct pt_lines lines;
    const struct pt_table *table;
    const char *why_empty; /* of a table without rows: why nobody knows what would be there; NULL = nothing is */
    size_t most;           /* rows of the table that are shown */
    const pt_u8 *columns;  /* numbers of the table's columns, the most important first; NULL = as they are */
    pt_u32 n_columns;
    const char **texts;
    pt_u32 n_texts;
    struct pt_flame *flame;
    struct pt_bars bars;
    bool has_legend;  /* of bars: each has its own, with its figures */
    const char *note; /* a sentence about how to read it; NULL = none is needed */
};

struct pt_panels {
    PT_VEC(struct pt_panel *);
};

/* ---- what every report has ---- */

struct pt_doc_stage {
    pt_u32 index; /* in the profile */
    const char *name, *status;
    struct pt_cell reason; /* why it is not ok */
    struct pt_cell duration, cpu_avg, cpu_max, rss_max, pss_max, processes_max, gpu_util, gpu_mem;
    double share_percent; /* of the run; NAN = unknown */
    struct pt_bar time;   /* no parts = it did not run, or was not traced */
    const char *training; /* steps, epochs and samples in one line; NULL = it does not train */
    struct pt_bar training_bar;
    const char *beside;   /* where the part of it is that is no phase; NULL = it is small, or a finding says it */
    struct pt_lines left; /* processes that outlived it */
    const char *command;  /* one line; NULL = unknown */
    const char *log;      /* below the run directory; NULL = none */
    bool was_skipped, has_failed, is_longest;
    bool gpu_util_is_sampled; /* it is of the GPUs, whoever used them; else of what the stage ran on them */
    struct pt_panels panels;
};

struct pt_doc_finding {
    pt_u32 number; /* from 1: the argument of --finding */
    const struct pt_finding *of;
    struct pt_doc_stage *stage; /* NULL = the run */
    const char *where;          /* place in the code, and what it is about; NULL = unknown */
    const char *gain_of;        /* what was measured, and what was put upon it; NULL = it promises no time */
    struct pt_lines evidence;
    struct pt_panel *rows;   /* of a table; NULL = none */
    struct pt_panels panels; /* stacks, functions: its evidence */
};

struct pt_doc_failure {
    const char *stage, *log;
    struct pt_cell reason;
    const char *lines[20]; /* the end of its log */
    pt_u32 n_lines;
    const char *stacks[PT_RUN_STUCK_LINES]; /* of its threads when it did not go on or died, equal ones once */
    pt_u32 n_stacks;
};

/* A quality metric below its floor. */
struct pt_doc_floor {
    const char *key, *label;
    struct pt_cell value;
    double min;
};

struct pt_doc {
    struct pt_arena arena;
    const struct pt_profile *profile; /* report.json is the profile itself */
    const struct pt_findings *all_findings;
    const char *only_stage; /* the only one to be shown; NULL = all */

    const char *title;    /* of what a command says by itself: "comparison of two runs"; NULL = a part of a report */
    struct pt_lines head; /* what ran, when, where */
    const char *verdict;  /* one or two sentences: the result, what took longest, what could be gained */
    const char *run, *started_utc, *dataset;
    double epochs, duration_s; /* NAN = unknown */
    struct {
        PT_VEC(struct pt_doc_stage *);
    } stages;
    struct {
        PT_VEC(struct pt_doc_finding);
    } findings, observations; /* problems; where time goes without one. Numbers go on from one to the other */
    struct {
        PT_VEC(struct pt_doc_failure);
    } failures;
    struct pt_lines grades; /* the quality that was reached */
    struct {
        PT_VEC(struct pt_doc_floor);
    } broken_floors;
    struct pt_lines trace_quality; /* how far the trace can be trusted */
    const char **notes;            /* about it */
    pt_u32 n_notes;
    double lost_events, untraced; /* 0 = none */
    double lost_files;            /* missing or damaged ones; 0 = none */
    double cupti_s;               /* that recording the GPU took of the stages' time; 0 = none */
    bool is_cut, is_empty;        /* trace files lack their tails; there are none */
    struct {
        PT_VEC(struct pt_chart *);
    } charts; /* over the whole run */
    struct pt_panel *summary, *skipped, *time_account, *whose_time, *resources, *processes,
        *not_traced; /* NULL = nothing to say */
};

#define PT_DOC_FINDINGS "Findings (upper bounds: what was measured and up to a tenth more; they may overlap)"
/* Beside what takes the time: it may well be one that no rule knows. */
#define PT_DOC_NO_KNOWN_PROBLEM "No known problem was found"
/* What is said where there is neither a finding nor an observation. */
#define PT_DOC_NO_PROBLEM "No problem was found, and no part of the time is large."

/* An empty document. Free it with pt_doc_free. */
struct pt_doc *pt_doc_new(void);
void pt_doc_free(struct pt_doc *doc);
/* The finding or observation of a number; NULL = there is none. */
static inline const struct pt_doc_finding *pt_doc_finding(const struct pt_doc *doc, pt_u64 number)
{
    const size_t n = doc->findings.n;
    return !number || number > n + doc->observations.n ? NULL
           : number <= n                               ? &doc->findings.items[number - 1]
                                                       : &doc->observations.items[number - n - 1];
}
/* Shares are of the run, also where a single stage is shown, beside whose own time they would be taken for its. */
static inline const char *pt_doc_whole(const struct pt_doc *doc)
{
    return doc->only_stage ? " of the run" : "";
}
static inline void pt_doc_freep(struct pt_doc **doc)
{
    pt_doc_free(*doc);
}

/* ---- for report/build/ and commands ---- */

/* A copy in the document; NULL stays NULL. */
const char *pt_doc_text(struct pt_doc *doc, const char *text);
__attribute__((format(printf, 2, 3))) const char *pt_doc_format(struct pt_doc *doc, const char *format, ...);

/* A new panel of the document, in no list yet; the title is copied. */
struct pt_panel *pt_doc_panel(struct pt_doc *doc, enum pt_panel_kind kind, const char *key, const char *title);
/* A panel that shows at most `most` rows of a table, which must outlive the document. */
struct pt_panel *pt_doc_rows(struct pt_doc *doc, const char *key, const char *title, const struct pt_table *table,
                             size_t most);
/* A panel with a table of its own, which the caller fills; columns are copied. */
struct pt_panel *pt_doc_table(struct pt_doc *doc, const char *key, const char *title, const struct pt_column *columns,
                              pt_u32 n_columns, struct pt_table **ret_table);
void pt_doc_line(struct pt_lines *lines, const char *key, const char *label, enum pt_show show, struct pt_value value);
/* An empty chart of the document. */
struct pt_chart *pt_doc_chart(struct pt_doc *doc, const char *name, const char *title, enum pt_show show);

static inline struct pt_cell pt_cell(enum pt_show show, struct pt_value value)
{
    return (struct pt_cell){show, value};
}

/* NAN = it is not a number that is known. */
static inline double pt_cell_number(struct pt_cell cell)
{
    return cell.value.type == PT_VALUE_INTEGER || cell.value.type == PT_VALUE_REAL ? pt_value_number(cell.value)
                                                                                   : __builtin_nan("");
}

/* NULL = it is no text that is known. */
static inline const char *pt_cell_text(struct pt_cell cell)
{
    return cell.value.type == PT_VALUE_TEXT ? pt_value_label(cell.value) : NULL;
}

#endif
