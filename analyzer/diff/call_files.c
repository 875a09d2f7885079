/* SPDX-License-Identifier: MIT
 *
 * Owns: which file, or which group of files, is told of calls that one run makes more often. Threads: any.
 */
#include "call_files.h"

#include <math.h>
#include <string.h>

#include "facts/call_class.h"
#include "proftrace/events.h"
#include "report/run_document.h"
#include "util/auto.h"
#include "util/text/fold.h"

static double by_of(const double of[PT_DIFF__SIDES])
{
    return of[PT_DIFF_B] - of[PT_DIFF_A];
}

/* Calls of one kind: the two stages, and what counts them in the row of a file. */
struct calls {
    const cJSON *more, *less; /* the run that makes more of them, and the other */
    const char *counter, *part;
    double by; /* above 0 */
};

/* The member of a file's row that counts a call; NULL = none does. */
static const char *counter_of(const char *call)
{
    static const char *const counters[PT_CALL__COUNT] = {
        [PT_CALL_OPEN] = "opens",
        [PT_CALL_READ] = "reads",
        [PT_CALL_WRITE] = "writes",
    };
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
        if (!strcmp(pt_call_name(kind), call))
            return counters[pt_call_class_of(kind)];
    return NULL;
}

/* Rows of a stage: the array, and the member that names a row. */
struct rows {
    const char *key, *name;
};
static const struct rows files = {"files", "path"}, groups = {"file_groups", "path_group"};

static bool is_same_group(const char *a, const char *b)
{
    PT_AUTO(pt_str_fini) struct pt_str of_a = {0}, of_b = {0};
    pt_fold_numbers(&of_a, a);
    pt_fold_numbers(&of_b, b);
    return !strcmp(pt_str_text(&of_a), pt_str_text(&of_b));
}

static const cJSON *row_named(const cJSON *stage, const struct rows *rows, const char *name)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(stage, rows->key))
    {
        const char *own = pt_member_text(row, rows->name);
        if (own && (rows == &groups ? is_same_group(own, name) : !strcmp(own, name)))
            return row;
    }
    return NULL;
}

/* How many more calls are of a file. Of a file in one run only, that is its all. */
static double more_of(const struct calls *calls, const struct rows *rows, const cJSON *row)
{
    const char *name = pt_member_text(row, rows->name);
    const cJSON *other = name ? row_named(calls->less, rows, name) : NULL;
    const double by = pt_member_number(row, calls->counter) - (other ? pt_member_number(other, calls->counter) : 0);
    return name && isfinite(by) ? fmax(0, by) : 0;
}

/* One that has half of the difference. */
static const cJSON *row_of(const struct calls *calls, const struct rows *rows)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(calls->more, rows->key)) if (more_of(calls, rows, row) >=
                                                                                          0.5 * calls->by) return row;
    return NULL;
}

/* ---- where ---- */

/* "train.py:88 label" -> "label" */
static const char *function_in(const char *place)
{
    const char *space = place ? strchr(place, ' ') : NULL;
    return space ? space + 1 : NULL;
}

static const char *function_of_file(const cJSON *row)
{
    return function_in(pt_member_text(row, "python_place"));
}

/* The place of a file in that function from which most of the calls come; NULL: none has half of those of known
 * functions. */
static const char *place_of_files(const struct calls *calls)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(calls->more, files.key), *row, *one;
    const char *best = NULL;
    double most = 0, known = 0;
    cJSON_ArrayForEach(row, all)
    {
        const char *function = function_of_file(row);
        double same = 0;
        if (!function)
            continue;
        known += more_of(calls, &files, row);
        cJSON_ArrayForEach(one, all)
        {
            const char *other = function_of_file(one);
            same += other && !strcmp(other, function) ? more_of(calls, &files, one) : 0;
        }
        if (same > most) {
            most = same;
            best = pt_member_text(row, "python_place");
        }
    }
    return most >= 0.5 * known ? best : NULL;
}

static double seconds_of_part(const cJSON *row, const char *part)
{
    const char *reason = pt_member_text(row, "reason");
    const double seconds = pt_member_number(row, "total_s");
    return reason && !strcmp(reason, part) && isfinite(seconds) ? seconds : 0;
}

/* The place in stage `in` with that name and reason. */
static double seconds_at(const cJSON *in, const char *place, const char *part)
{
    double seconds = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(in, "python_places"))
    {
        const char *own = pt_member_text(row, "place");
        seconds += own && !strcmp(own, place) ? seconds_of_part(row, part) : 0;
    }
    return seconds;
}

/* A file's place is where most of its time goes, which may be another call: the line of that function in which such
 * calls take longer is the one. */
static const char *place_of_calls(const struct calls *calls)
{
    const char *place = place_of_files(calls), *function = function_in(place);
    double most = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row,
                       cJSON_GetObjectItemCaseSensitive(place && calls->part ? calls->more : NULL, "python_places"))
    {
        const char *own = pt_member_text(row, "place"), *function_of_own = function_in(own);
        if (!function_of_own || strcmp(function_of_own, function) != 0)
            continue;
        const double by = seconds_of_part(row, calls->part) - seconds_at(calls->less, own, calls->part);
        if (by > most) {
            most = by;
            place = own;
        }
    }
    return place;
}

void pt_put_files(struct pt_str *out, const struct pt_stage_pair *pair, const struct pt_change *call, const char *part)
{
    const double by = by_of(call->count);
    const struct calls calls = {.more = pair->of[by >= 0 ? PT_DIFF_B : PT_DIFF_A],
                                .less = pair->of[by >= 0 ? PT_DIFF_A : PT_DIFF_B],
                                .counter = counter_of(call->label),
                                .part = part,
                                .by = fabs(by)};
    if (!calls.counter || by == 0)
        return;
    const cJSON *file = row_of(&calls, &files), *group = file ? NULL : row_of(&calls, &groups);
    if (!file && !group)
        return;
    const char *place = file ? pt_member_text(file, "python_place") : place_of_calls(&calls);
    pt_str_printf(out, " of %s", file ? pt_member_text(file, files.name) : pt_member_text(group, groups.name));
    if (place)
        pt_str_printf(out, " in %s", place);
}
