/* SPDX-License-Identifier: MIT
 *
 * Owns: which change is told as the cause of another. A sentence goes from the stage's wall time to the part of its
 * time account that changed most, from there to the function in which that time is spent, and to the call that is made
 * more often, with more bytes, or takes longer. Threads: any. Never: says more than what stands in both reports.
 */
#include "explain.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "report/run_document.h"
#include "util/text/fmt.h"

static const struct {
    const char *key, *label;
} parts[] = {
#define PART(id, label) {#id "_s", label},
#include "facts/time_parts.def"
#undef PART
};
enum { N_PARTS = sizeof parts / sizeof *parts };

static double wall_of(const cJSON *stage)
{
    return stage ? pt_member_number(stage, "duration_s") : NAN;
}

double pt_stage_pair_seconds(const struct pt_stage_pair *pair)
{
    return wall_of(pair->of[PT_DIFF_B]) - wall_of(pair->of[PT_DIFF_A]);
}

bool pt_stage_pair_differs(const struct pt_stage_pair *pair)
{
    const double by = fabs(pt_stage_pair_seconds(pair));
    return by >= 0.05 && by >= 0.05 * wall_of(pair->of[PT_DIFF_A]);
}

static void put_seconds(struct pt_str *out, double seconds)
{
    pt_str_add(out, pt_fmt_duration((pt_i64)llround(seconds * 1e9)).text);
}

/* "+1.20 s" */
static void put_difference(struct pt_str *out, double seconds)
{
    if (seconds > 0)
        pt_str_char(out, '+');
    put_seconds(out, seconds);
}

static void put_place(struct pt_str *out, const struct pt_change *change)
{
    pt_str_add(out, change->label);
    if (!change->file)
        return;
    const char *slash = strrchr(change->file, '/');
    pt_str_printf(out, " (%s", slash ? slash + 1 : change->file);
    if (change->line > 0)
        pt_str_printf(out, ":%.0f", change->line);
    pt_str_char(out, ')');
}

/* ---- which change ---- */

/* A direction: +1 where B is slower. What went the other way explains nothing. */
static const struct pt_change *largest(const struct pt_stage_pair *pair, enum pt_diff_table table, double direction,
                                       bool (*fits)(const struct pt_change *, const char *), const char *what)
{
    const struct pt_changes *changes = &pair->changes[table];
    for (size_t i = 0; i < changes->n; i++) /* the largest first */
        if (pt_change_of(&pt_diff_tables[table], &changes->items[i]) * direction > 0 &&
            (!fits || fits(&changes->items[i], what)))
            return &changes->items[i];
    return NULL;
}

static double seconds_of(const struct pt_change *change)
{
    return change ? change->seconds[PT_DIFF_B] - change->seconds[PT_DIFF_A] : 0;
}

static bool has_reason(const struct pt_change *change, const char *reason)
{
    return change->apart && !strcmp(change->apart, reason);
}

/* What a worker does itself, and neither waits for another thread nor for work. */
static bool is_work(const struct pt_change *change, const char *unused)
{
    static const char *const works[] = {"File read", "File write", "File metadata", "Network", "Sleep", "Page faults"};
    (void)unused;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (has_reason(change, works[i]))
            return true;
    return false;
}

static bool is_computing(const char *part)
{
    return !strcmp(part, "Python") || !strcmp(part, "Native") || !strcmp(part, "Heap (est.)") ||
           !strcmp(part, "Page faults") || !strcmp(part, "GIL");
}

static bool is_of_others(const char *part)
{
    return !strcmp(part, "Data wait") || !strcmp(part, "Own workers") || !strcmp(part, "Child wait") ||
           !strcmp(part, "Locks") || !strcmp(part, "Idle");
}

/* ---- the sentence ---- */

