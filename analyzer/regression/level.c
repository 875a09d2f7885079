/* SPDX-License-Identifier: MIT
 *
 * Owns: which runs of a baseline a figure is held against. Threads: any. Never: takes a count that goes to and fro
 * between two values for one that has changed.
 *
 * A change that somebody has accepted is no variation: held against both levels, a run could do four times as much and
 * pass. Of a count that is sometimes the one and sometimes the other, few runs may stand in such an order by chance, so
 * a level needs four runs, of a history of eight.
 */
#include "level.h"

enum { LEAST_RUNS = 4, LEAST_PAST = 8 };

struct pt_change_rules pt_figure_change_rules(const char *name)
{
    const double floor = pt_figure_floor(name);
    switch (pt_figure_kind_of(name)) {
    case PT_FIGURE_WALL:
        return (struct pt_change_rules){4, 0.10, floor, 0.05};
    case PT_FIGURE_CPU:
    case PT_FIGURE_BENCHMARK:
        return (struct pt_change_rules){4, 0.05, floor, 0.05};
    case PT_FIGURE_BYTES:
    case PT_FIGURE_COUNT:
        break;
    }
    return (struct pt_change_rules){2, 0.02, floor, 0};
}

/* The first value of the last level that has enough of them. */
static size_t begin_of(const double *values, size_t n, const struct pt_change_rules *rules)
{
    struct pt_change_point changes[PT_SAMPLE_MOST];
    size_t n_changes = n >= LEAST_PAST ? pt_change_points(values, n, rules, changes) : 0;
    while (n_changes && n - changes[n_changes - 1].at < LEAST_RUNS)
        n_changes--;
    return n_changes ? changes[n_changes - 1].at : 0;
}

struct pt_level pt_last_level(const double *newest_first, size_t n, const struct pt_change_rules *rules)
{
    const bool is_count = rules->alpha <= 0; /* of three times nobody knows that they are another level */
    double values[PT_SAMPLE_MOST];
    for (size_t i = 0; i < n; i++)
        values[i] = newest_first[n - 1 - i];
    for (size_t apart = 1; is_count && apart < LEAST_RUNS && n >= LEAST_PAST + apart; apart++) {
        const size_t past = n - apart, begin = begin_of(values, past, rules);
        if (past - begin >= LEAST_RUNS && pt_is_change(values + begin, past - begin, apart, rules))
            return (struct pt_level){n - begin, apart};
    }
    return (struct pt_level){n - begin_of(values, n, rules), 0};
}
