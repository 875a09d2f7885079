/* SPDX-License-Identifier: MIT
 *
 * selection.h - what an export shows of a run: some processes, some of the time.
 */
#ifndef PT_EXPORT_SELECTION_H
#define PT_EXPORT_SELECTION_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "merge/feed.h"
#include "model/session.h"

/* Both ends are included; without a request they lie far outside of any run. */
struct pt_window {
    pt_i64 from_ns, until_ns;
};

static inline struct pt_window pt_window_of(const struct pt_filter *filter)
{
    return (struct pt_window){.from_ns = filter->from_ns > 0 ? filter->from_ns : LLONG_MIN / 4,
                              .until_ns = filter->until_ns > 0 ? filter->until_ns : LLONG_MAX / 4};
}

static inline bool pt_window_has(const struct pt_window *window, pt_i64 at_ns)
{
    return at_ns >= window->from_ns && at_ns <= window->until_ns;
}

/* Cut a slice to the window; false when nothing of it lies there. */
static inline bool pt_window_clip(const struct pt_window *window, pt_i64 *start_ns, pt_i64 *end_ns)
{
    if (*end_ns < window->from_ns || *start_ns > window->until_ns)
        return false;
    *start_ns = *start_ns < window->from_ns ? window->from_ns : *start_ns;
    *end_ns = *end_ns > window->until_ns ? window->until_ns : *end_ns;
    return true;
}

/* How much of a run of this duration is in the window. */
static inline pt_i64 pt_window_shown_ns(const struct pt_window *window, pt_i64 duration_ns)
{
    const pt_i64 from_ns = window->from_ns > 0 ? window->from_ns : 0;
    const pt_i64 until_ns = window->until_ns < duration_ns ? window->until_ns : duration_ns;
    return until_ns > from_ns ? until_ns - from_ns : 0;
}

static inline bool pt_selects_process(const struct pt_filter *filter, const struct pt_process *process)
{
    if (filter->pid && process->pid != filter->pid)
        return false;
    return !filter->stage || (process->stage && !strcmp(process->stage, filter->stage));
}

#endif
