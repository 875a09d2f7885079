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

#include "facts/wait_kind.h"
#include "report/run_document.h"
#include "util/auto.h"
#include "beside_wall.h"
#include "commands.h"
#include "phrases.h"

static const char *label_of(enum pt_time_part part)
{
    return pt_time_parts[part].label;
}

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

/* ---- which change ---- */

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
    static const enum pt_time_part works[] = {PT_PART_file_read, PT_PART_file_write, PT_PART_file_meta,
                                              PT_PART_network,   PT_PART_sleep,      PT_PART_page_fault};
    (void)unused;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (has_reason(change, label_of(works[i])))
            return true;
    return false;
}

/* The largest change may be of a call that has nothing to do with it. */
static bool is_of_part(const struct pt_change *call, const char *label)
{
    const char *own = pt_part_of_call(call->label);
    return own && !strcmp(own, label);
}

static bool is_computing(enum pt_time_part part)
{
    return pt_part_is_computing(part) || part == PT_PART_page_fault || part == PT_PART_gil_wait;
}

/* Of processes and threads that the program made to work for it. */
static bool is_of_workers(enum pt_time_part part)
{
    return part == PT_PART_data_wait || part == PT_PART_workers;
}

static bool is_of_others(enum pt_time_part part)
{
    return is_of_workers(part) || part == PT_PART_child_wait || part == PT_PART_lock || part == PT_PART_idle;
}

/* What leads from a part of the time to what it is spent in. */
static const char *words_before(enum pt_time_part part)
{
    return is_of_workers(part) ? ": it waits for workers, whose " : is_of_others(part) ? ": it waits for " : " in ";
}

/* ---- the sentence ---- */

/* What the sentence says already. */
struct told {
    const struct pt_change *cause;   /* of the part before; NULL = none */
    const struct pt_change *command; /* NULL = none */
    bool has_cause, has_call;
};

/* The command that is waited for longer: how often it is run. Its place may be told already. */
static void put_command(struct pt_str *out, const struct pt_stage_pair *pair, const struct pt_change *command,
                        bool has_place, struct told *told)
{
    if (!command || told->command)
        return;
    told->command = command;
    pt_str_add(out, "; ");
    if (has_place)
        pt_put_runs(out, command, NULL);
    else
        pt_put_command(out, pair, command);
}

/* A place where calls are made, in this process or in one that it waits for. */
static void put_work(struct pt_str *out, const struct pt_stage_pair *pair, enum pt_time_part part,
                     const struct pt_change *place, double direction, struct told *told)
{
    const bool waits_itself = place && has_reason(place, label_of(part));
    const struct pt_change *call =
        pt_change_largest(pair, PT_DIFF_calls, direction, is_of_part, place ? place->apart : label_of(part));
    const struct pt_change *file = pt_change_largest(pair, PT_DIFF_files, direction, NULL, NULL);
    if (place || file)
        pt_str_add(out, waits_itself ? " in " : words_before(part));
    if (place)
        pt_put_place(out, place);
    else if (file)
        pt_str_add(out, file->label);
    if (waits_itself && part == PT_PART_child_wait) {
        put_command(out, pair, pt_change_largest(pair, PT_DIFF_commands, direction, NULL, NULL), true, told);
        return;
    }
    if (!call)
        return;
    told->has_call |= pt_call_is_other(call);
    if (place && is_of_workers(part) && !waits_itself) {
        pt_put_work(out, call);
        return;
    }
    pt_str_add(out, "; ");
    pt_put_call(out, call);
}

/* Candidates for the cause of a part's change, each the largest of its kind that went the same way and is a fifth of
 * it (of workers a tenth); NULL = none. */
struct candidates {
    const struct pt_change *function, *place;
};

static bool is_same_function(const struct pt_change *a, const struct pt_change *b)
{
    return !strcmp(a->label, b->label) && (a->file && b->file ? !strcmp(a->file, b->file) : a->file == b->file);
}

/* Where the program itself stands while others work is told where nobody knows what they do; of a command that it runs
 * also where that is not most of it. */
static const struct pt_change *place_of_wait(const struct pt_stage_pair *pair, enum pt_time_part part, double by,
                                             const struct candidates *found)
{
    const struct pt_change *own = pt_change_largest(pair, PT_DIFF_places, by > 0 ? 1 : -1, has_reason, label_of(part));
    const double known = fmax(fabs(seconds_of(found->function)), fabs(seconds_of(found->place)));
    const bool is_enough = fabs(seconds_of(own)) >= 0.2 * fabs(by);
    return is_enough && known < (part == PT_PART_child_wait ? 0.5 : 0.1) * fabs(by) ? own : NULL;
}

/* The part Python is in no native code, where there are samples of Python. */
static const struct pt_change *function_of(const struct pt_stage_pair *pair, enum pt_time_part part, double direction)
{
    const struct pt_change *python = pt_change_largest(pair, PT_DIFF_python, direction, NULL, NULL);
    return python && part == PT_PART_python ? python : pt_change_of_function(pair, direction);
}

