/* SPDX-License-Identifier: MIT
 *
 * level.h - at which level a figure of a baseline is by now: what was accepted replaces what was before.
 */
#ifndef PT_REGRESSION_LEVEL_H
#define PT_REGRESSION_LEVEL_H

#include <stddef.h>

#include "change_points.h"
#include "figures.h"

struct pt_level {
    size_t n;       /* the newest values, which are of this level */
    size_t n_apart; /* of these, the newest few that lie apart from the others: too few for a level of their own */
};

/* What is a change of a figure: of its level in a history. */
struct pt_change_rules pt_figure_change_rules(const char *name);
/* Of the values of a figure, the newest first; at most PT_SAMPLE_MOST. */
struct pt_level pt_last_level(const double *newest_first, size_t n, const struct pt_change_rules *rules);

#endif
