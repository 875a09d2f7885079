/* SPDX-License-Identifier: MIT
 *
 * Owns: the phases that are open now. Threads: main only. Never: guesses a phase that it has not seen begin.
 *
 * Events are read from the mapped files of the programs. Where they make more of them than can be read at the cost that
 * `top` may have, their phases are unknown, with that reason.
 */
#include "phases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "decode/phase_names.h"
#include "merge/feed.h"
#include "util/auto.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/text/utf8.h"

enum { MAX_DEPTH = 16, MAX_THREADS = 4096, MOST_EVENTS = 300000 };
#define FIRST_WINDOW_NS 60000000000
#define STORING_NS 5000000 /* an event has its time a moment before it can be read */

struct pt_top_thread {
    pt_u64 process_key;
    pt_u32 depth; /* also counts what is deeper than MAX_DEPTH */
    struct {
        char name[48];
        bool is_data_wait;
        pt_i64 start_ns;
    } open[MAX_DEPTH];
    pt_i64 last_ns;      /* when a phase of it last began or ended */
    pt_i64 data_wait_ns; /* within the window, of those that have ended */
};

static pt_u64 key_of(const struct pt_process *process)
{
    return process->trace_id ^ (pt_u64)process->pid << 32;
}

static struct pt_top_thread *thread_of(struct pt_top_phases *phases, const struct pt_event *e)
{
    const pt_u64 key = pt_hash_pair(key_of(e->process), (pt_u64)e->thread->slot << 32 | e->thread->life);
    uint64_t *place = pt_map_at(&phases->by_thread, key);
    if (!*place && phases->threads.n < MAX_THREADS) {
        struct pt_top_thread *thread = pt_calloc(1, sizeof *thread);
        thread->process_key = key_of(e->process);
        pt_vec_push(&phases->threads, thread);
        *place = phases->threads.n;
    }
    return *place ? phases->threads.items[*place - 1] : NULL;
}

static void begin(struct pt_top_thread *thread, const char *name, bool is_data_wait, pt_i64 start_ns)
{
    if (thread->depth < MAX_DEPTH) {
        char *to = thread->open[thread->depth].name;
        snprintf(to, sizeof thread->open[0].name, "%s", name ? name : "?");
        pt_utf8_trim(to, sizeof thread->open[0].name);
        thread->open[thread->depth].is_data_wait = is_data_wait;
        thread->open[thread->depth].start_ns = start_ns;
    }
    thread->depth++;
}

static void end(struct pt_top_phases *phases, struct pt_top_thread *thread, pt_i64 end_ns)
{
    if (!thread->depth || --thread->depth >= MAX_DEPTH || !thread->open[thread->depth].is_data_wait)
        return;
    const pt_i64 start_ns = thread->open[thread->depth].start_ns;
    const pt_i64 from_ns = start_ns > phases->from_ns ? start_ns : phases->from_ns;
    thread->data_wait_ns += end_ns > from_ns ? end_ns - from_ns : 0;
}

static void take(struct pt_top_phases *phases, const struct pt_event *e)
{
    struct pt_top_thread *thread = e->thread ? thread_of(phases, e) : NULL;
    if (!thread)
        return;
    const enum pt_phase phase = e->desc->kind == PT_KIND_phase_begin ? pt_phase_of_tag(e->tag) : (enum pt_phase)0;
    switch (e->desc->kind) {
    case PT_KIND_phase_begin:
        begin(thread, pt_phase_names[phase], phase == PT_PHASE_data_wait, e->start_ns);
        break;
    case PT_KIND_range_begin:
        begin(thread, pt_process_string(e->process, pt_event_as(e, range_begin)->name), false, e->start_ns);
        break;
    case PT_KIND_phase_end:
    case PT_KIND_range_end:
        end(phases, thread, e->start_ns);
        break;
    default:
        return;
    }
    thread->last_ns = e->start_ns;
}

