/* SPDX-License-Identifier: MIT
 *
 * Owns: which part of the time account a call belongs to. Threads: any. Never: keeps state, but answers in the
 * processes that it asks about.
 */
#include "wait_kind.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proftrace/cuda.h"
#include "proftrace/payloads.h"
#include "util/text/path.h"
#include "call_class.h"
#include "python.h"

const struct pt_time_part_row pt_time_parts[PT_PART__COUNT] = {
#define PART(id, label)                                                                                                \
    {#id,                                                                                                              \
     #id "_s",                                                                                                         \
     "time." #id "_s",                                                                                                 \
     label,                                                                                                            \
     "cpu.main_in." #id "_s",                                                                                          \
     "cpu.main_preempted_in." #id "_s",                                                                                \
     "queue.stretch." #id},
#include "time_parts.def"
#undef PART
};

static const pt_u8 parts_of_classes[PT_CALL__COUNT] = {
    [PT_CALL_READ] = PT_PART_file_read,       [PT_CALL_COPY] = PT_PART_file_read,
    [PT_CALL_STDIO_READ] = PT_PART_file_read, [PT_CALL_WRITE] = PT_PART_file_write,
    [PT_CALL_SYNC] = PT_PART_file_write,      [PT_CALL_STDIO_WRITE] = PT_PART_file_write,
    [PT_CALL_OPEN] = PT_PART_file_meta,       [PT_CALL_STAT] = PT_PART_file_meta,
    [PT_CALL_META] = PT_PART_file_meta,       [PT_CALL_STDIO_OTHER] = PT_PART_file_meta,
    [PT_CALL_WAIT] = PT_PART_sleep,           [PT_CALL_LOCK] = PT_PART_lock,
    [PT_CALL_NETWORK] = PT_PART_network,      [PT_CALL_MAP] = PT_PART_native, /* the kernel's work, on the CPU */
    [PT_CALL_PROCESS] = PT_PART_native,       [PT_CALL_NONE] = PT_PART_unattributed,
};

enum pt_time_part pt_time_part_of_kind(pt_u32 kind)
{
    switch (kind) {
    case PT_KIND_wait_child:
    case PT_KIND_proc_system:
        return PT_PART_child_wait;
    case PT_KIND_wait_poll:
    case PT_KIND_wait_message:
        return PT_PART_data_wait;
    case PT_KIND_net_accept:
        return PT_PART_idle; /* nobody is to blame for a server without clients */
    default:
        return (enum pt_time_part)parts_of_classes[pt_call_class_of(kind)];
    }
}

/* Where the path of the descriptor is that a span is about: in the payload, plus 1. */
static const pt_u8 path_places[PT_KIND__COUNT] = {
#define PLACE(name) [PT_KIND_##name] = offsetof(struct pt_ev_##name, path) + 1
    PLACE(io_read),     PLACE(io_readv),  PLACE(io_write),    PLACE(io_writev), PLACE(stdio_read), PLACE(stdio_write),
    PLACE(stdio_flush), PLACE(wait_poll), PLACE(net_receive), PLACE(net_send),  PLACE(io_copy),
#undef PLACE
};

bool pt_copies_to_channel(const struct pt_event *event)
{
    return event->desc->kind == PT_KIND_io_copy &&
           pt_process_channel(event->process, pt_event_as(event, io_copy)->to_path) != PT_CHANNEL_FILE;
}

pt_i32 pt_descriptor_number(const struct pt_event *event)
{
    return pt_copies_to_channel(event) ? pt_event_as(event, io_copy)->to_fd : event->tag;
}

/* 0 = it has none. */
static pt_u32 path_of(const struct pt_event *event)
{
    if (pt_copies_to_channel(event))
        return pt_event_as(event, io_copy)->to_path;
    const pt_u8 place = path_places[event->desc->kind];
    pt_u32 path = 0;
    if (place)
        memcpy(&path, event->payload + place - 1, sizeof path);
    return path;
}

const char *pt_descriptor_of_event(const struct pt_event *event)
{
    const pt_u32 id = path_of(event);
    return id ? pt_process_string(event->process, id) : NULL;
}

/* What a call into the driver is for the thread: a wait for the GPU, a copy that it waits for, or its own work. */
static enum pt_time_part part_of_cuda(const struct pt_event *event)
{
    switch (event->desc->kind) {
    case PT_KIND_cuda_transfer:
        return event->tag & 1 ? PT_PART_native : PT_PART_copy;
    case PT_KIND_cuda_memory:
        return (event->tag & 3) == 1 ? PT_PART_gpu_wait : PT_PART_native;
    case PT_KIND_cuda_call:
        break;
    default:
        return PT_PART_native;
    }
    switch (event->tag) {
    case PT_CUDA_SYNC:
    case PT_CUDA_FREE: /* returns when the device has nothing left to do */
        return PT_PART_gpu_wait;
    case PT_CUDA_COPY:
        return PT_PART_copy;
    default:
        return PT_PART_native;
    }
}

static bool is_for_gil(const struct pt_event *event)
{
    const pt_u64 address = event->desc->kind == PT_KIND_lock_cond    ? pt_event_as(event, lock_cond)->addr
                           : event->desc->kind == PT_KIND_lock_mutex ? pt_event_as(event, lock_mutex)->addr
                                                                     : 0;
    return address && pt_process_is_gil(event->process, address, event->start_ns);
}

bool pt_is_event_loop(const struct pt_event *event)
{
    const char *path = event->desc->kind == PT_KIND_wait_poll ? pt_descriptor_of_event(event) : NULL;
    return path && *path == 'a' && !strcmp(path, "anon_inode:[eventpoll]");
}

bool pt_waits_for_signals(const struct pt_event *event)
{
    if (event->desc->kind == PT_KIND_wait_signal)
        return event->result != -EAGAIN; /* its time ran out */
    return event->desc->kind == PT_KIND_wait_poll && event->result == -EINTR && !pt_event_as(event, wait_poll)->path &&
           pt_event_as(event, wait_poll)->timeout_ms == -1;
}

/* It has a time limit, so that the program can look whether the other side still lives: a queue of multiprocessing is
 * asked again and again. That nothing came in time does not make it a pause. */
static bool polls_one_pipe(const struct pt_event *event, enum pt_channel channel)
{
    return channel == PT_CHANNEL_LOCAL && pt_event_as(event, wait_poll)->fds <= 1;
}

static bool polls_listener(const struct pt_event *event, enum pt_channel channel)
{
    return channel != PT_CHANNEL_FILE && pt_is_listening(pt_descriptor_of_event(event));
}

/* Of its own. Asked for each of its children: a master may have thousands, and as many names. */
static pt_i64 first_listens_ns(const struct pt_process *process)
{
    pt_i64 *seen = &((struct pt_process *)(uintptr_t)process)->listens_ns;
    pt_i64 first_ns = __atomic_load_n(seen, __ATOMIC_RELAXED), at_ns; /* two threads may ask at once */
    const char *name;
    if (first_ns)
        return first_ns;
    first_ns = PT_NEVER_NS;
    for (size_t at = 0; (name = pt_process_next_string(process, &at, &at_ns));)
        if (at_ns < first_ns && pt_channel_of_path(name) != PT_CHANNEL_FILE && pt_is_listening(name))
            first_ns = at_ns > 0 ? at_ns : 1;
    __atomic_store_n(seen, first_ns, __ATOMIC_RELAXED);
    return first_ns;
}

/* "tcp socket" is one without a name: nobody has bound or connected it. */
static bool names_own_socket(const struct pt_process *process)
{
    const char *name;
    pt_i64 at_ns;
    for (size_t at = 0; (name = pt_process_next_string(process, &at, &at_ns));)
        if ((pt_channel_of_path(name) == PT_CHANNEL_NETWORK || !strncmp(name, "unix ", 5)) &&
            !pt_ends_with(name, " socket"))
            return true;
    return false;
}

/* Who bound the socket may have forked this one since, which then has its names: a master and its workers. One that has
 * set up a socket of its own, as for UDP, need not listen at that. */
static bool has_listening_name(const struct pt_process *process)
{
    pt_i64 until_ns = PT_NEVER_NS - 1;
    if (first_listens_ns(process) == PT_NEVER_NS && names_own_socket(process))
        return false;
    for (; process; process = process->forked_from) {
        if (first_listens_ns(process) <= until_ns)
            return true;
        until_ns = process->start_ns - process->cut_ns;
    }
    return false;
}

static const struct pt_totals_by_kind *totals_of_life(const struct pt_process *process)
{
    return process->life_totals ? process->life_totals : process->totals;
}

/* A window may lack the calls: those of all of its life count. Its listen, which has no total of its own, is told by
 * the name of its socket: who only shut a connection down, or bound a socket for UDP, serves nobody. */
static bool serves(const struct pt_process *process)
{
    const struct pt_totals_by_kind *totals = totals_of_life(process);
    return pt_totals_of(totals, PT_KIND_net_accept)->calls ||
           (pt_totals_of(totals, PT_KIND_net_setup)->calls && has_listening_name(process));
}

bool pt_serves(const struct pt_process *process)
{
    return pt_process_answer(process, PT_QUESTION_SERVES, serves);
}

/* A server has a second to wait for its next client. A rank of a training listens and accepts, too, and whoever looks
 * several times a second polls. */
enum { LEAST_OF_SERVER_MS = 110 };

/* It is not known whether it connected, or who forked it. */
static bool may_have_connected(const struct pt_process *process)
{
    return pt_process_lacks_counters(process) || (process->parent_trace_id && !process->forked_from);
}

/* Whether it connected, or one whose connections it has. Where a file is missing that would tell, it may have. */
static bool has_connected(const struct pt_process *process)
{
    enum pt_answer known = PT_ANSWER_UNKNOWN;
    for (; process && known == PT_ANSWER_UNKNOWN; process = pt_process_inherits_from(process))
        known = pt_totals_of(totals_of_life(process), PT_KIND_net_connect)->calls || may_have_connected(process)
                    ? PT_ANSWER_YES
                    : pt_process_known_answer(process, PT_QUESTION_HAS_CONNECTED);
    return known == PT_ANSWER_YES;
}

/* Who never made a connection has those of its clients only. UDP asks without one. */
static bool may_ask_others(const struct pt_process *process, const char *path)
{
    return !strncmp(path, "udp", 3) || pt_process_answer(process, PT_QUESTION_HAS_CONNECTED, has_connected);
}

/* What a poll waits for when its time runs out: select does not say which descriptors it was given. A connection that
 * it names may be to a server that does not answer. */
static enum pt_time_part part_of_timeout(const struct pt_event *event, enum pt_channel channel)
{
    if (pt_event_as(event, wait_poll)->timeout_ms < LEAST_OF_SERVER_MS || channel == PT_CHANNEL_FILE ||
        !pt_serves(event->process))
        return PT_PART_sleep;
    const bool asks = channel == PT_CHANNEL_NETWORK && may_ask_others(event->process, pt_descriptor_of_event(event));
    return asks ? PT_PART_sleep : PT_PART_idle;
}

static enum pt_time_part part_of_span(const struct pt_event *event, enum pt_channel channel)
{
    const enum pt_time_part part = pt_time_part_of_kind(event->desc->kind);
    const bool is_poll = event->desc->kind == PT_KIND_wait_poll;
    if (event->desc->category == PT_CATEGORY_CUDA)
        return part_of_cuda(event);
    if (part == PT_PART_lock)
        return is_for_gil(event) ? PT_PART_gil_wait : part;
    if (pt_is_event_loop(event) || pt_waits_for_signals(event) || (is_poll && polls_listener(event, channel)))
        return PT_PART_idle;
    if (is_poll && event->result == 0 && !polls_one_pipe(event, channel))
        return part_of_timeout(event, channel);
    if (channel != PT_CHANNEL_FILE)
        return channel == PT_CHANNEL_LOCAL ? PT_PART_data_wait : PT_PART_network;
    return is_poll ? PT_PART_sleep : part; /* a poll without a known descriptor is a pause */
}

static const bool is_cuda[PT_KIND__COUNT] = {
#define EVENT(id, name, category, role, doc, ...) [PT_KIND_##name] = PT_CATEGORY_##category == PT_CATEGORY_CUDA,
#include "proftrace/events.def"
#undef EVENT
};

/* The part, plus 1, of kinds for which the fields do not matter. */
static pt_u8 plain_parts[PT_KIND__COUNT];

/* Before main, so that every thread finds the table complete. */
__attribute__((constructor)) static void fill_plain_parts(void)
{
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const enum pt_time_part part = pt_time_part_of_kind(kind);
        const bool is_plain =
            !path_places[kind] && !is_cuda[kind] && part != PT_PART_lock && kind != PT_KIND_wait_signal;
        plain_parts[kind] = is_plain ? (pt_u8)(part + 1) : 0;
    }
}

pt_u32 pt_wait_kind_find(const struct pt_event *event)
{
    if (plain_parts[event->desc->kind])
        return plain_parts[event->desc->kind];
    const enum pt_channel channel = pt_process_channel(event->process, path_of(event));
    return (pt_u32)channel << PT_PART_BITS | ((pt_u32)part_of_span(event, channel) + 1);
}

void pt_wait_kind_note(struct pt_event *event)
{
    if (event->desc->role == PT_ROLE_SPAN)
        event->note = pt_wait_kind_find(event);
}
