/* SPDX-License-Identifier: MIT
 *
 * Owns: evaluating rules.def, hiding what is too small to matter, ranking. Threads: one. Never: sees an event; lets a
 * gain exceed the wall time.
 */
#include "rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "custom.h"
#include "general.h"
#include "place.h"
#include "remedy.h"
#include "util/auto.h"
#include "util/mem.h"

#define LEAST_GAIN_S 0.1
#define LEAST_GAIN_PERCENT 1.0
/* Of the seconds of a general finding, explained by a specific one. */
#define HALF 0.5
#define NEARLY_ALL 0.8

enum { PT_PART_none = PT_PART__COUNT };

const struct pt_rule pt_rules[] = {
#define HEAD(id, severity, confidence, part, place)                                                                    \
#id, PT_SEVERITY_##severity, PT_CONFIDENCE_##confidence, (enum pt_time_part)PT_PART_##part, PT_PLACE_##place
#define RULE(id, severity, confidence, part, place, metric, comparison, threshold, cost, evidence, table, title,       \
             remedy, advice)                                                                                           \
    {HEAD(id, severity, confidence, part, place),                                                                      \
     metric,                                                                                                           \
     #comparison,                                                                                                      \
     threshold,                                                                                                        \
     cost,                                                                                                             \
     evidence,                                                                                                         \
     table,                                                                                                            \
     title,                                                                                                            \
     remedy,                                                                                                           \
     advice,                                                                                                           \
     NULL},
#define RULE_CUSTOM(id, severity, confidence, part, place, title, remedy, advice)                                      \
    {HEAD(id, severity, confidence, part, place), NULL, NULL, 0, NULL, NULL, NULL, title, remedy, advice, pt_rule_##id},
#include "rules.def"
#undef RULE
#undef RULE_CUSTOM
#undef HEAD
    {.id = NULL},
};

/* ">= or costly": seconds first. What a tenth of the stage goes into is worth a finding however few calls it was. */
static bool is_costly(const struct pt_rule *rule, const struct pt_finding *finding, const struct pt_metrics *metrics,
                      double wall_s)
{
    const double least_s = PT_LARGE_PART * wall_s;
    const double part_s =
        rule->part < PT_PART__COUNT ? pt_finding_number(finding, metrics, pt_time_parts[rule->part].metric) : NAN;
    return strstr(rule->comparison, "or costly") && pt_finding_number(finding, metrics, rule->cost) >= least_s &&
           !(part_s < least_s);
}

static bool compare(double number, const char *comparison, double threshold)
{
    if (*comparison == '>')
        return comparison[1] == '=' ? number >= threshold : number > threshold;
    if (!strcmp(comparison, "<="))
        return number <= threshold;
    return number < threshold;
}

static bool row_fires(struct pt_profile *profile, const struct pt_rule *rule, struct pt_finding *finding)
{
    if (finding->stage < 0)
        return false;
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage((pt_u32)finding->stage);
    const struct pt_value value = pt_metrics_get(metrics, scope, rule->metric);
    const double wall_s = pt_own_wall_s(profile, finding);
    if (value.type == PT_VALUE_UNKNOWN || (!compare(pt_value_number(value), rule->comparison, rule->threshold) &&
                                           !is_costly(rule, finding, metrics, wall_s)))
        return false;
    finding->gain_upper_s = pt_value_number(pt_metrics_get(metrics, scope, rule->cost));
    finding->is_exact = rule->part == PT_PART_sleep;
    if (rule->place == PT_PLACE_PREPARING) /* for the steps of a training */
        pt_bound_by_idle_gpu(profile, finding->gain_upper_s, finding);
    pt_finding_add_metrics(finding, metrics, rule->evidence);
    const char *slash = strchr(rule->table, '/');
    if (slash)
        pt_finding_add_rows(finding, metrics,
                            pt_metrics_format(metrics, "%.*s", (int)(slash - rule->table), rule->table), slash + 1);
    return true;
}

/* Costs are timed inside of calls. Entering and leaving them, the caches that they empty and the work around them
 * are saved in addition: up to a tenth in the pipelines of tests/planted. */
#define AROUND_COSTS 1.1
#define AROUND_SLEEPS 1.02

