/* SPDX-License-Identifier: MIT
 *
 * Owns: the order in which the facts about an event are found. Threads: one while there are events, then any. Never:
 * handles an event twice.
 */
#include "facts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "util/mem.h"
#include "blockers.h"
#include "event_loops.h"
#include "workers.h"
#include "path/critical_path.h"
#include "path/path_time.h"

/* Of a window: what explains its events. */
static void take_earlier(struct pt_facts *facts)
{
    const struct pt_session *session = facts->profile->session;
    pt_thread_ids_earlier(&facts->ids, session);
    pt_connection_ends_note_earlier(&facts->ends, session);
    for (pt_u32 i = 0; i < session->n_earlier; i++)
        pt_channels_note(&facts->channels, &session->earlier[i]);
}

struct pt_facts *pt_facts_open(struct pt_profile *profile)
{
    struct pt_facts *facts = pt_calloc(1, sizeof *facts);
    facts->profile = profile;
    pt_thread_ids_open(&facts->ids, profile->session);
    pt_thread_timelines_open(&facts->timelines, pt_n_threads(&facts->ids));
    facts->loops.threads = pt_calloc(pt_n_threads(&facts->ids), sizeof *facts->loops.threads);
    pt_cpu_profiles_open(&facts->cpu, profile->session, &profile->stages, &facts->ids, NULL);
    pt_kernel_counts_open(&facts->counts, &facts->ids);
    pt_python_places_open(&facts->places, pt_n_threads(&facts->ids));
    facts->waits = pt_calloc(pt_n_threads(&facts->ids) + 1, sizeof *facts->waits);
    facts->symbols = pt_symbols_of_session(profile->session);
    facts->views = pt_calloc(profile->stages.n, sizeof *facts->views);
    for (size_t stage = 0; stage < profile->stages.n; stage++)
        if (facts->cpu.timelines[stage].data)
            pt_cpu_view_of(&facts->views[stage], facts->cpu.timelines[stage].data, facts->symbols);
    facts->paths = pt_critical_paths_open(facts);
    facts->path_times = pt_path_times_open(profile);
    facts->have_workers = pt_have_workers(profile->session);
    take_earlier(facts);
    return facts;
}

void pt_facts_close(struct pt_facts *facts)
{
    if (!facts)
        return;
    pt_critical_paths_close(facts->paths);
    pt_path_times_close(facts->path_times);
    free(facts->have_workers);
    for (pt_u32 stage = 0; stage < facts->cpu.n_stages; stage++)
        if (facts->views[stage].data)
            pt_cpu_view_close(&facts->views[stage]);
    free(facts->views);
    pt_python_places_close(&facts->places);
    pt_kernel_counts_close(&facts->counts);
    pt_symbols_close(facts->symbols);
    pt_cpu_profiles_close(&facts->cpu);
    free(facts->waits);
    free(facts->loops.threads);
    pt_connection_ends_fini(&facts->ends);
    pt_thread_timelines_close(&facts->timelines);
    pt_thread_ids_close(&facts->ids);
    pt_lock_queues_fini(&facts->queues);
    pt_channels_fini(&facts->channels);
    free(facts);
}

void pt_facts_settle(struct pt_facts *facts)
{
    pt_kernel_counts_settle(&facts->counts, &facts->cpu, facts->views);
}

/* ---- events ---- */

/* Where the id of a string that says what a call is about is in the payload, plus 1. */
static const pt_u8 subject_places[PT_KIND__COUNT] = {
#define PLACE(event, field) [PT_KIND_##event] = offsetof(struct pt_ev_##event, field) + 1
    PLACE(stdio_read, path),  PLACE(stdio_write, path), PLACE(wait_poll, path), PLACE(io_seek, path),
    PLACE(net_receive, path), PLACE(net_send, path),    PLACE(cuda_call, name),
#undef PLACE
};

/* Other calls of files have { i32 result, u32 path, ... }. */
static bool has_path(const struct pt_event *event)
{
    return event->desc->category & (PT_CATEGORY_IO | PT_CATEGORY_META);
}

static pt_u32 subject_of(const struct pt_event *event)
{
    const pt_u32 place = subject_places[event->desc->kind] ? subject_places[event->desc->kind]
                         : has_path(event)                 ? offsetof(struct pt_ev_io_close, path) + 1
                                                           : 0;
    pt_u32 subject = 0;
    if (place)
        memcpy(&subject, event->payload + place - 1, sizeof subject);
    return subject;
}

static enum pt_span_kind kind_of(const struct pt_event *event, enum pt_time_part part)
{
    if (event->desc->category == PT_CATEGORY_MAP)
        return PT_SPAN_MAP;
    if (event->desc->category == PT_CATEGORY_CUDA)
        return PT_SPAN_CUDA;
    if (event->desc->category == PT_CATEGORY_PROC && event->desc->kind != PT_KIND_proc_system)
        return PT_SPAN_START;
    return part == PT_PART_data_wait && pt_sends(event) ? PT_SPAN_SEND : PT_SPAN_CALL;
}