static struct candidates candidates_for(const struct pt_stage_pair *pair, enum pt_time_part part, double by)
{
    const bool of_others = is_of_others(part);
    /* Workers wait for a CPU, too, and that is in nobody's functions. */
    const double direction = by > 0 ? 1 : -1, enough = (is_of_workers(part) ? 0.1 : 0.2) * fabs(by);
    const struct pt_change *function = function_of(pair, part, direction);
    const struct pt_change *place =
        pt_change_largest(pair, PT_DIFF_places, direction, of_others ? is_work : has_reason, label_of(part));
    struct candidates found = {.function = is_computing(part) || of_others ? function : NULL, .place = place};
    const struct pt_change *own = of_others ? place_of_wait(pair, part, by, &found) : NULL;
    if (own)
        return (struct candidates){.place = own};
    if (fabs(seconds_of(found.function)) < enough)
        found.function = NULL;
    if (fabs(seconds_of(found.place)) < enough)
        found.place = NULL;
    if (!found.function || !found.place)
        return found;
    /* The time that a call takes is CPU time of its caller, too: the call says more. */
    const double least = is_same_function(found.function, found.place) ? 0.5 : 1;
    if (fabs(seconds_of(found.place)) > least * fabs(seconds_of(found.function)))
        found.function = NULL;
    else
        found.place = NULL;
    return found;
}

/* What the time of a part went into; nothing where nothing is known, or where it is told already. */
static void put_cause(struct pt_str *out, const struct pt_stage_pair *pair, enum pt_time_part part, double by,
                      struct told *told)
{
    const struct candidates found = candidates_for(pair, part, by);
    const struct pt_change *cause = found.function ? found.function : found.place;
    const bool of_others = is_of_others(part),
               is_of_calls = !of_others && !is_computing(part) && part != PT_PART_runnable;
    if (found.function && told->cause != cause)
        pt_put_function(out, words_before(part), found.function, is_of_workers(part) ? "" : ", which");
    else if (found.place || is_of_calls)
        put_work(out, pair, part, found.place, by > 0 ? 1 : -1, told);
    /* What a child computes that the stage waits for is told as computing. */
    if (is_computing(part))
        put_command(out, pair, pt_command_behind(pair, by), false, told);
    told->cause = cause;
    told->has_cause |= cause != NULL;
}

bool pt_stage_pair_splits_computing(const struct pt_stage_pair *pair)
{
    double parts_s = 0;
    for (int side = 0; side < PT_DIFF__SIDES; side++) {
        const cJSON *time = cJSON_GetObjectItemCaseSensitive(pair->of[side], "time");
        parts_s += pt_member_number(time, pt_time_parts[PT_PART_python].key) +
                   pt_member_number(time, pt_time_parts[PT_PART_native].key);
    }
    return isfinite(parts_s);
}

/* What explains nothing: the rest, and what other parts say. */
static bool is_passed_over(const struct pt_stage_pair *pair, enum pt_time_part part)
{
    return part == PT_PART_unattributed || (part == PT_PART_computing && pt_stage_pair_splits_computing(pair));
}

/* B - A of each part; 0 where it is not known in both, or explains nothing. */
static void differences(const struct pt_stage_pair *pair, double by[PT_PART__COUNT])
{
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(pair->of[PT_DIFF_A], "time");
    const cJSON *b = cJSON_GetObjectItemCaseSensitive(pair->of[PT_DIFF_B], "time");
    for (enum pt_time_part part = 0; part < PT_PART__COUNT; part++) {
        const char *key = pt_time_parts[part].key;
        by[part] = pt_member_number(b, key) - pt_member_number(a, key);
        if (is_passed_over(pair, part) || !isfinite(by[part]))
            by[part] = 0;
    }
}

/* The part that went the stage's way farthest, if it is a quarter of what is not waiting for a CPU. That wait comes
 * last: other programs cause it, and it grows with a stage that runs longer for reasons of its own.
 * PT_PART__COUNT = none did. */
static enum pt_time_part largest_part(const double by[PT_PART__COUNT], double all)
{
    const double direction = all > 0 ? 1 : -1;
    enum pt_time_part best = PT_PART__COUNT;
    const double waited = fmin(fmax(by[PT_PART_runnable] * direction, 0), fabs(all)), own = fabs(all) - waited;
    for (enum pt_time_part i = 0; i < PT_PART__COUNT; i++)
        if (i != PT_PART_runnable && by[i] * direction > 0 && by[i] * direction >= 0.25 * own &&
            (best == PT_PART__COUNT || by[i] * direction > by[best] * direction))
            best = i;
    /* The whole is waiting, but for a rest that explains nothing. */
    if (best < PT_PART__COUNT && by[best] * direction >= 0.05 * fabs(all))
        return best;
    return waited >= 0.25 * fabs(all) ? PT_PART_runnable : PT_PART__COUNT;
}

