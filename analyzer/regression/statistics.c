/* SPDX-License-Identifier: MIT
 *
 * Owns: exact tests of small samples. Threads: any. Never: assumes a distribution.
 */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/mem.h"

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double pt_median(const double *values, size_t n)
{
    if (!n)
        return NAN;
    PT_AUTO(pt_freep) double *sorted = pt_calloc(n, sizeof *sorted);
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* Twice the rank of a value among all of both samples: whole, also where equal values share one. */
static size_t doubled_rank(const double *all, size_t n, double value)
{
    size_t below = 0, equal = 0;
    for (size_t i = 0; i < n; i++) {
        below += all[i] < value;
        equal += all[i] == value;
    }
    return 2 * below + equal + 1;
}

/* ways[k][s]: in how many ways k of the ranks sum up to s. Each choice of n_b ranks is as likely as any other. */
double pt_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b)
{
    if (!n_a || !n_b || n_a > PT_SAMPLE_MOST || n_b > PT_SAMPLE_MOST)
        return 1;
    const size_t n = n_a + n_b, most_sum = n * (n + 1); /* of doubled ranks */
    double all[2 * PT_SAMPLE_MOST];
    memcpy(all, a, n_a * sizeof *a);
    memcpy(all + n_a, b, n_b * sizeof *b);
    PT_AUTO(pt_freep) double *ways = pt_calloc((n_b + 1) * (most_sum + 1), sizeof *ways);
    size_t of_b = 0;
    ways[0] = 1;
    for (size_t i = 0; i < n; i++) {
        const size_t rank = doubled_rank(all, n, all[i]);
        of_b += i >= n_a ? rank : 0;
        for (size_t k = n_b; k >= 1; k--)
            for (size_t s = most_sum; s >= rank; s--)
                ways[k * (most_sum + 1) + s] += ways[(k - 1) * (most_sum + 1) + s - rank];
    }
    double as_high = 0, total = 0;
    for (size_t s = 0; s <= most_sum; s++) {
        total += ways[n_b * (most_sum + 1) + s];
        as_high += s >= of_b ? ways[n_b * (most_sum + 1) + s] : 0;
    }
    return as_high / total;
}

struct ranked {
    double p;
    size_t at;
};

static int by_p(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

void pt_holm(double *p, size_t n)
{
    PT_AUTO(pt_freep) struct ranked *ranked = pt_calloc(n ? n : 1, sizeof *ranked);
    double least = 0;
    for (size_t i = 0; i < n; i++)
        ranked[i] = (struct ranked){p[i], i};
    qsort(ranked, n, sizeof *ranked, by_p);
    for (size_t i = 0; i < n; i++) {
        const double adjusted = fmin(1, ranked[i].p * (double)(n - i));
        least = fmax(least, adjusted);
        p[ranked[i].at] = least;
    }
}
