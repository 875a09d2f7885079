/* SPDX-License-Identifier: MIT
 *
 * Owns: when a figure is worse, and when nobody can tell. Threads: one.
 *
 * A figure is held against the last level of the baseline: see level.c.
 * A count that was the same in all runs of the baseline is worse above 2 %. One that varied is worse beyond its largest
 * value by twice as much as it varied and 10 %; where it varied by more than 1 %, it needs four runs to be judged at
 * all: of fewer, the next often lies outside; where it lies that far outside, nobody can tell. Of a single run nobody
 * knows whether it varies: 10 %. Of several runs that are checked most have to be worse; where half of them are, nobody
 * can tell. Times need four runs on both sides, and 0.1 s; how much longer the median has to be depends on how sure a
 * rank test is: see judge_time. A threshold of the user's stands in place of these shares.
 */
#include "judge.h"

#include <math.h>
#include <string.h>

#include "level.h"
#include "show_figure.h"

enum { LEAST_RUNS = 4, MANY_RUNS = 10 };
#define ALPHA 0.05      /* of all times of a check together */
#define ALPHA_EACH 0.01 /* of one */
#define ALPHA_NEAR 0.25 /* of one that more runs might show to be worse */

static double least(const double *values, size_t n)
{
    double found = INFINITY;
    for (size_t i = 0; i < n; i++)
        found = fmin(found, values[i]);
    return found;
}

static double most(const double *values, size_t n)
{
    double found = -INFINITY;
    for (size_t i = 0; i < n; i++)
        found = fmax(found, values[i]);
    return found;
}

void pt_figure_take_level(struct pt_judged *figure)
{
    const struct pt_change_rules rules = pt_figure_change_rules(figure->name);
    const struct pt_level level = pt_last_level(figure->a, figure->n_a, &rules);
    figure->n_past = figure->n_a;
    if (figure->kind == PT_FIGURE_BENCHMARK) /* one process measured them in turn: that it became slower is no level */
        return;
    figure->n_a = level.n; /* the newest are the first */
    figure->n_apart = level.n_apart;
}

/* How much it varied. The step to the newest runs that lie apart is none of it. */
static double width_of(const struct pt_judged *figure)
{
    const size_t apart = figure->n_apart;
    const double *rest = figure->a + apart;
    const double of_rest = most(rest, figure->n_a - apart) - least(rest, figure->n_a - apart);
    return apart ? fmax(of_rest, most(figure->a, apart) - least(figure->a, apart)) : of_rest;
}

/* Above the largest value of the baseline. */
static double room_of(const struct pt_judged *figure, double width, double high, double threshold_percent)
{
    const double usual = width > 0 || figure->n_a == 1 || figure->n_apart ? 0.10 : 0.02;
    const double share = isnan(threshold_percent) ? usual : threshold_percent / 100;
    return fmax(share * high, 2 * width);
}

/* Of the runs that are checked: how many lie further above (or below) that end of the baseline's values than `room`. */
static size_t n_beyond(const struct pt_judged *figure, double end, double room, bool above)
{
    size_t n = 0;
    for (size_t i = 0; i < figure->n_b; i++) {
        const double beyond = above ? figure->b[i] - end : end - figure->b[i];
        n += beyond > room && beyond >= pt_figure_floor(figure->name);
    }
    return n;
}

/* "stable in 5 of 5 runs", "varies in the last 10": as short as a column of 80 leaves room for. */
static const char *how_it_was(struct pt_doc *doc, const struct pt_judged *figure, double width)
{
    const size_t n = figure->n_a;
    if (n == 1)
        return "one run";
    if (n < figure->n_past && width <= 0 && figure->n_apart)
        return pt_doc_format(doc, "stable in %zu of the last %zu", n - figure->n_apart, n);
    if (n < figure->n_past)
        return pt_doc_format(doc, "%s in the last %zu", width > 0 ? "varies" : "stable", n);
    if (width > 0)
        return pt_doc_format(doc, "varies in %zu runs", n - figure->n_apart);
    return pt_doc_format(doc, "stable in %zu of %zu runs", n - figure->n_apart, n);
}

/* One run that did more by chance is no regression, nor is one that did no more an excuse for all others. */
static void judge_count(struct pt_doc *doc, struct pt_judged *figure, double threshold_percent)
{
    const double low = least(figure->a, figure->n_a), high = most(figure->a, figure->n_a);
    const double width = width_of(figure), room = room_of(figure, width, high, threshold_percent);
    const size_t n_worse = n_beyond(figure, high, room, true), n_better = n_beyond(figure, low, room, false);
    figure->how = how_it_was(doc, figure, width);
    figure->is_near = 2 * n_beyond(figure, high, room / 2, true) >= figure->n_b;
    if (width > 0.01 * high && figure->n_a < LEAST_RUNS) {
        figure->state = PT_FIGURE_NOT_JUDGED;
        figure->is_near = true;
        figure->is_undecided = 2 * n_worse > figure->n_b; /* a hundred times as much is not passed over */
        return;
    }
    if (2 * n_worse > figure->n_b)
        figure->state = PT_FIGURE_WORSE;
    else if (2 * n_worse == figure->n_b)
        figure->state = PT_FIGURE_NOT_JUDGED;
    else if (2 * n_better > figure->n_b)
        figure->state = PT_FIGURE_BETTER;
    figure->is_undecided = figure->state == PT_FIGURE_NOT_JUDGED;
    if (n_worse && n_worse < figure->n_b)
        figure->how = pt_doc_format(doc, "worse in %zu of %zu runs", n_worse, figure->n_b);
}