/* More would cost more than `top` may; after such a gap, what was open before it is not known to be still. */
static bool is_too_much(struct pt_top_phases *phases, const struct pt_session *session, pt_u64 *n_before)
{
    const pt_u64 n = session->quality.events;
    const bool is_first = !phases->until_ns;
    const bool is_more = !is_first && n > *n_before + MOST_EVENTS;
    *n_before = n;
    return is_more || (is_first && n > 20u * MOST_EVENTS);
}

static void forget(struct pt_top_phases *phases)
{
    for (size_t i = 0; i < phases->threads.n; i++)
        phases->threads.items[i]->depth = 0;
}

int pt_top_phases_follow(struct pt_top_phases *phases, struct pt_session *session, struct pt_error *err)
{
    const pt_i64 first_ns = session->duration_ns - FIRST_WINDOW_NS;
    const bool is_first = !phases->until_ns;
    phases->is_followed = !is_too_much(phases, session, &phases->n_events);
    phases->from_ns = is_first ? first_ns : phases->until_ns;
    phases->until_ns = session->duration_ns > STORING_NS ? session->duration_ns - STORING_NS : 1;
    for (size_t i = 0; i < phases->threads.n; i++)
        phases->threads.items[i]->data_wait_ns = 0;
    if (!phases->is_followed) {
        forget(phases);
        return 0;
    }
    const struct pt_filter filter = {
        .categories = PT_CATEGORY_USER,
        .from_ns = phases->from_ns > 0 ? phases->from_ns + 1 : 0,
        .until_ns = phases->until_ns + 1,
    };
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, &filter, err);
    struct pt_event event;
    int got = -1;
    while (feed && (got = feed->next(feed, &event, err)) > 0)
        take(phases, &event);
    return got;
}

void pt_top_phases_close(struct pt_top_phases *phases)
{
    for (size_t i = 0; i < phases->threads.n; i++)
        free(phases->threads.items[i]);
    free(phases->threads.items);
    pt_map_fini(&phases->by_thread);
    *phases = (struct pt_top_phases){0};
}

static struct pt_value not_followed(void)
{
    return pt_unknown("it makes more events than top reads");
}

struct pt_value pt_top_phase_of(const struct pt_top_phases *phases, const struct pt_process *process)
{
    const struct pt_top_thread *last = NULL;
    if (!phases->is_followed)
        return not_followed();
    for (size_t i = 0; i < phases->threads.n; i++) {
        const struct pt_top_thread *thread = phases->threads.items[i];
        if (thread->process_key == key_of(process) && thread->depth && (!last || thread->last_ns > last->last_ns))
            last = thread;
    }
    return last ? pt_text(last->open[last->depth <= MAX_DEPTH ? last->depth - 1 : MAX_DEPTH - 1].name)
                : pt_unknown("it was not seen to begin one");
}

struct pt_value pt_top_data_wait_of(const struct pt_top_phases *phases, const struct pt_process *process)
{
    const double window_ns = (double)(phases->until_ns - phases->from_ns);
    double wait_ns = 0;
    bool is_known = false;
    if (!phases->is_followed || window_ns <= 0)
        return not_followed();
    for (size_t i = 0; i < phases->threads.n; i++) {
        const struct pt_top_thread *thread = phases->threads.items[i];
        if (thread->process_key != key_of(process))
            continue;
        is_known = true;
        wait_ns += (double)thread->data_wait_ns;
        for (pt_u32 j = 0; j < thread->depth && j < MAX_DEPTH; j++)
            if (thread->open[j].is_data_wait) {
                const pt_i64 from_ns =
                    thread->open[j].start_ns > phases->from_ns ? thread->open[j].start_ns : phases->from_ns;
                wait_ns += (double)(phases->until_ns - from_ns);
            }
    }
    return is_known ? pt_real(100 * wait_ns / window_ns) : pt_unknown("it was not seen to begin a phase");
}
