/* SPDX-License-Identifier: MIT
 *
 * change_points.h - where a series of values has become another.
 */
#ifndef PT_REGRESSION_CHANGE_POINTS_H
#define PT_REGRESSION_CHANGE_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "statistics.h"

struct pt_change_rules {
    size_t least;        /* values on each side of a change */
    double least_share;  /* of the median before, by which it must differ: 0.05 */
    double least_amount; /* by which it must differ */
    double alpha; /* chance that nothing has changed, at most; 0 = no value of one side may lie within the other */
};

struct pt_change_point {
    size_t at;            /* the first value of the new level */
    double before, after; /* medians from the change before to this one, and from this one to the next */
    double p;             /* of chance, corrected for the places that were tried; 0 where sides do not touch */
};

/* The first value of a series that is looked at: at most PT_SAMPLE_MOST are, the last ones. */
static inline size_t pt_change_points_begin(size_t n)
{
    return n > PT_SAMPLE_MOST ? n - PT_SAMPLE_MOST : 0;
}

/* In order of time; returns how many. */
size_t pt_change_points(const double *values, size_t n, const struct pt_change_rules *rules,
                        struct pt_change_point found[PT_SAMPLE_MOST]);
/* Are the last `n_after` of these values of another level than the `n_before` ones before them? */
bool pt_is_change(const double *values, size_t n_before, size_t n_after, const struct pt_change_rules *rules);

#endif
