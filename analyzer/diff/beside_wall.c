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
#include "call_files.h"
#include "commands.h"
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

/* A program starts few processes, each of which counts; threads come and go with the work that there is. */
static bool starts_process(const char *call)
{
    const pt_u32 kind = kind_of(call);
    return kind == PT_KIND_proc_fork || kind == PT_KIND_proc_spawn || kind == PT_KIND_proc_exec ||
           kind == PT_KIND_proc_system;
}

/* A command says more than the calls that start it, or fail to. */
static bool is_of_process(const char *call)
{
    const pt_u32 kind = kind_of(call);
    return kind < PT_KIND__COUNT && pt_call_class_of(kind) == PT_CALL_PROCESS;
}

static bool is_counted(const struct pt_change *call)
{
    enum { LEAST_CALLS = 50, LEAST_STARTS = 2 };
    return rank_of(call->label) && has_changed(call->count, starts_process(call->label) ? LEAST_STARTS : LEAST_CALLS);
}

/* The call whose number changed most; among those that changed about as much, the one that the program means. */
static const struct pt_change *changed_call(const struct pt_stage_pair *pair)
{
    enum { LEAST_BYTES = 1 << 20 };
    const struct pt_changes *calls = &pair->changes[PT_DIFF_calls];
    const bool has_command = pt_command_counted(pair) != NULL;
    const struct pt_change *best = NULL;
    double most = 0;
    for (size_t i = 0; i < calls->n; i++)
        if (is_counted(&calls->items[i]) && !(has_command && is_of_process(calls->items[i].label)))
            most = fmax(most, fabs(by_of(calls->items[i].count)));
    for (size_t i = 0; i < calls->n; i++) {
        const struct pt_change *call = &calls->items[i];
        if (has_command && is_of_process(call->label))
            continue;
        const bool is_among_most = most > 0 ? is_counted(call) && fabs(by_of(call->count)) >= 0.8 * most
                                            : has_changed(call->bytes, LEAST_BYTES);
        if (is_among_most && rank_of(call->label) > (best ? rank_of(best->label) : 0))
            best = call;
    }
    return best;
}

static double cpu_of(const struct pt_stage_pair *pair)
{
    const double cpu[] = {pt_member_number(pair->of[PT_DIFF_A], "cpu_s"),
                          pt_member_number(pair->of[PT_DIFF_B], "cpu_s")};
    return isfinite(by_of(cpu)) && has_changed(cpu, 0.05) ? by_of(cpu) : 0;
}

static void put_cpu(struct pt_str *out, const struct pt_stage_pair *pair, double by)
{
    const struct pt_change *function = pt_change_of_function(pair, by > 0 ? 1 : -1);
    pt_put_difference(out, by);
    pt_str_add(out, " CPU");
    if (function && by_of(function->seconds) / by >= 0.2)
        pt_put_function(out, " in ", function, ", which");
}

double pt_counts_differ(const struct pt_stage_pair *pair)
{
    if (!pair->of[PT_DIFF_A] || !pair->of[PT_DIFF_B])
        return 0;
    const struct pt_change *command = pt_command_counted(pair), *call = command ? NULL : changed_call(pair);
    if (!command && !call)
        return 0;
    const double by = by_of(command ? command->count : call->count);
    return by != 0 ? by : by_of(call->bytes);
}

bool pt_differs_beside_wall(const struct pt_stage_pair *pair)
{
    return pair->of[PT_DIFF_A] && pair->of[PT_DIFF_B] && (cpu_of(pair) != 0 || pt_counts_differ(pair) != 0);
}

void pt_put_beside_wall(struct pt_str *out, const struct pt_stage_pair *pair, unsigned what, const char *before)
{
    const double cpu = what & PT_BESIDE_CPU ? cpu_of(pair) : 0;
    const struct pt_change *command = what & PT_BESIDE_COMMANDS ? pt_command_counted(pair) : NULL;
    const struct pt_change *call = what & PT_BESIDE_CALLS ? changed_call(pair) : NULL;
    if (command) {
        pt_str_add(out, before);
        pt_put_command(out, pair, command);
        before = ", and ";
    }
    if (call) {
        pt_str_add(out, before);
        pt_put_call(out, call);
        pt_put_files(out, pair, call, pt_part_of_call(call->label));
        before = ", and ";
    }
    if (cpu != 0) { /* last: a count is exact */
        pt_str_add(out, before);
        put_cpu(out, pair, cpu);
    }
}
