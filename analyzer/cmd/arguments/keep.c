/* SPDX-License-Identifier: MIT
 *
 * keep.c - Owns: what --keep-first and --keep-last mean to the library. Threads: main only. Never: takes a bare number,
 * which could be either.
 */
#include "keep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/parse.h"

enum { MIB_BITS = 20, MOST_MIB = 1 << 20 };

static int set(const char *name, pt_u64 number, struct pt_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return setenv(name, text, 1) == 0 ? 0 : pt_fail(err, "no memory for %s", name);
}

/* Rounded up: what was asked for fits. */
static int set_size(const char *name, pt_u64 bytes, struct pt_error *err)
{
    const pt_u64 mib = (bytes >> MIB_BITS) + ((bytes & ((1u << MIB_BITS) - 1)) != 0);
    return set(name, mib < MOST_MIB ? mib : MOST_MIB, err);
}

int pt_keep_apply(const struct pt_keep *keep, struct pt_error *err)
{
    pt_u64 bytes;
    pt_i64 ns;
    struct pt_error ignored = {0};
    if (keep->first_bytes && set_size("PROFTRACE_KEEP_FIRST_MIB", keep->first_bytes, err) < 0)
        return -1;
    if (!keep->last)
        return 0;
    const bool has_unit = keep->last[strspn(keep->last, "0123456789.")] != 0;
    if (has_unit && pt_parse_duration(keep->last, &ns, &ignored) == 0 && ns >= 1000000000)
        return set("PROFTRACE_KEEP_LAST_S", (pt_u64)ns / 1000000000, err);
    const bool is_size = has_unit && pt_parse_size(keep->last, &bytes, &ignored) == 0 && bytes;
    if (is_size && keep->first_bytes >= bytes)
        return pt_fail_code(err, 2,
                            "option '--keep-first' leaves nothing of '--keep-last %s' for the latest events: it must "
                            "be smaller",
                            keep->last);
    if (is_size)
        return set_size("PROFTRACE_SESSION_RING_MIB", bytes, err);
    return pt_fail_code(err, 2, "option '--keep-last': '%s' is neither a size (like 512M) nor a time (like 2h, 7d)",
                        keep->last);
}