/* Mutexes, barriers, locks on files, and semaphores that those who post them take, are not what idle threads wait for.
 */
static bool is_for_work(const struct pt_facts *facts, const struct pt_event *event, enum pt_time_part part)
{
    const pt_u32 kind = event->desc->kind;
    /* Workers of a pool take turns at the right to wait for the next task. */
    const bool is_turn = kind == PT_KIND_lock_sem && pt_is_main_thread(event) && pt_is_worker(event->process);
    bool is_lock = false;
    for (pt_u32 i = 0; kind == PT_KIND_lock_sem && !is_turn && i < facts->call.n_shares; i++)
        is_lock |= facts->call.shares[i].takes_it;
    if (part == PT_PART_lock)
        return !is_lock && (kind == PT_KIND_lock_cond || kind == PT_KIND_lock_sem || kind == PT_KIND_wait_thread);
    return part == PT_PART_idle || (part == PT_PART_data_wait && !pt_sends(event));
}

static void note_wait(struct pt_facts *facts, pt_u32 thread, const struct pt_event *event, enum pt_time_part part)
{
    struct pt_thread_waits *waits = &facts->waits[thread];
    const pt_u64 ns = event->duration_ns > 0 ? (pt_u64)event->duration_ns : 0;
    waits->gil_ns += part == PT_PART_gil_wait ? ns : 0;
    if (is_for_work(facts, event, part)) {
        waits->for_work_ns += ns;
        waits->n_for_work++;
    }
}

/* The part in which the place of a call counts: whoever answers on a connection does not wait for the network. */
static enum pt_time_part part_of_place(const struct pt_facts *facts, const struct pt_event *event)
{
    const enum pt_time_part part = (enum pt_time_part)facts->call.span.part;
    const char *path = part == PT_PART_network ? pt_descriptor_of_event(event) : NULL;
    return path && pt_connection_end_of(&facts->ends, event->process, path) == PT_END_SERVER ? PT_PART_idle : part;
}

static void take_call(struct pt_facts *facts, const struct pt_event *event)
{
    const pt_u32 thread = pt_thread_number(&facts->ids, event->thread);
    const enum pt_time_part part = pt_time_part_of_event(event);
    struct pt_span span = {.start_ns = event->start_ns,
                           .end_ns = pt_event_end_ns(event),
                           .subject = subject_of(event),
                           .part = (pt_u8)part,
                           .kind = (pt_u8)kind_of(event, part),
                           .class = event->desc->kind == PT_KIND_cuda_call ? (pt_u8)event->tag : 0};
    pt_connection_ends_note(&facts->ends, event);
    pt_blocker_note(facts, event, &span);
    facts->call.span = span;
    facts->call.preempted_ns = pt_cpu_profiles_call(&facts->cpu, thread, event, part);
    facts->call.own_ns = pt_thread_timeline_add(&facts->timelines, thread, span) - facts->call.preempted_ns;
    note_wait(facts, thread, event, part);
    if (facts->call.n_shares && facts->call.shares[0].until_ns < span.end_ns)
        pt_blocker_divide(facts, thread);
    pt_kernel_counts_call(&facts->counts, event, (enum pt_time_part)facts->call.span.part,
                          facts->call.own_ns + facts->call.preempted_ns);
    pt_event_loops_call(facts, event);
    pt_path_time_call(facts, event);
    const bool is_critical = pt_path_is_own(facts->paths, event) && !pt_path_is_handed(facts->paths, event);
    pt_python_places_call(&facts->places, facts->profile, event, thread, part_of_place(facts, event), is_critical);
}

/* The record comes with those of the GPU, but it was on a thread of the host. */
static void take_overhead(struct pt_facts *facts, const struct pt_event *event)
{
    const struct pt_thread *thread =
        pt_thread_of_tid(&facts->ids, event->process, pt_event_as(event, gpu_overhead)->tid, event->start_ns);
    const struct pt_span span = {.start_ns = event->start_ns,
                                 .end_ns = pt_event_end_ns(event),
                                 .subject = (pt_u32)event->tag,
                                 .part = PT_PART__COUNT,
                                 .kind = PT_SPAN_OVERHEAD};
    if (thread)
        pt_thread_timeline_add(&facts->timelines, pt_thread_number(&facts->ids, thread), span);
}

void pt_facts_event(struct pt_facts *facts, const struct pt_event *event)
{
    if (event->desc->kind == PT_KIND_thread_clock) {
        pt_kernel_counts_read(&facts->counts, event);
    } else if (event->desc->kind == PT_KIND_python_place) {
        pt_python_places_note(&facts->places, event, pt_thread_number(&facts->ids, event->thread));
    } else if (event->desc->role != PT_ROLE_SPAN) {
        pt_thread_ids_event(&facts->ids, event);
        pt_lock_queues_point(&facts->queues, event);
        pt_kernel_counts_point(&facts->counts, event);
    } else if (event->desc->category != PT_CATEGORY_GPU) {
        take_call(facts, event);
    } else if (event->desc->kind == PT_KIND_gpu_overhead) {
        take_overhead(facts, event);
    }
}