void pt_figure_test(struct pt_judged *figure)
{
    if (figure->n_a < LEAST_RUNS || figure->n_b < LEAST_RUNS)
        return;
    figure->p = pt_mann_whitney(figure->a, figure->n_a, figure->b, figure->n_b);
    figure->p_less = pt_mann_whitney(figure->b, figure->n_b, figure->a, figure->n_a);
}

/* 10 % that is no chance in nineteen of twenty checks; or less, down to what so many runs can tell from noise, that is
 * none in ninety-nine of a hundred either: of 10 % more, half of all draws have a median that is less than 10 % above.
 * The times of a benchmark come from one process, which may be 3 % slower as a whole: their number says nothing. */
static double effect_of(const struct pt_judged *figure, double p, double threshold_percent)
{
    const bool are_many = figure->kind != PT_FIGURE_BENCHMARK && figure->n_a >= MANY_RUNS && figure->n_b >= MANY_RUNS;
    const double usual = p > ALPHA_EACH ? 0.10 : are_many ? 0.025 : 0.05;
    return isnan(threshold_percent) ? usual : threshold_percent / 100;
}

double pt_judged_p(const struct pt_judged *figure)
{
    return figure->state == PT_FIGURE_BETTER ? figure->p_less_together : figure->p_together;
}

static void judge_time(struct pt_doc *doc, struct pt_judged *figure, double threshold_percent)
{
    const double a = pt_median(figure->a, figure->n_a), b = pt_median(figure->b, figure->n_b);
    if (isnan(figure->p)) {
        figure->state = PT_FIGURE_NOT_JUDGED;
        figure->is_undecided = figure->is_near = true;
        figure->how = pt_doc_format(doc, "needs %d runs on both sides, and there are %zu and %zu", LEAST_RUNS,
                                    figure->n_a, figure->n_b);
        return;
    }
    const double effect = effect_of(figure, figure->p, threshold_percent) * a;
    const double effect_less = effect_of(figure, figure->p_less, threshold_percent) * a;
    if (b - a >= effect && b - a >= pt_figure_floor(figure->name) && figure->p_together <= ALPHA)
        figure->state = PT_FIGURE_WORSE;
    else if (a - b >= effect_less && a - b >= pt_figure_floor(figure->name) && figure->p_less_together <= ALPHA)
        figure->state = PT_FIGURE_BETTER;
    figure->how = pt_doc_format(doc, "p = %.3f", pt_judged_p(figure));
    figure->is_near = b - a >= effect / 2 && b - a >= pt_figure_floor(figure->name) / 2 && figure->p <= ALPHA_NEAR;
}

void pt_figure_judge(struct pt_doc *doc, struct pt_judged *figure, double threshold_percent)
{
    if (pt_figure_is_time(figure->kind)) {
        judge_time(doc, figure, threshold_percent);
    } else if (!figure->n_a) {
        figure->state = PT_FIGURE_NOT_JUDGED;
        figure->how = "not known in the runs of the baseline";
    } else if (!figure->n_b) {
        figure->state = PT_FIGURE_NOT_JUDGED;
        figure->is_undecided = true; /* what the baseline watches over */
        figure->how = "not known in the run";
    } else {
        judge_count(doc, figure, threshold_percent);
    }
}

const char *pt_judged_sentence(struct pt_doc *doc, const char *stage, const struct pt_judged *figure)
{
    const struct pt_value a = pt_show_figure(doc, figure->kind, pt_median(figure->a, figure->n_a));
    const struct pt_value b = pt_show_figure(doc, figure->kind, pt_median(figure->b, figure->n_b));
    return pt_doc_format(doc, "%s: %s %s -> %s (%s)", stage, figure->name, a.text, b.text, figure->how);
}

/* A program that does something more often calls, allocates and moves more, and takes longer: in this order. */
static int rank_of(const struct pt_judged *figure)
{
    if (pt_figure_is_time(figure->kind))
        return 2;
    return figure->kind == PT_FIGURE_BYTES || !strncmp(figure->name, "heap.", 5);
}

/* How many times as much as before. A figure that was small before, or nothing, is not ahead of all others for that. */
static double times_of(const struct pt_judged *figure)
{
    static const double little[] = {
        [PT_FIGURE_COUNT] = 100, [PT_FIGURE_BYTES] = 1 << 20, [PT_FIGURE_WALL] = 0.1, [PT_FIGURE_CPU] = 0.1};
    const double room = figure->kind == PT_FIGURE_BENCHMARK ? 1e-9 : little[figure->kind];
    return (pt_median(figure->b, figure->n_b) + room) / (pt_median(figure->a, figure->n_a) + room);
}

int pt_judged_by_weight(const struct pt_judged *a, const struct pt_judged *b)
{
    const int rank = rank_of(a) - rank_of(b);
    const double times_a = times_of(a), times_b = times_of(b);
    if (rank || times_a != times_b)
        return rank ? rank : times_a > times_b ? -1 : 1;
    return strcmp(a->name, b->name);
}
