/* SPDX-License-Identifier: MIT
 *
 * statistics.h - is one sample larger than another, when all that is known is some values of each?
 */
#ifndef PT_REGRESSION_STATISTICS_H
#define PT_REGRESSION_STATISTICS_H

#include <stddef.h>

enum { PT_SAMPLE_MOST = 60 };

double pt_median(const double *values, size_t n);
/* The probability that, by chance alone, `b` ranks as high over `a` as it does, or higher: Mann and Whitney 1947,
 * one-sided, exact, with ranks shared among equal values. 1 when either is empty, or larger than PT_SAMPLE_MOST. */
double pt_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b);
/* Holm 1979: of n probabilities, each becomes the one that it has among so many tests. */
void pt_holm(double *p, size_t n);

#endif
