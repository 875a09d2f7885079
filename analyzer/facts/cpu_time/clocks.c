/* SPDX-License-Identifier: MIT
 *
 * Owns: how the time between two readings of a thread's clock is split. Threads: one. Never: counts CPU time that may
 * have been used inside of calls as computing beyond the time between them; counts a wait without a recorded call as
 * being preempted.
 */
#include "clocks.h"

#include <math.h>

#include "model/window.h"
#include "proftrace/payloads.h"

enum { UNKNOWN_SWITCHES = -1, SHORTEST_WAIT_NS = 5000 };
#define LONGEST_START_NS 50e6      /* from vfork to another program, on a busy machine */
#define LONGEST_PREEMPTION_NS 10e6 /* others seldom have a CPU for longer at a time */

static void begin(struct pt_thread_clock *clock, pt_i64 start_ns)
{
    clock->at_ns = clock->is_begun ? clock->at_ns : start_ns;
    clock->is_begun = true;
}

/* Opening a file or mapping memory is slow, and yet no wait: it must not stand for one that no hook saw. */
static bool may_wait(enum pt_time_part part)
{
    return part < PT_PART_page_fault && part != PT_PART_file_meta;
}

void pt_thread_clock_call(struct pt_thread_clock *clock, const struct pt_event *call, enum pt_time_part part,
                          pt_i64 own_ns)
{
    begin(clock, call->thread->start_ns);
    clock->in_calls_ns += (double)own_ns;
    clock->starts += clock->execs;
    clock->execs = 0;
    clock->may_have_waited += may_wait(part) && call->duration_ns >= SHORTEST_WAIT_NS;
}

void pt_thread_clock_exec(struct pt_thread_clock *clock, bool has_failed)
{
    if (!has_failed)
        clock->execs++;
    else if (clock->execs > 0)
        clock->execs--;
}

/* Of the time between calls in which it did not run. Who never gave its CPU up could have run all of it, however long
 * others had the CPU; a call that may have waited may also stand for a wait that no hook saw, in the place of which no
 * more is believed than what is usual. */
static double preempted_ns(const struct pt_thread_clock *clock, const struct pt_ev_thread_clock *now, double rest_ns)
{
    const pt_u32 waits = now->waits - clock->waits, preemptions = now->preemptions - clock->preemptions;
    if (!waits)
        return rest_ns;
    return waits <= clock->may_have_waited ? fmin(rest_ns, preemptions * LONGEST_PREEMPTION_NS) : 0;
}

static void take(struct pt_thread_clock *clock, const struct pt_event *reading)
{
    const struct pt_ev_thread_clock *now = pt_event_as(reading, thread_clock);
    clock->at_ns = reading->start_ns;
    clock->on_cpu_ns = now->on_cpu_ns;
    clock->waits = now->waits;
    clock->preemptions = now->preemptions;
    clock->knows_switches = now->waits != (pt_u32)UNKNOWN_SWITCHES;
    clock->is_read = true;
    clock->in_calls_ns = 0;
    clock->starts = 0;
    clock->may_have_waited = 0;
}

/* It ran before the window began: how long until then, its first reading there tells. */
static bool is_cut(const struct pt_event *reading, pt_i64 thread_start_ns)
{
    const struct pt_session *session = reading->process->session;
    return pt_session_is_window(session) && thread_start_ns <= session->window_from_ns;
}

void pt_thread_clock_read(struct pt_thread_clock *clock, pt_i64 thread_start_ns, const struct pt_event *reading)
{
    const struct pt_ev_thread_clock *now = pt_event_as(reading, thread_clock);
    const bool knows_switches = now->waits != (pt_u32)UNKNOWN_SWITCHES;
    begin(clock, thread_start_ns);
    if (!clock->is_read && is_cut(reading, thread_start_ns)) {
        take(clock, reading);
        return;
    }
    if (now->on_cpu_ns < clock->on_cpu_ns || reading->start_ns < clock->at_ns)
        return;
    const double between_ns = fmax((double)(reading->start_ns - clock->at_ns) - clock->in_calls_ns, 0);
    const double computing_ns = fmin((double)(now->on_cpu_ns - clock->on_cpu_ns), between_ns);
    const double preempted =
        knows_switches && clock->knows_switches ? preempted_ns(clock, now, between_ns - computing_ns) : 0;
    clock->computing_ns += computing_ns;
    clock->between_ns += between_ns;
    clock->preempted_ns += preempted;
    clock->starting_ns += fmin(between_ns - computing_ns - preempted, clock->starts * LONGEST_START_NS);
    take(clock, reading);
}