/* "3.1 x the bytes (" */
static void put_times(struct pt_str *out, const double of[PT_DIFF__SIDES], const char *what)
{
    const double ratio = of[PT_DIFF_A] > 0 ? of[PT_DIFF_B] / of[PT_DIFF_A] : 0;
    if (of[PT_DIFF_A] > 0)
        pt_str_printf(out, ratio < 10 ? "%.2g x " : "%.0f x ", ratio);
    pt_str_add(out, what);
}

/* How a call has changed: its bytes, how often, or how long each takes. */
static void put_call(struct pt_str *out, const struct pt_change *call)
{
    const double *count = call->count, *bytes = call->bytes;
    const bool has_more_calls = count[PT_DIFF_B] > 1.1 * count[PT_DIFF_A] || count[PT_DIFF_B] < 0.9 * count[PT_DIFF_A];
    const bool has_more_bytes = bytes[PT_DIFF_B] > 1.1 * bytes[PT_DIFF_A] || bytes[PT_DIFF_B] < 0.9 * bytes[PT_DIFF_A];
    pt_str_printf(out, "; %s: ", call->label);
    if (has_more_bytes) {
        put_times(out, bytes, "the bytes (");
        pt_str_printf(out, "%s -> ", pt_fmt_bytes((uint64_t)bytes[PT_DIFF_A]).text);
        pt_str_printf(out, "%s)", pt_fmt_bytes((uint64_t)bytes[PT_DIFF_B]).text);
    }
    if (has_more_calls) {
        pt_str_add(out, has_more_bytes ? ", " : "");
        put_times(out, count, "the calls (");
        pt_str_printf(out, "%s -> ", pt_fmt_count((uint64_t)count[PT_DIFF_A]).text);
        pt_str_printf(out, "%s)", pt_fmt_count((uint64_t)count[PT_DIFF_B]).text);
    }
    if (!has_more_bytes && !has_more_calls && count[PT_DIFF_A] > 0 && call->seconds[PT_DIFF_A] > 0)
        pt_str_printf(out, "each takes %.2g x as long",
                      call->seconds[PT_DIFF_B] / count[PT_DIFF_B] / (call->seconds[PT_DIFF_A] / count[PT_DIFF_A]));
}

static void put_function(struct pt_str *out, const char *before, const struct pt_change *function)
{
    pt_str_add(out, before);
    put_place(out, function);
    pt_str_add(out, ", which computes for ");
    put_seconds(out, function->seconds[PT_DIFF_B]);
    pt_str_add(out, " instead of ");
    put_seconds(out, function->seconds[PT_DIFF_A]);
}

static void put_work(struct pt_str *out, const struct pt_stage_pair *pair, const char *before,
                     const struct pt_change *place, double direction)
{
    pt_str_add(out, before);
    if (place)
        put_place(out, place);
    const struct pt_change *call = largest(pair, PT_DIFF_calls, direction, NULL, NULL);
    const struct pt_change *file = largest(pair, PT_DIFF_files, direction, NULL, NULL);
    if (!place && file)
        pt_str_add(out, file->label);
    if (call)
        put_call(out, call);
}

/* Candidates for the cause of a part's change, each the largest of its kind that went the same way and is a fifth of
 * it; NULL = none. */
struct candidates {
    const struct pt_change *function, *place;
};

static struct candidates candidates_for(const struct pt_stage_pair *pair, const char *part, double by)
{
    const double direction = by > 0 ? 1 : -1, enough = 0.2 * fabs(by);
    const bool of_others = is_of_others(part);
    const struct pt_change *python = largest(pair, PT_DIFF_python, direction, NULL, NULL);
    const struct pt_change *function = python ? python : largest(pair, PT_DIFF_native, direction, NULL, NULL);
    const struct pt_change *place = largest(pair, PT_DIFF_places, direction, of_others ? is_work : has_reason, part);
    struct candidates found = {.function = is_computing(part) || of_others ? function : NULL, .place = place};
    if (fabs(seconds_of(found.function)) < enough)
        found.function = NULL;
    if (fabs(seconds_of(found.place)) < enough)
        found.place = NULL;
    if (found.function && fabs(seconds_of(found.function)) >= fabs(seconds_of(found.place)))
        found.place = NULL;
    else if (found.place)
        found.function = NULL;
    return found;
}

