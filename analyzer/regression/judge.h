/* SPDX-License-Identifier: MIT
 *
 * judge.h - is one figure of a run worse than in the runs of a baseline?
 */
#ifndef PT_REGRESSION_JUDGE_H
#define PT_REGRESSION_JUDGE_H

#include <stdbool.h>

#include "report/doc/doc.h"
#include "figures.h"
#include "statistics.h"

enum pt_figure_state { PT_FIGURE_SAME, PT_FIGURE_BETTER, PT_FIGURE_WORSE, PT_FIGURE_NOT_JUDGED };

struct pt_judged {
    const char *name;
    enum pt_figure_kind kind;
    double a[PT_SAMPLE_MOST], b[PT_SAMPLE_MOST]; /* in the runs of the baseline, and in those that are checked */
    size_t n_a, n_b;                             /* the newest of `a` first */
    size_t n_past;  /* of the runs of the baseline that know it, with those of levels that are no more */
    size_t n_apart; /* the newest of `a`, which lie apart from the others: see level.h */
    size_t place;   /* among those of its stage, as they were found */
    /* That chance alone made a time so much more, or so much less: by itself and among all that are tested; NAN = not
     * tested. */
    double p, p_together, p_less, p_less_together;
    enum pt_figure_state state;
    bool is_undecided; /* not judged, and somebody relies on it */
    bool is_near;      /* more runs might say otherwise */
    const char *how;   /* "stable in 5 of 5 runs" */
};

struct pt_judged_figures {
    PT_VEC(struct pt_judged);
};

/* Leaves in `a` what is of its last level; before it is tested. */
void pt_figure_take_level(struct pt_judged *figure);
/* Gives a time its p and p_less; the caller makes those together of all. */
void pt_figure_test(struct pt_judged *figure);
/* Sets state, how and the two after it. `threshold_percent`: what is worse by less is no regression; NAN = the limits
 * of judge.c. */
void pt_figure_judge(struct pt_doc *doc, struct pt_judged *figure, double threshold_percent);
/* Which of two figures that are worse is told first, as for qsort: a cause before what follows from it. */
int pt_judged_by_weight(const struct pt_judged *a, const struct pt_judged *b);
/* Of a time: that its verdict is chance; of one that is the same, that it is not more. */
double pt_judged_p(const struct pt_judged *figure);
/* "train: read.calls 4,038 -> 6,438 (stable in 3 of 3 runs)" */
const char *pt_judged_sentence(struct pt_doc *doc, const char *stage, const struct pt_judged *figure);

#endif
