/* SPDX-License-Identifier: MIT
 *
 * Owns: where levels begin. Threads: any. Never: tells of a single value that comes back: a level lasts to the next
 * change.
 *
 * Levels are found all at once, as those that explain the series best at a price for each (optimal partitioning,
 * Jackson 2005): cutting it in two again and again would not see a regression that was repaired. Then each change is
 * tested, and the levels beside one that may be chance become one. Levels are medians: one run on a bad day moves
 * nothing.
 */
#include "change_points.h"

#include <math.h>
#include <string.h>

#include "statistics.h"

/* How far values lie from their median, all together. */
static double spread(const double *values, size_t n)
{
    const double median = pt_median(values, n);
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += fabs(values[i] - median);
    return all;
}

/* What values differ by from one to the next, by the median: the noise, whatever the levels are. */
static double noise(const double *values, size_t n)
{
    double steps[PT_SAMPLE_MOST];
    for (size_t i = 0; i + 1 < n; i++)
        steps[i] = fabs(values[i + 1] - values[i]);
    return n > 1 ? pt_median(steps, n - 1) : 0;
}

/* The ends of the levels that leave the least spread, when each level costs as much as the noise of some values (twice
 * the logarithm of their number, as in Schwarz 1978). Returns how many. */
static size_t best_levels(const double *values, size_t n, size_t least, size_t ends[PT_SAMPLE_MOST])
{
    const double price = 2 * log((double)n) * noise(values, n) + 1e-9;
    double cost[PT_SAMPLE_MOST + 1] = {0};
    size_t begins[PT_SAMPLE_MOST + 1] = {0}; /* of the last level of the best levels up to here */
    for (size_t end = 1; end <= n; end++) {
        cost[end] = INFINITY;
        for (size_t begin = 0; begin + least <= end; begin++) {
            const double of_this = cost[begin] + spread(values + begin, end - begin) + price;
            if (of_this < cost[end]) {
                cost[end] = of_this;
                begins[end] = begin;
            }
        }
    }
    size_t levels = 0, at = 0;
    for (size_t end = n; end > 0; end = begins[end])
        levels++;
    at = levels;
    for (size_t end = n; end > 0; end = begins[end])
        ends[--at] = end;
    return levels;
}

static bool do_not_touch(const double *a, size_t n_a, const double *b, size_t n_b)
{
    double most_a = -INFINITY, least_a = INFINITY, most_b = -INFINITY, least_b = INFINITY;
    for (size_t i = 0; i < n_a; i++) {
        most_a = fmax(most_a, a[i]);
        least_a = fmin(least_a, a[i]);
    }
    for (size_t i = 0; i < n_b; i++) {
        most_b = fmax(most_b, b[i]);
        least_b = fmin(least_b, b[i]);
    }
    /* As far apart as each of them is wide, or the next value of a count that varies is a change. */
    const double wide = fmax(most_a - least_a, most_b - least_b);
    return least_b - most_a > wide || least_a - most_b > wide;
}

static bool is_change(const double *values, const struct pt_change_rules *rules, size_t n_before, size_t n_after,
                      double *ret_p)
{
    const double *later = values + n_before;
    const double before = pt_median(values, n_before), after = pt_median(later, n_after), by = fabs(after - before);
    *ret_p = 0;
    if (by < rules->least_share * fabs(before) || by < rules->least_amount)
        return false;
    if (rules->alpha <= 0)
        return do_not_touch(values, n_before, later, n_after);
    const double rise = pt_mann_whitney(values, n_before, later, n_after);
    const double fall = pt_mann_whitney(later, n_after, values, n_before);
    const double tried = (double)(n_before + n_after) - 2 * (double)rules->least + 1;
    *ret_p = fmin(1, 2 * fmin(rise, fall) * fmax(1, tried));
    return *ret_p <= rules->alpha;
}

bool pt_is_change(const double *values, size_t n_before, size_t n_after, const struct pt_change_rules *rules)
{
    double p;
    return is_change(values, rules, n_before, n_after, &p);
}

/* Join the levels beside the first change that may be chance. False = there is none. */
static bool join_one(const double *values, const struct pt_change_rules *rules, size_t *ends, size_t *levels)
{
    for (size_t i = 0; i + 1 < *levels; i++) {
        const size_t begin = i ? ends[i - 1] : 0;
        double p;
        if (is_change(values + begin, rules, ends[i] - begin, ends[i + 1] - ends[i], &p))
            continue;
        memmove(ends + i, ends + i + 1, (*levels - i - 1) * sizeof *ends);
        --*levels;
        return true;
    }
    return false;
}

size_t pt_change_points(const double *values, size_t n, const struct pt_change_rules *rules,
                        struct pt_change_point found[PT_SAMPLE_MOST])
{
    const size_t left_out = pt_change_points_begin(n);
    size_t ends[PT_SAMPLE_MOST], levels, changes = 0;
    values += left_out;
    n -= left_out;
    if (n < 2 * rules->least)
        return 0;
    levels = best_levels(values, n, rules->least, ends);
    while (join_one(values, rules, ends, &levels))
        ;
    for (size_t i = 0; i + 1 < levels; i++) {
        const size_t begin = i ? ends[i - 1] : 0;
        struct pt_change_point *change = &found[changes++];
        change->at = left_out + ends[i];
        change->before = pt_median(values + begin, ends[i] - begin);
        change->after = pt_median(values + ends[i], ends[i + 1] - ends[i]);
        is_change(values + begin, rules, ends[i] - begin, ends[i + 1] - ends[i], &change->p);
    }
    return changes;
}