/* What the time of a part went into; nothing where nothing is known, or where `*told` says it already. */
static void put_cause(struct pt_str *out, const struct pt_stage_pair *pair, const char *part, double by,
                      const struct pt_change **told)
{
    const struct candidates found = candidates_for(pair, part, by);
    const struct pt_change *cause = found.function ? found.function : found.place;
    const bool of_others = is_of_others(part),
               is_of_calls = !of_others && !is_computing(part) && strcmp(part, "Runnable") != 0;
    const char *before = of_others ? ": it waits for " : " in ";
    if (found.function && *told != cause)
        put_function(out, before, found.function);
    else if (found.place || is_of_calls)
        put_work(out, pair, found.place || pair->changes[PT_DIFF_files].n ? before : "", found.place, by > 0 ? 1 : -1);
    *told = cause;
}

static bool is_sum(const char *key)
{
    return !strcmp(key, "computing_s") || !strcmp(key, "unattributed_s");
}

/* The parts that went the stage's way, the largest first: two at most, and the second only if it is a quarter of all.
 */
static void put_parts(struct pt_str *out, const struct pt_stage_pair *pair, double all)
{
    double by[N_PARTS];
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(pair->of[PT_DIFF_A], "time");
    const cJSON *b = cJSON_GetObjectItemCaseSensitive(pair->of[PT_DIFF_B], "time");
    for (int i = 0; i < N_PARTS; i++) {
        by[i] = pt_member_number(b, parts[i].key) - pt_member_number(a, parts[i].key);
        if (is_sum(parts[i].key) || !isfinite(by[i]))
            by[i] = 0;
    }
    const struct pt_change *cause = NULL;
    for (int told = 0; told < 2; told++) {
        int best = 0;
        for (int i = 1; i < N_PARTS; i++)
            if (by[i] * (all > 0 ? 1 : -1) > by[best] * (all > 0 ? 1 : -1))
                best = i;
        if (fabs(by[best]) < 0.25 * fabs(all) || by[best] * all <= 0)
            return;
        pt_str_add(out, told ? ", and " : ": ");
        put_difference(out, by[best]);
        pt_str_printf(out, " %s", parts[best].label);
        put_cause(out, pair, parts[best].label, by[best], &cause);
        by[best] = 0;
    }
}

void pt_explain_stage(const struct pt_stage_pair *pair, struct pt_str *out)
{
    const cJSON *a = pair->of[PT_DIFF_A], *b = pair->of[PT_DIFF_B];
    const double by = pt_stage_pair_seconds(pair);
    pt_str_add(out, pair->name);
    if (!a || !b) {
        pt_str_printf(out, " is only in %s", a ? "A: " : "B: ");
        put_seconds(out, isfinite(wall_of(a ? a : b)) ? wall_of(a ? a : b) : 0);
        return;
    }
    const char *status_a = pt_member_text(a, "status"), *status_b = pt_member_text(b, "status");
    if (status_a && status_b && strcmp(status_a, status_b) != 0)
        pt_str_printf(out, " (%s in A, %s in B)", status_a, status_b);
    if (!isfinite(by)) {
        pt_str_add(out, ": its time is not known in both runs");
        return;
    }
    if (!pt_stage_pair_differs(pair)) {
        pt_str_add(out, ": no difference of more than 5 % and 50 ms (");
    } else {
        pt_str_char(out, ' ');
        put_difference(out, by);
        pt_str_add(out, " (");
    }
    put_seconds(out, wall_of(a));
    pt_str_add(out, " -> ");
    put_seconds(out, wall_of(b));
    pt_str_char(out, ')');
    if (pt_stage_pair_differs(pair))
        put_parts(out, pair, by);
}
