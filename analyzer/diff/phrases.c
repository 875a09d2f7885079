/* SPDX-License-Identifier: MIT
 *
 * Owns: the wording of a difference, a place and a call. Threads: any.
 */
#include "phrases.h"

#include <math.h>
#include <string.h>

#include "proftrace/types.h"
#include "util/text/fmt.h"
#include "util/text/path.h"

void pt_put_seconds(struct pt_str *out, double seconds)
{
    pt_str_add(out, pt_fmt_duration((pt_i64)llround(seconds * 1e9)).text);
}

void pt_put_difference(struct pt_str *out, double seconds)
{
    if (seconds > 0)
        pt_str_char(out, '+');
    pt_put_seconds(out, seconds);
}

void pt_put_place(struct pt_str *out, const struct pt_change *change)
{
    pt_str_add(out, change->label);
    if (!change->file)
        return;
    pt_str_printf(out, " (%s", pt_base_name(change->file));
    if (change->line > 0)
        pt_str_printf(out, ":%.0f", change->line);
    pt_str_char(out, ')');
}

/* "3.1 x the bytes (" */
static void put_times(struct pt_str *out, const double of[PT_DIFF__SIDES], const char *what)
{
    const double ratio = of[PT_DIFF_A] > 0 ? of[PT_DIFF_B] / of[PT_DIFF_A] : 0;
    if (ratio > 0) /* "0 x" says less than the numbers */
        pt_str_printf(out, ratio < 10 ? "%.2g x " : "%.0f x ", ratio);
    pt_str_add(out, what);
}

static bool has_more(const double of[PT_DIFF__SIDES])
{
    return of[PT_DIFF_B] > 1.1 * of[PT_DIFF_A] || of[PT_DIFF_B] < 0.9 * of[PT_DIFF_A];
}

static void put_bytes(struct pt_str *out, const double bytes[PT_DIFF__SIDES])
{
    put_times(out, bytes, "the bytes (");
    pt_str_printf(out, "%s -> ", pt_fmt_bytes((uint64_t)bytes[PT_DIFF_A]).text);
    pt_str_printf(out, "%s)", pt_fmt_bytes((uint64_t)bytes[PT_DIFF_B]).text);
}

static void put_calls(struct pt_str *out, const double count[PT_DIFF__SIDES], const char *what)
{
    put_times(out, count, what);
    pt_str_printf(out, "%s -> ", pt_fmt_count((uint64_t)count[PT_DIFF_A]).text);
    pt_str_printf(out, "%s)", pt_fmt_count((uint64_t)count[PT_DIFF_B]).text);
}

bool pt_call_is_other(const struct pt_change *call)
{
    return has_more(call->count) || has_more(call->bytes);
}

void pt_put_call(struct pt_str *out, const struct pt_change *call)
{
    const double *count = call->count;
    const bool has_more_calls = has_more(count), has_more_bytes = has_more(call->bytes);
    pt_str_printf(out, "%s: ", call->label);
    if (has_more_bytes)
        put_bytes(out, call->bytes);
    if (has_more_calls) {
        pt_str_add(out, has_more_bytes ? ", " : "");
        put_calls(out, count, "the calls (");
    }
    if (!has_more_bytes && !has_more_calls && count[PT_DIFF_A] > 0 && call->seconds[PT_DIFF_A] > 0)
        pt_str_printf(out, "each takes %.2g x as long",
                      call->seconds[PT_DIFF_B] / count[PT_DIFF_B] / (call->seconds[PT_DIFF_A] / count[PT_DIFF_A]));
}

void pt_put_work(struct pt_str *out, const struct pt_change *call)
{
    static const struct {
        const char *call, *verb;
    } verbs[] = {{"read", "reads"}, {"stdio_read", "reads"}, {"write", "writes"}, {"stdio_write", "writes"}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(call->label, verbs[i].call) && has_more(call->bytes)) {
            pt_str_printf(out, " %s ", verbs[i].verb);
            put_bytes(out, call->bytes);
            return;
        }
    pt_str_add(out, call->seconds[PT_DIFF_B] < call->seconds[PT_DIFF_A] ? " takes less time; " : " takes longer; ");
    pt_put_call(out, call);
}

void pt_put_runs(struct pt_str *out, const struct pt_change *command, const char *place)
{
    pt_str_add(out, command->label);
    if (place)
        pt_str_printf(out, " in %s", place);
    pt_str_add(out, ": ");
    if (has_more(command->count))
        put_calls(out, command->count, "the runs (");
    else
        pt_str_printf(out, "it takes %.2g x as long", command->seconds[PT_DIFF_B] / command->seconds[PT_DIFF_A]);
}

void pt_put_function(struct pt_str *out, const char *before, const struct pt_change *function, const char *after)
{
    pt_str_add(out, before);
    pt_put_place(out, function);
    pt_str_printf(out, "%s computes for ", after);
    pt_put_seconds(out, function->seconds[PT_DIFF_B]);
    pt_str_add(out, " instead of ");
    pt_put_seconds(out, function->seconds[PT_DIFF_A]);
}
