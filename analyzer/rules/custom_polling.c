/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about loops that pause and look again. Threads: one. Never: calls the wait for a process polling: it
 * ends when that one does, however often it is asked for.
 */
#include <string.h>

#include "custom.h"
#include "facts/python/frames.h"
#include "finding_stacks.h"

/* CPython's Popen.wait(timeout) sleeps for up to 50 ms between two looks. */
static bool is_wait_for_child(const struct pt_stack_frame *frame)
{
    return pt_python_is_function(frame, "/subprocess.py", "Popen._wait");
}

/* asyncio's: what sleeps below it keeps all other coroutines from running. */
static bool is_event_loop(const struct pt_stack_frame *frame)
{
    return pt_python_is_function(frame, "/asyncio/base_events.py", "BaseEventLoop._run_once");
}

/* PyTorch's own wait until all ranks are there: nobody else can change how it looks for them. */
static bool is_rendezvous(const struct pt_stack_frame *frame)
{
    return frame->flags & PT_FRAME_OF_PYTHON && !strcmp(frame->function, "init_process_group");
}

/* Most of its sleeps have such a function on their stacks. */
static bool are_below(const struct pt_profile *profile, const struct pt_finding *finding,
                      bool (*is_it)(const struct pt_stack_frame *frame))
{
    struct pt_finding_stacks stacks;
    double found_s = 0;
    pt_finding_stacks(profile, finding, &stacks);
    for (size_t i = 0; i < stacks.n; i++) {
        bool is_there = false;
        for (pt_u32 j = 0; j < stacks.items[i].n && !is_there; j++)
            is_there = is_it(&stacks.items[i].frames[j]);
        found_s += is_there ? stacks.items[i].cost : 0;
    }
    const bool is_most = found_s > stacks.cost / 2;
    pt_finding_stacks_free(&stacks);
    return is_most;
}

enum { FEWEST_SLEEPS = 8 };

/* A pause is a sleep, or a wait for something that has a time limit and ran out of it. */
bool pt_rule_sleep_polling(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    if (!(pt_finding_number(finding, metrics, "sleep.short.calls") >= FEWEST_SLEEPS) ||
        are_below(profile, finding, is_rendezvous))
        return false;
    finding->gain_upper_s = pt_finding_number(finding, metrics, "sleep.short.cost_s");
    if (are_below(profile, finding, is_wait_for_child)) {
        finding->title = "The program waits for a process that it has started";
        finding->remedy =
            "look at what that process does: it takes the time, not the loop that asks whether it has ended";
        finding->advice =
            "Popen.wait with a time limit asks again and again, but what it waits for is the process: let that one do "
            "less, or end sooner, or go on beside it and collect its result later.";
    }
    if (pt_finding_number(finding, metrics, "sleep.short.timed_wait_percent") > 50) {
        finding->part = PT_PART_lock;
        finding->title = "A loop waits for a short time and checks again (polling)";
        finding->remedy = "let whoever changes it wake it: queue.get(), Event.set(), Condition.wait_for and notify";
        finding->advice =
            "Wait without a time limit, or with a long one, for something that whoever changes the state signals: "
            "queue.Queue's get() and put(), Condition.wait_for() and notify(), an Event that is set for each change; "
            "in C "
            "pthread_cond_wait() and a signal, or sem_wait() and sem_post().";
    }
    if (pt_finding_number(finding, metrics, "sleep.short.loop_percent") > 50) {
        finding->part = PT_PART_idle;
        finding->title = "A coroutine sleeps and checks again (polling)";
        finding->remedy = "await what it waits for: asyncio.Event, Queue.get(), a future; not asyncio.sleep";
        finding->advice =
            "Await the thing itself: asyncio.Event.wait(), Queue.get(), the future or task that makes it, "
            "asyncio.to_thread() or run_in_executor() for what a thread does, loop.call_soon_threadsafe(event.set) "
            "from "
            "a thread that has a result, create_subprocess_exec() and its wait() for a process.";
    }
    if (finding->part == PT_PART_sleep && are_below(profile, finding, is_event_loop)) {
        finding->title = "A coroutine sleeps and keeps asyncio's event loop from all others";
        finding->remedy = "await asyncio.sleep(), or asyncio.to_thread() for a call that sleeps";
        finding->advice =
            "time.sleep in a coroutine, or in what it calls, stops all coroutines of its event loop: await "
            "asyncio.sleep(), "
            "a client that is made for asyncio, or asyncio.to_thread() for a library that blocks.";
    }
    pt_finding_add_metrics(finding, metrics, "sleep_calls:sleep.short.calls mean_s:sleep.short.mean_s where:place");
    pt_finding_add_rows(finding, metrics, "sleeps", "total_s");
    return true;
}