static void clamp_gain(const struct pt_profile *profile, struct pt_finding *finding)
{
    const double run_s = (double)pt_profile_wall_ns(profile) / 1e9;
    const double wall_s =
        finding->stage < 0 ? run_s : (double)pt_profile_stage_wall_ns(profile, (pt_u32)finding->stage) / 1e9;
    const double around = finding->is_exact ? AROUND_SLEEPS : AROUND_COSTS;
    const double follows = finding->with_what_follows > 0 ? finding->with_what_follows : 1;
    finding->gain_of = (struct pt_gain_of){.measured_s = fmax(finding->gain_upper_s, 0) / follows,
                                           .around_percent = 100 * (around * follows - 1),
                                           .stretch = pt_stretch_of(profile, finding)};
    finding->gain_upper_s *= around * finding->gain_of.stretch;
    if (finding->gain_upper_s > wall_s)
        finding->gain_upper_s = wall_s;
    if (!(finding->gain_upper_s > 0))
        finding->gain_upper_s = 0;
    finding->gain_upper_percent = run_s > 0 ? 100 * finding->gain_upper_s / run_s : 0;
    if (finding->gain_upper_percent > 100)
        finding->gain_upper_percent = 100;
}

/* Evidence that is the place itself. */
static void show_place(struct pt_finding *finding)
{
    const struct pt_place *place = &finding->place;
    for (pt_u32 i = 0; i < finding->n_evidence; i++)
        if (finding->evidence[i].is_place) {
            finding->evidence[i].value = place->text ? pt_text(place->text) : pt_unknown(place->reason);
            finding->evidence[i].show = place->text ? PT_SHOW_TEXT : PT_SHOW_COUNT;
        }
}

/* Whether a program needs what it does beside its steps, nobody else knows; of what is done better in another way it is
 * known: a problem, and what those stacks have of the time is its bound. Phases have timed it from beginning to end. */
static void judge_by_remedy(const struct pt_profile *profile, struct pt_finding *finding, double share)
{
    if (!finding->is_observation || finding->place_kind != PT_PLACE_BESIDE || !finding->knows_remedy)
        return;
    finding->is_observation = false;
    finding->is_wait = true;
    finding->with_what_follows = PT_WITH_COLD_CACHES;
    finding->gain_upper_s = share * finding->time_s * PT_WITH_COLD_CACHES;
    pt_bound_by_idle_gpu(profile, finding->gain_upper_s, finding);
    finding->time_s = 0;
}

/* A gain that is too small is no finding; nor is a time that is. */
static void add(struct pt_profile *profile, struct pt_finding *finding, struct pt_findings *findings)
{
    const double run_s = (double)pt_profile_wall_ns(profile) / 1e9;
    double share = 1;
    finding->place = pt_place_of(profile, finding);
    const char *remedy = pt_remedy_of(profile, finding, &share);
    finding->knows_remedy = remedy;
    finding->remedy = pt_in_words_of_data_set(profile, finding, remedy ? remedy : finding->remedy);
    finding->advice = pt_in_words_of_data_set(profile, finding, finding->advice);
    finding->remedy = pt_in_words_of_trainer(profile, finding, finding->remedy);
    finding->advice = pt_in_words_of_trainer(profile, finding, finding->advice);
    judge_by_remedy(profile, finding, share);
    clamp_gain(profile, finding);
    finding->time_percent = run_s > 0 ? fmin(100, 100 * finding->time_s / run_s) : 0;
    const double s = finding->is_observation ? finding->time_s : finding->gain_upper_s;
    const double percent = finding->is_observation ? finding->time_percent : finding->gain_upper_percent;
    if (!finding->always_shown && (s < LEAST_GAIN_S || percent < LEAST_GAIN_PERCENT))
        return;
    show_place(finding);
    pt_vec_push(findings, *finding);
}

static void try_general(struct pt_profile *profile, const struct pt_general *row, pt_i64 stage,
                        struct pt_findings *findings)
{
    struct pt_finding finding = {
        .rule = row->id,
        .order = (pt_u32)(sizeof pt_rules / sizeof *pt_rules + (size_t)(row - pt_generals)),
        .severity = PT_SEVERITY_INFO,
        .confidence = PT_CONFIDENCE_MEDIUM,
        .stage = stage,
        .part = row->part,
        .place_kind = row->place,
        .title = row->title,
        .remedy = row->remedy,
        .advice = row->advice,
        .is_general = true,
    };
    if (pt_general_fires(profile, row, findings, &finding))
        add(profile, &finding, findings);
}

