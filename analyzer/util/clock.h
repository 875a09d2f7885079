/* SPDX-License-Identifier: MIT
 *
 * clock.h - the clocks of the system, in ns.
 */
#ifndef PT_UTIL_CLOCK_H
#define PT_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t pt_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t pt_monotonic_ns(void)
{
    return pt_clock_ns(CLOCK_MONOTONIC);
}

/* What has been silent for so long is taken to be over: who lists runs and who reports on one agree on it. */
#define PT_MOST_QUIET_NS 60000000000ull

#endif
