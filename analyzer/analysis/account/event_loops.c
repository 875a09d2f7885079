/* SPDX-License-Identifier: MIT
 *
 * Event loops: what an epoll_wait was for is told by what the thread does next. A read from a connection that the
 * process made itself: the network. A read from a pipe of another process: that process. Anything else (a new client,
 * a client's next request, a timer, a thread of its own) is what a loop is there for: it was idle. So is a wait for
 * signals, unless a child is reaped next.
 *
 * Threads: one. State: one wait per thread, connections made (bounded). Never: blames a server for having no clients.
 */
#include "event_loops.h"

#include <string.h>

#include "proftrace/payloads.h"
#include "follow.h"

enum { MOST_CONNECTED = 65536 };

/* From the wait to its answer: an interpreter's way from one to the other. */
#define ANSWER_NS 10000000

static pt_u64 hash_of(const struct pt_process *process, const char *path)
{
    pt_u64 hash = 0xcbf29ce484222325ull ^ process->index;
    for (; *path; path++)
        hash = (hash ^ (pt_u8)*path) * 0x100000001b3ull;
    return hash | 1;
}

static void note_connection(struct account *account, const struct pt_event *event)
{
    const char *peer = pt_process_string(event->process, pt_event_as(event, net_connect)->peer);
    if (peer && *peer && account->connected.n < MOST_CONNECTED)
        *pt_map_at(&account->connected, hash_of(event->process, peer)) = 1;
}

static bool takes(const struct account_loop *loop, const struct pt_event *event)
{
    switch (event->desc->row) {
    case PT_ROW_io_read:
    case PT_ROW_io_readv:
    case PT_ROW_net_receive:
        return event->result > 0 && !loop->for_signals && pt_descriptor_of_event(event);
    case PT_ROW_wait_child:
        return event->result > 0 && loop->for_signals;
    default:
        return false;
    }
}

static enum pt_time_part cause_of(const struct account *account, const struct pt_event *event)
{
    const char *path = pt_descriptor_of_event(event);
    if (event->desc->row == PT_ROW_wait_child)
        return PT_PART_child_wait;
    switch (pt_channel_of_event(event)) {
    case PT_CHANNEL_NETWORK:
        return pt_map_find(&account->connected, hash_of(event->process, path)) ? PT_PART_network : PT_PART_idle;
    case PT_CHANNEL_LOCAL:
        return pt_channels_other_process(&account->facts->channels, event->process, path, true) ? PT_PART_data_wait
                                                                                                : PT_PART_idle;
    case PT_CHANNEL_FILE:
        break;
    }
    return PT_PART_idle;
}

/* Who follows a wait into this thread should find it, too. */
static void rename_span(struct account_thread *thread, const struct span *wait)
{
    for (pt_u64 i = 1; thread->last && i <= 8 && i <= thread->n_spans; i++) {
        struct span *one = &thread->last[(thread->n_spans - i) % PT_ACCOUNT_LAST_SPANS];
        if (one->start_ns != wait->start_ns || one->end_ns != wait->end_ns)
            continue;
        const pt_u32 n_inner = one->n_inner; /* is what it contains, whatever it is called */
        *one = *wait;
        one->n_inner = n_inner;
    }
}

void pt_account_loop_waited(struct account_thread *thread, const struct span *span, double own_ns, bool for_signals)
{
    thread->loop = (struct account_loop){*span, own_ns, for_signals};
}

void pt_account_loop_next(struct account *account, struct account_thread *thread, const struct pt_event *event,
                          const struct span *span, bool is_critical)
{
    struct account_loop *loop = &thread->loop;
    if (event->desc->row == PT_ROW_net_connect)
        note_connection(account, event);
    if (!loop->span.end_ns || !takes(loop, event) || event->start_ns < loop->span.end_ns)
        return;
    const bool is_answer = event->start_ns - loop->span.end_ns < ANSWER_NS;
    const enum pt_time_part part = is_answer ? cause_of(account, event) : PT_PART_idle;
    if (part != PT_PART_idle) {
        const struct span wait = {.start_ns = loop->span.start_ns,
                                  .end_ns = loop->span.end_ns,
                                  .part = (pt_u8)part,
                                  .whom = span->whom,
                                  .number = span->number};
        thread->ns[PT_PART_idle] -= loop->own_ns;
        thread->ns[part] += loop->own_ns;
        rename_span(thread, &wait);
        if (is_critical)
            pt_account_follow(account, event->thread, &wait);
    }
    loop->span.end_ns = 0;
}