static const char *title_of(const struct pt_profile *profile, const struct pt_finding *finding)
{
    static const struct {
        const char *rule, *metric, *title;
    } titles[] = {
#define TITLE(rule, metric, title) {#rule, metric, title},
#include "titles.def"
#undef TITLE
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (!strcmp(titles[i].rule, finding->rule) &&
            pt_finding_number(finding, &profile->metrics, titles[i].metric) > 50)
            return titles[i].title;
    return finding->title;
}

static void try_rule(struct pt_profile *profile, const struct pt_rule *rule, pt_i64 stage, struct pt_findings *findings)
{
    struct pt_finding finding = {
        .rule = rule->id,
        .order = (pt_u32)(rule - pt_rules),
        .severity = rule->severity,
        .confidence = rule->confidence,
        .stage = stage,
        .part = rule->part,
        .place_kind = rule->place,
        .title = rule->title,
        .remedy = rule->remedy,
        .advice = rule->advice,
    };
    if (rule->custom ? !rule->custom(profile, stage, &finding) : !row_fires(profile, rule, &finding))
        return;
    const char *title = title_of(profile, &finding);
    finding.is_of_workers = title != finding.title;
    finding.title = title;
    add(profile, &finding, findings);
}

/* What can be changed in the program comes before what other programs took, unless it is little beside that. */
#define WORTH_OF_OTHERS 0.1

static double worth_s(const struct pt_finding *finding)
{
    return finding->gain_upper_s * (finding->others ? WORTH_OF_OTHERS : 1);
}

/* An empty capture first: nothing below it means anything. Then by gain; then what is no problem. */
static int by_rank(const void *a, const void *b)
{
    const struct pt_finding *x = a, *y = b;
    const bool x_error = x->severity == PT_SEVERITY_ERROR, y_error = y->severity == PT_SEVERITY_ERROR;
    if (x_error != y_error)
        return x_error ? -1 : 1;
    if (x->is_observation != y->is_observation)
        return x->is_observation ? 1 : -1;
    if (x->is_observation && x->time_s != y->time_s)
        return x->time_s < y->time_s ? 1 : -1;
    if (worth_s(x) != worth_s(y))
        return worth_s(x) < worth_s(y) ? 1 : -1;
    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* What of the general one's seconds the specific one explains. */
static double share_of(const struct pt_finding *general, const struct pt_finding *specific)
{
    const bool is_same = pt_subsumes(specific, general) || pt_explains(specific, general);
    return is_same && general->gain_upper_s > 0 ? specific->gain_upper_s / general->gain_upper_s : 0;
}

static bool is_below(const struct pt_finding *general, const struct pt_finding *specific)
{
    return share_of(general, specific) >= HALF;
}

/* Of a row of general.def the part that is explained was taken off. Of one that is in no seconds there is no part. */
static bool says_it_all(const struct pt_finding *specific, const struct pt_finding *general)
{
    if (general->gain_upper_s > 0)
        return !general->is_general && share_of(general, specific) >= NEARLY_ALL;
    /* A place in 16 s of the computing is not all that there is to say about 95 s of it. */
    const double said_s = specific->is_observation ? specific->time_s : specific->gain_upper_s;
    if (general->is_observation && (specific->is_observation || !general->is_general) &&
        !(said_s >= HALF * general->time_s))
        return false;
    return pt_subsumes(specific, general) && !(general->is_general && specific->gain_upper_s > 0);
}

/* One finding for one fact: the general one goes where the specific one explains nearly all of it. */
static void drop_what_says_no_more(struct pt_findings *findings)
{
    PT_AUTO(pt_freep) bool *are_said = pt_calloc(findings->n + 1, sizeof *are_said);
    size_t kept = 0;
    for (size_t i = 0; i < findings->n; i++)
        for (size_t j = 0; j < findings->n && !are_said[i]; j++)
            are_said[i] = i != j && says_it_all(&findings->items[j], &findings->items[i]);
    for (size_t i = 0; i < findings->n; i++)
        if (!are_said[i])
            findings->items[kept++] = findings->items[i];
    findings->n = kept;
}

/* Of ranked findings, from the last one on: what is moved down passes only what is in its place already. */
static void put_general_ones_below(struct pt_findings *findings)
{
    for (size_t i = findings->n; i-- > 0;) {
        const struct pt_finding general = findings->items[i];
        size_t place = i;
        for (size_t j = i + 1; j < findings->n; j++)
            place = is_below(&general, &findings->items[j]) ? j : place;
        memmove(&findings->items[i], &findings->items[i + 1], (place - i) * sizeof general);
        findings->items[place] = general;
    }
}

void pt_judge(struct pt_profile *profile, struct pt_findings *ret_findings)
{
    for (const struct pt_rule *rule = pt_rules; rule->id; rule++) {
        if (!profile->stages.n)
            try_rule(profile, rule, -1, ret_findings);
        for (size_t stage = 0; stage < profile->stages.n; stage++)
            try_rule(profile, rule, (pt_i64)stage, ret_findings);
    }
    for (const struct pt_general *row = pt_generals; row->id; row++)
        for (size_t stage = 0; stage < profile->stages.n; stage++)
            try_general(profile, row, (pt_i64)stage, ret_findings);
    drop_what_says_no_more(ret_findings);
    if (ret_findings->n)
        qsort(ret_findings->items, ret_findings->n, sizeof *ret_findings->items, by_rank);
    put_general_ones_below(ret_findings);
}

void pt_findings_free(struct pt_findings *findings)
{
    free(findings->items);
    *findings = (struct pt_findings){0};
}