/* An epoch has parts of its own. */
static void put_part_of_epoch(struct pt_str *out, const struct pt_stage_pair *pair, double all)
{
    const struct pt_change *part = pt_change_largest(pair, PT_DIFF_epoch, all > 0 ? 1 : -1, NULL, NULL);
    if (!part)
        return;
    pt_str_add(out, ": ");
    pt_put_difference(out, seconds_of(part));
    pt_str_printf(out, " %s", part->label);
}

static struct told put_parts(struct pt_str *out, const struct pt_stage_pair *pair, double all)
{
    struct told told = {0};
    double by[PT_PART__COUNT];
    put_part_of_epoch(out, pair, all);
    differences(pair, by);
    for (int n = 0; n < 2; n++) {
        const enum pt_time_part part = largest_part(by, all);
        if (part == PT_PART__COUNT)
            break;
        pt_str_add(out, n ? ", and " : ": ");
        pt_put_difference(out, by[part]);
        pt_str_printf(out, " %s", label_of(part));
        put_cause(out, pair, part, by[part], &told);
        by[part] = 0;
    }
    return told;
}

double pt_stage_pair_own_seconds(const struct pt_stage_pair *pair)
{
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(pair->of[PT_DIFF_A], "time");
    const cJSON *b = cJSON_GetObjectItemCaseSensitive(pair->of[PT_DIFF_B], "time");
    const double all = pt_stage_pair_seconds(pair);
    const char *key = pt_time_parts[PT_PART_runnable].key;
    const double waited = pt_member_number(b, key) - pt_member_number(a, key);
    if (!isfinite(waited) || waited * all <= 0)
        return all;
    return fabs(waited) < fabs(all) ? all - waited : 0;
}

bool pt_stage_pair_is_beyond_noise(const struct pt_stage_pair *pair)
{
    const double own = pt_stage_pair_own_seconds(pair), by = isfinite(own) ? fabs(own) : 0;
    if (by < 0.1 || (by < 0.5 && by < 0.2 * wall_of(pair->of[PT_DIFF_A])))
        return false;
    return by >= 0.5 || own * pt_counts_differ(pair) >= 0; /* not more calls in less time */
}

/* "(31.0 s -> 43.4 s)" */
static void put_walls(struct pt_str *out, const struct pt_stage_pair *pair)
{
    pt_str_char(out, '(');
    pt_put_seconds(out, wall_of(pair->of[PT_DIFF_A]));
    pt_str_add(out, " -> ");
    pt_put_seconds(out, wall_of(pair->of[PT_DIFF_B]));
    pt_str_char(out, ')');
}

/* A time that differs, and why. A count is exact, and a time may be noise: then what the program does goes before. */
static void put_time(struct pt_str *out, const struct pt_stage_pair *pair)
{
    PT_AUTO(pt_str_fini) struct pt_str why = {0};
    const double by = pt_stage_pair_seconds(pair);
    const struct told told = put_parts(&why, pair, by);
    const bool has_counted_command = told.command && told.command == pt_command_counted(pair);
    unsigned beside = (told.has_cause ? 0 : PT_BESIDE_CPU) | (told.has_call ? 0 : PT_BESIDE_CALLS) |
                      (has_counted_command ? 0 : PT_BESIDE_COMMANDS);
    const bool is_led_by_counts =
        !told.has_call && !has_counted_command && pt_counts_differ(pair) != 0 && !pt_stage_pair_is_beyond_noise(pair);
    if (is_led_by_counts) {
        pt_put_beside_wall(out, pair, PT_BESIDE_COUNTS, ": ");
        pt_str_add(out, "; beside that");
        beside &= ~(unsigned)PT_BESIDE_COUNTS;
    }
    pt_str_char(out, ' ');
    pt_put_difference(out, by);
    pt_str_char(out, ' ');
    put_walls(out, pair);
    pt_str_add(out, pt_str_text(&why));
    pt_put_beside_wall(out, pair, beside, is_led_by_counts ? ", and " : "; beside that ");
}

void pt_explain_stage(const struct pt_stage_pair *pair, struct pt_str *out)
{
    const cJSON *a = pair->of[PT_DIFF_A], *b = pair->of[PT_DIFF_B];
    pt_str_add(out, pair->name);
    if (!a || !b) {
        pt_str_printf(out, " is only in %s", a ? "A: " : "B: ");
        pt_put_seconds(out, isfinite(wall_of(a ? a : b)) ? wall_of(a ? a : b) : 0);
        return;
    }
    const char *status_a = pt_member_text(a, "status"), *status_b = pt_member_text(b, "status");
    if (status_a && status_b && strcmp(status_a, status_b) != 0)
        pt_str_printf(out, " (%s in A, %s in B)", status_a, status_b);
    if (!isfinite(pt_stage_pair_seconds(pair))) {
        pt_str_add(out, ": its time is not known in both runs");
        return;
    }
    if (pt_stage_pair_differs(pair)) {
        put_time(out, pair);
        return;
    }
    pt_str_add(out, ": no difference of more than 5 % and 50 ms ");
    put_walls(out, pair);
    pt_put_beside_wall(out, pair, PT_BESIDE_CPU | PT_BESIDE_COUNTS, ", but ");
}
