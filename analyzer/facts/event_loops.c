/* SPDX-License-Identifier: MIT
 *
 * Event loops: the thread's next call shows what an epoll_wait was for. A read from a connection that the process made
 * itself: the network. A read from a pipe of another process: that process. Anything else (a new client, a client's
 * next request, a timer, a thread of its own) is the purpose of a loop: it was idle. A wait for signals is idle, too,
 * unless a child is reaped next.
 *
 * Threads: one. State: one wait per thread. Never: blames a server for having no clients.
 */
#include "event_loops.h"

#include <string.h>

#include "proftrace/payloads.h"

enum { LOOKED_BACK = 8 };

/* From the wait to its answer: an interpreter's way from one to the other, without what it queued for a CPU. */
#define ANSWER_NS 10000000

static bool is_soon(const struct pt_facts *facts, const struct pt_event *event, pt_i64 after_ns)
{
    const pt_u32 stage = facts->cpu.stage_of[event->process->index];
    const double ns = (double)(event->start_ns - after_ns);
    if (ns < ANSWER_NS)
        return true;
    return ns - pt_cpu_between(pt_facts_cpu(facts, stage), &facts->views[stage],
                               pt_facts_cpu_thread(facts, event->thread), after_ns, event->start_ns)
                    .preempted_ns <
           ANSWER_NS;
}

static bool takes(const struct pt_loop *loop, const struct pt_event *event)
{
    switch (event->desc->kind) {
    case PT_KIND_io_read:
    case PT_KIND_io_readv:
    case PT_KIND_net_receive:
        return event->result > 0 && !loop->for_signals && pt_descriptor_of_event(event);
    case PT_KIND_wait_child:
        return event->result > 0 && loop->for_signals;
    default:
        return false;
    }
}

/* What came through a pipe that nobody was seen writing to is of another process as well: of one that is not traced, or
 * that has lost its CPU in its first write. Who has a pipe for itself was seen writing before. */
static bool is_from_another_process(const struct pt_facts *facts, const struct pt_event *event, const char *path)
{
    const struct pt_span *call = &facts->call.span;
    return call->blocker_kind == PT_BLOCKER_WRITER &&
           (pt_channels_other_process(&facts->channels, event->process, call->blocker, true) ||
            (!strncmp(path, "pipe:", 5) && pt_channels_is_nobody(&facts->channels, call->blocker, true)));
}

/* Of a connection whose connect or accept is lost, it may have been either. */
static enum pt_time_part part_of_end(enum pt_connection_end end)
{
    return end == PT_END_CLIENT ? PT_PART_network : end == PT_END_LOST ? PT_PART_unattributed : PT_PART_idle;
}

static enum pt_time_part cause_of(const struct pt_facts *facts, const struct pt_event *event)
{
    const char *path = pt_descriptor_of_event(event);
    if (event->desc->kind == PT_KIND_wait_child)
        return PT_PART_child_wait;
    switch (pt_channel_of_event(event)) {
    case PT_CHANNEL_NETWORK:
        return part_of_end(pt_connection_end_of(&facts->ends, event->process, path));
    case PT_CHANNEL_LOCAL:
        return is_from_another_process(facts, event, path) ? PT_PART_data_wait : PT_PART_idle;
    case PT_CHANNEL_FILE:
        break;
    }
    return PT_PART_idle;
}

/* The thread's timeline gets it, too. */
static void rename_span(const struct pt_thread_timeline *timeline, const struct pt_span *wait)
{
    for (pt_u32 i = 0; i < LOOKED_BACK; i++) {
        struct pt_span *one = pt_thread_timeline_last(timeline, i);
        if (one && one->start_ns == wait->start_ns && one->end_ns == wait->end_ns)
            *one = *wait;
    }
}

static struct pt_loop_answer answer_of(struct pt_facts *facts, struct pt_loop *loop, const struct pt_event *event)
{
    const struct pt_span *call = &facts->call.span;
    struct pt_loop_answer answer = {.wait = loop->wait, .own_ns = loop->own_ns};
    if (!loop->wait.end_ns || !takes(loop, event) || event->start_ns < loop->wait.end_ns)
        return answer;
    answer.is_taken = is_soon(facts, event, loop->wait.end_ns);
    answer.wait.part = (pt_u8)(answer.is_taken ? cause_of(facts, event) : PT_PART_idle);
    answer.is_known = answer.wait.part != PT_PART_idle;
    answer.wait.blocker_kind = call->blocker_kind;
    answer.wait.blocker = call->blocker;
    answer.wait.subject = call->subject;
    if (answer.is_known)
        rename_span(pt_facts_timeline(facts, event->thread), &answer.wait);
    loop->wait.end_ns = 0;
    return answer;
}

void pt_event_loops_call(struct pt_facts *facts, const struct pt_event *event)
{
    struct pt_loop *loop = &facts->loops.threads[pt_thread_number(&facts->ids, event->thread)];
    facts->call.loop.is_known = facts->call.loop.is_taken = false;
    if (facts->call.span.part == PT_PART_idle) {
        *loop = (struct pt_loop){facts->call.span, (double)facts->call.own_ns, pt_waits_for_signals(event)};
        loop->wait.end_ns = loop->for_signals || pt_is_event_loop(event) ? loop->wait.end_ns : 0;
        return;
    }
    if (loop->wait.end_ns)
        facts->call.loop = answer_of(facts, loop, event);
}
