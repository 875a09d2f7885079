/* SPDX-License-Identifier: MIT
 *
 * keep.c - Owns: what --keep-first and --keep-last mean to the library. Threads: main only. Never: takes a bare number,
 * which could be either.
 */
#include "keep.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/limits.h"
#include "options/option_values.h"
#include "switches.h"
#include "util/parse.h"
#include "util/text/fmt.h"

enum { MIB_BITS = 20, MOST_MIB = 1 << 20 };

static int set(const char *name, pt_u64 number, struct pt_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return setenv(name, text, 1) == 0 ? 0 : pt_fail(err, "no memory for %s", name);
}

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

/* Rounded up: what was asked for fits. */
static pt_u64 mib_of(pt_u64 bytes)
{
    const pt_u64 mib = (bytes >> MIB_BITS) + ((bytes & ((1u << MIB_BITS) - 1)) != 0);
    return mib < MOST_MIB ? mib : MOST_MIB;
}

/* One process may have as much as all of them: it alone would keep only what a ring holds by itself. The budget grows
 * with it, where the run's folder is made. The ring that the user has set stays; a time would throw away what fits. */
static int keep_last_size(pt_u64 bytes, struct pt_error *err)
{
    if (set("PROFTRACE_SESSION_RING_MIB", mib_of(bytes), err) < 0 ||
        (is_set("PROFTRACE_KEEP_LAST_S") && set("PROFTRACE_KEEP_LAST_S", 0, err) < 0))
        return -1;
    const bool is_larger = mib_of(bytes) > pt_option_mib_bytes("ring_mib") >> MIB_BITS;
    return is_larger && !is_set("PROFTRACE_RING_MIB") ? set("PROFTRACE_RING_MIB", mib_of(bytes), err) : 0;
}

static int keep_last(const char *last, struct pt_error *err)
{
    pt_u64 bytes;
    pt_i64 ns;
    struct pt_error ignored = {0};
    const bool has_unit = last[strspn(last, "0123456789.")] != 0;
    if (has_unit && pt_parse_duration(last, &ns, &ignored) == 0 && ns >= 1000000000)
        return set("PROFTRACE_KEEP_LAST_S", (pt_u64)ns / 1000000000, err);
    if (has_unit && pt_parse_size(last, &bytes, &ignored) == 0 && bytes)
        return keep_last_size(bytes, err);
    return pt_fail_code(err, 2, "option '--keep-last': '%s' is neither a size (like 512M) nor a time (like 2h, 7d)",
                        last);
}

/* What is kept is never overwritten: where that is all that a process may have, every later event would be dropped.
 * A budget that the user has set holds whatever size is kept last: it does not grow. What little space is free is not
 * known before the run's folder is made. */
static int check_first(pt_u64 first_bytes, const char *name, struct pt_error *err)
{
    const pt_u64 budget = pt_option_mib_bytes("budget_mib"), wanted = pt_option_mib_bytes("session_ring_mib");
    const pt_u64 of_budget = PT_RINGS_OF_BUDGET(budget ? budget : PT_BUDGET_MAX_BYTES);
    const bool is_of_wanted = wanted && (!budget || wanted < of_budget);
    const pt_u64 session = is_of_wanted ? wanted : of_budget;
    const pt_u64 ring = pt_option_mib_bytes("ring_mib"), share = PT_RING_OF_SESSION(session);
    const pt_u64 most = ring < share ? ring : share;
    if (first_bytes < most)
        return 0;
    return pt_fail_code(err, 2,
                        "%s leaves nothing for the latest events: a process keeps %s at most (%s); "
                        "keep less of the start, or raise that",
                        name, pt_fmt_bytes(most).text,
                        ring <= share  ? "PROFTRACE_RING_MIB"
                        : is_of_wanted ? "four fifths of --keep-last, PROFTRACE_SESSION_RING_MIB"
                                       : "three fifths of PROFTRACE_BUDGET_MIB");
}

static int keep_first(const char *first, struct pt_error *err)
{
    pt_u64 bytes;
    if (pt_parse_size(first, &bytes, err) < 0)
        return pt_error_context(err, "option '--keep-first'");
    const pt_u64 mib = mib_of(bytes);
    if (mib && check_first(mib << MIB_BITS, "option '--keep-first'", err) < 0)
        return -1;
    return mib || is_set("PROFTRACE_KEEP_FIRST_MIB") ? set("PROFTRACE_KEEP_FIRST_MIB", mib, err) : 0;
}

/* The variable may be of the image, or of the shell's start: the command runs, and what was asked for now is kept. */
static int check_first_of_environment(struct pt_error *err)
{
    const pt_u64 first_bytes = pt_option_mib_bytes("keep_first_mib");
    struct pt_error why = {0};
    if (!first_bytes || check_first(first_bytes, "PROFTRACE_KEEP_FIRST_MIB", &why) == 0)
        return 0;
    if (!pt_environment_disabled_by())
        fprintf(stderr, "proftrace: the start is not kept: %s\n", why.text);
    return set("PROFTRACE_KEEP_FIRST_MIB", 0, err);
}

/* Where the environment alone says what is kept, the library makes of it what it can: the command runs. */
int pt_keep_apply(const struct pt_keep *keep, struct pt_error *err)
{
    if (keep->last && keep_last(keep->last, err) < 0)
        return -1;
    if (keep->first)
        return keep_first(keep->first, err);
    return keep->last ? check_first_of_environment(err) : 0;
}
