/* SPDX-License-Identifier: MIT
 *
 * Owns: which count is told of two runs whose wall times do not tell them apart. Threads: any. Never: takes a call
 * whose number is chance: waits, locks, the network, memory maps.
 */
#include "beside_wall.h"

#include <math.h>
#include <string.h>

#include "facts/call_class.h"
#include "facts/wait_kind.h"
#include "proftrace/events.h"
#include "report/run_document.h"
#include "phrases.h"

static pt_u32 kind_of(const char *call)
{
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
        if (!strcmp(pt_call_name(kind), call))
            return kind;
    return PT_KIND__COUNT;
}

const char *pt_part_of_call(const char *call)
{
    const pt_u32 kind = kind_of(call);
    const enum pt_time_part part = kind < PT_KIND__COUNT ? pt_time_part_of_kind(kind) : PT_PART_unattributed;
    return part == PT_PART_unattributed ? NULL : pt_time_parts[part].label;
}

/* What one line of a program does is several calls: an open also stats, seeks and closes. The higher is told; 0 = its
 * number is chance. */
static int rank_of(const char *call)
{
    static const pt_u8 ranks[PT_CALL__COUNT] = {
        [PT_CALL_SYNC] = 5,       [PT_CALL_READ] = 4,        [PT_CALL_WRITE] = 4,   [PT_CALL_COPY] = 4,
        [PT_CALL_STDIO_READ] = 4, [PT_CALL_STDIO_WRITE] = 4, [PT_CALL_PROCESS] = 3, [PT_CALL_OPEN] = 3,
        [PT_CALL_STAT] = 2,       [PT_CALL_STDIO_OTHER] = 2, [PT_CALL_META] = 1,
    };
    const pt_u32 kind = kind_of(call);
    return kind < PT_KIND__COUNT ? ranks[pt_call_class_of(kind)] : 0;
}

static double by_of(const double of[PT_DIFF__SIDES])
{
    return of[PT_DIFF_B] - of[PT_DIFF_A];
}

static bool has_changed(const double of[PT_DIFF__SIDES], double least)
{
    const double by = fabs(by_of(of));
    return by >= least && by >= 0.1 * of[PT_DIFF_A];
}

/* The call whose number changed most; among those that changed about as much, the one that the program means. */
static const struct pt_change *changed_call(const struct pt_stage_pair *pair)
{
    enum { LEAST_CALLS = 50, LEAST_BYTES = 1 << 20 };
    const struct pt_changes *calls = &pair->changes[PT_DIFF_calls];
    const struct pt_change *best = NULL;
    double most = 0;
    for (size_t i = 0; i < calls->n; i++)
        if (rank_of(calls->items[i].label) && has_changed(calls->items[i].count, LEAST_CALLS))
            most = fmax(most, fabs(by_of(calls->items[i].count)));
    for (size_t i = 0; i < calls->n; i++) {
        const struct pt_change *call = &calls->items[i];
        const bool is_among_most = most > 0
                                       ? has_changed(call->count, LEAST_CALLS) && fabs(by_of(call->count)) >= 0.8 * most
                                       : has_changed(call->bytes, LEAST_BYTES);
        if (is_among_most && rank_of(call->label) > (best ? rank_of(best->label) : 0))
            best = call;
    }
    return best;
}

/* The member of a file's row that counts a call; NULL = none does. */
static const char *counter_of_file(const char *call)
{
    static const char *const counters[PT_CALL__COUNT] = {
        [PT_CALL_OPEN] = "opens",
        [PT_CALL_READ] = "reads",
        [PT_CALL_WRITE] = "writes",
    };
    const pt_u32 kind = kind_of(call);
    return kind < PT_KIND__COUNT ? counters[pt_call_class_of(kind)] : NULL;
}

static const cJSON *row_of_file(const cJSON *stage, const char *path)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(stage, "files"))
    {
        const char *own = pt_member_text(row, "path");
        if (own && !strcmp(own, path))
            return row;
    }
    return NULL;
}

/* The file that such calls are of: one that has half of the difference. Of a file in one run only, that is its all. */
static const cJSON *file_of(const struct pt_stage_pair *pair, const struct pt_change *call)
{
    const char *counter = counter_of_file(call->label);
    const enum pt_diff_side more = by_of(call->count) >= 0 ? PT_DIFF_B : PT_DIFF_A, less = PT_DIFF__SIDES - 1 - more;
    const cJSON *row;
    if (!counter)
        return NULL;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(pair->of[more], "files"))
    {
        const char *path = pt_member_text(row, "path");
        const cJSON *other = path ? row_of_file(pair->of[less], path) : NULL;
        const double before = other ? pt_member_number(other, counter) : 0;
        if (pt_member_number(row, counter) - before >= 0.5 * fabs(by_of(call->count)))
            return row;
    }
    return NULL;
}

static double cpu_of(const struct pt_stage_pair *pair)
{
    const double cpu[] = {pt_member_number(pair->of[PT_DIFF_A], "cpu_s"),
                          pt_member_number(pair->of[PT_DIFF_B], "cpu_s")};
    return isfinite(by_of(cpu)) && has_changed(cpu, 0.05) ? by_of(cpu) : 0;
}

static void put_cpu(struct pt_str *out, const struct pt_stage_pair *pair, double by)
{
    const enum pt_diff_table tables[] = {PT_DIFF_python, PT_DIFF_native};
    pt_put_difference(out, by);
    pt_str_add(out, " CPU");
    for (int i = 0; i < 2; i++) {
        const struct pt_changes *functions = &pair->changes[tables[i]];
        for (size_t j = 0; j < functions->n; j++)
            if (pt_change_is_named(&functions->items[j]) && by_of(functions->items[j].seconds) / by >= 0.2) {
                pt_put_function(out, " in ", &functions->items[j], ", which");
                return;
            }
    }
}

static void put_count(struct pt_str *out, const struct pt_stage_pair *pair, const struct pt_change *call)
{
    const cJSON *file = file_of(pair, call);
    pt_put_call(out, call);
    if (!file)
        return;
    const char *place = pt_member_text(file, "python_place");
    pt_str_printf(out, " of %s", pt_member_text(file, "path"));
    if (place)
        pt_str_printf(out, " in %s", place);
}

bool pt_counts_differ(const struct pt_stage_pair *pair)
{
    return pair->of[PT_DIFF_A] && pair->of[PT_DIFF_B] && changed_call(pair);
}

bool pt_differs_beside_wall(const struct pt_stage_pair *pair)
{
    return pair->of[PT_DIFF_A] && pair->of[PT_DIFF_B] && (cpu_of(pair) != 0 || changed_call(pair));
}

void pt_put_beside_wall(struct pt_str *out, const struct pt_stage_pair *pair, unsigned what, const char *before)
{
    const double cpu = what & PT_BESIDE_CPU ? cpu_of(pair) : 0;
    const struct pt_change *call = what & PT_BESIDE_CALLS ? changed_call(pair) : NULL;
    if (cpu != 0 || call)
        pt_str_add(out, before);
    if (cpu != 0)
        put_cpu(out, pair, cpu);
    if (cpu != 0 && call)
        pt_str_add(out, ", and ");
    if (call)
        put_count(out, pair, call);
}
