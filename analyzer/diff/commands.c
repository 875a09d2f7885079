/* SPDX-License-Identifier: MIT
 *
 * Owns: which command is told, and which line of Python it is that waits for it. Threads: any. Never: takes a command
 * for new that the report of the other run had no room for.
 */
#include "commands.h"

#include <math.h>
#include <string.h>

#include "facts/wait_kind.h"
#include "profile/views.h"
#include "report/run_document.h"
#include "phrases.h"

static double by_of(const double of[PT_DIFF__SIDES])
{
    return of[PT_DIFF_B] - of[PT_DIFF_A];
}

/* A report has the commands that took longest: one that is not there may have had less. */
static bool is_known_in(const cJSON *stage, double count)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(stage, pt_diff_tables[PT_DIFF_commands].path);
    return count > 0 || (size_t)cJSON_GetArraySize(rows) < pt_table_views[PT_VIEW_commands].most;
}

static bool is_known(const struct pt_stage_pair *pair, const struct pt_change *command)
{
    return is_known_in(pair->of[PT_DIFF_A], command->count[PT_DIFF_A]) &&
           is_known_in(pair->of[PT_DIFF_B], command->count[PT_DIFF_B]);
}

const struct pt_change *pt_command_behind(const struct pt_stage_pair *pair, double by)
{
    const struct pt_change *command = pt_change_largest(pair, PT_DIFF_commands, by > 0 ? 1 : -1, NULL, NULL);
    if (!command || pair->has_lost || !is_known(pair, command))
        return NULL;
    const double longer = fabs(by_of(command->seconds));
    return longer >= 0.5 * fabs(by) && longer >= 0.1 * command->seconds[PT_DIFF_A] ? command : NULL;
}

const struct pt_change *pt_command_counted(const struct pt_stage_pair *pair)
{
    enum { LEAST_RUNS = 2 }; /* no other program starts one, and each of them counts */
    const struct pt_changes *commands = &pair->changes[PT_DIFF_commands];
    const struct pt_change *best = NULL;
    for (size_t i = 0; i < commands->n && !pair->has_lost; i++) {
        const struct pt_change *command = &commands->items[i];
        const double by = fabs(by_of(command->count));
        if (by >= LEAST_RUNS && by >= 0.1 * command->count[PT_DIFF_A] && is_known(pair, command) &&
            (!best || by > fabs(by_of(best->count))))
            best = command;
    }
    return best;
}

/* ---- where it is waited for ---- */

static bool is_same(const cJSON *a, const cJSON *b, const char *member)
{
    const char *of_a = pt_member_text(a, member), *of_b = pt_member_text(b, member);
    return of_a && of_b && !strcmp(of_a, of_b);
}

/* The time of the same line, or of the same function, in the other run: edited code moves. */
static double seconds_like(const cJSON *places, const cJSON *place, const char *member)
{
    double seconds = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, places)
    {
        const double own = pt_member_number(one, "total_s");
        if (isfinite(own) && is_same(one, place, "reason") && is_same(one, place, member))
            seconds += own;
    }
    return seconds;
}

/* How far its wait is from having changed by as much as its command. */
static double distance(const cJSON *others, const cJSON *place, double seconds, double by)
{
    return fmin(fabs(seconds - seconds_like(others, place, "place") - by),
                fabs(seconds - seconds_like(others, place, "function") - by));
}

/* The line of Python that waits longer by as much as its command takes; of a new command the only line that is new: of
 * waits below a millisecond not each has a stack. NULL = nobody knows. */
static const char *place_of(const struct pt_stage_pair *pair, const struct pt_change *command)
{
    const enum pt_diff_side more = by_of(command->seconds) >= 0 ? PT_DIFF_B : PT_DIFF_A;
    const enum pt_diff_side less = PT_DIFF__SIDES - 1 - more;
    const cJSON *places = cJSON_GetObjectItemCaseSensitive(pair->of[more], "python_places"), *place;
    const cJSON *others = cJSON_GetObjectItemCaseSensitive(pair->of[less], "python_places");
    const double by = fabs(by_of(command->seconds));
    const char *best = NULL, *new_one = NULL;
    double least = 0.2 * by;
    int n_new = 0;
    cJSON_ArrayForEach(place, places)
    {
        const char *reason = pt_member_text(place, "reason");
        const double seconds = pt_member_number(place, "total_s");
        if (!reason || strcmp(reason, pt_time_parts[PT_PART_child_wait].label) != 0 || !isfinite(seconds))
            continue;
        const double off = distance(others, place, seconds, by);
        if (off < least) {
            least = off;
            best = pt_member_text(place, "place");
        }
        if (seconds <= by && seconds_like(others, place, "place") + seconds_like(others, place, "function") <= 0) {
            new_one = pt_member_text(place, "place");
            n_new++;
        }
    }
    const bool is_new = command->count[less] <= 0;
    return best || !is_new || n_new != 1 ? best : new_one;
}

void pt_put_command(struct pt_str *out, const struct pt_stage_pair *pair, const struct pt_change *command)
{
    pt_put_runs(out, command, place_of(pair, command));
}
