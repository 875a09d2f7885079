/* SPDX-License-Identifier: MIT
 *
 * Owns: which events stand beside a core dump. Threads: main only. Never: takes another thread for the one that died:
 * the dump says which.
 */
#include "core_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/text.h"
#include "model/session.h"
#include "util/auto.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"

enum { KEPT_OF_DIED = 20, MAX_THREADS = 1024, SHOWN_THREADS = 64 };

struct ring {
    pt_u32 tid;
    pt_u32 most;
    pt_u64 n;
    struct pt_event events[KEPT_OF_DIED];
};

struct rings {
    PT_VEC(struct ring *);
    struct pt_map by_tid; /* of each thread; the value 0 = it has none */
};

static struct ring *ring_of(struct rings *rings, pt_u32 tid, pt_u32 died_tid)
{
    const uint64_t *known = pt_map_find(&rings->by_tid, tid);
    if (known)
        return (struct ring *)(uintptr_t)*known;
    uint64_t *place = pt_map_at(&rings->by_tid, tid);
    if (rings->n >= MAX_THREADS && tid != died_tid)
        return NULL;
    struct ring *ring = pt_calloc(1, sizeof *ring);
    ring->tid = tid;
    ring->most = tid == died_tid ? KEPT_OF_DIED : 1;
    pt_vec_push(rings, ring);
    *place = (uintptr_t)ring;
    return ring;
}

static const char *string_of(void *context, pt_u32 id)
{
    return pt_process_string(context, id);
}

static pt_u32 no_stack(void *context, pt_u32 id, const pt_u64 **ret_frames)
{
    (void)context;
    (void)id;
    *ret_frames = NULL;
    return 0;
}

static char *line_of(const struct pt_event *event)
{
    const struct pt_text_names names = {event->process, string_of, no_stack};
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    char label[24];
    snprintf(label, sizeof label, "%u/%u", event->process->pid, event->thread->tid);
    pt_text_event(&line, event, label, &names);
    return pt_strdup(pt_str_text(&line));
}

static void keep(struct pt_core_events *events, const struct ring *ring, bool has_died)
{
    struct pt_core_thread thread = {.tid = ring->tid, .has_died = has_died};
    for (pt_u64 i = ring->n; i-- > 0 && i + ring->most >= ring->n;)
        pt_vec_push(&thread.lines, line_of(&ring->events[i % ring->most]));
    pt_vec_push(&events->threads, thread);
}

static int read_all(struct pt_session *session, pt_u32 pid, pt_u32 died_tid, struct rings *rings, struct pt_error *err)
{
    const struct pt_filter filter = {
        .pid = pid,
        .categories = ~(pt_u32)(PT_CATEGORY_HEAP | PT_CATEGORY_CLOCK | PT_CATEGORY_PYTHON),
    };
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, &filter, err);
    struct pt_event event;
    int got = -1;
    while (feed && (got = feed->next(feed, &event, err)) > 0) {
        struct ring *ring = event.thread ? ring_of(rings, event.thread->tid, died_tid) : NULL;
        if (ring)
            ring->events[ring->n++ % ring->most] = event;
    }
    return got;
}

void pt_core_events_read(struct pt_core_events *events, const char *run, pt_u32 pid, pt_u32 died_tid)
{
    struct pt_error err = {0};
    struct rings rings = {0};
    *events = (struct pt_core_events){.run = run};
    PT_AUTO(pt_session_closep) struct pt_session *session = pt_session_open(run, &err);
    if (!session || read_all(session, pid, died_tid, &rings, &err) < 0)
        events->why_not = pt_strdup(err.text);
    else if (!rings.n)
        events->why_not = pt_asprintf("it has no events of process %u", pid);
    for (int pass = 0; pass < 2 && !events->why_not; pass++)
        for (size_t i = 0; i < rings.n && events->threads.n < SHOWN_THREADS; i++)
            if ((rings.items[i]->tid == died_tid) == !pass)
                keep(events, rings.items[i], !pass);
    events->left_out = events->why_not ? 0 : rings.by_tid.n - events->threads.n;
    for (size_t i = 0; i < rings.n; i++)
        free(rings.items[i]);
    free(rings.items);
    pt_map_fini(&rings.by_tid);
}

void pt_core_events_fini(struct pt_core_events *events)
{
    for (size_t i = 0; i < events->threads.n; i++) {
        for (size_t j = 0; j < events->threads.items[i].lines.n; j++)
            free(events->threads.items[i].lines.items[j]);
        free(events->threads.items[i].lines.items);
    }
    free(events->threads.items);
    free(events->why_not);
    *events = (struct pt_core_events){0};
}

void pt_core_events_put(const struct pt_core_events *events, struct pt_str *out)
{
    pt_str_add(out, "trace ");
    pt_sanitize_terminal(out, events->run);
    pt_str_char(out, '\n');
    if (events->why_not) {
        pt_str_add(out, "  no events: ");
        pt_sanitize_terminal(out, events->why_not);
        pt_str_char(out, '\n');
    }
    for (size_t i = 0; i < events->threads.n; i++) {
        const struct pt_core_thread *thread = &events->threads.items[i];
        pt_str_printf(out, "  thread %u%s\n", thread->tid, thread->has_died ? ", which died: its last events" : "");
        for (size_t j = 0; j < thread->lines.n; j++) {
            pt_str_add(out, "      ");
            pt_sanitize_terminal(out, thread->lines.items[j]);
            pt_str_char(out, '\n');
        }
    }
    if (events->left_out)
        pt_str_printf(out, "  ... and %s more threads: `proftrace dump` has all events\n",
                      pt_fmt_count(events->left_out).text);
}

void pt_core_events_json(const struct pt_core_events *events, struct pt_json *json)
{
    pt_json_object(json, "trace");
    pt_json_text(json, "run", events->run);
    pt_json_text(json, "unread_reason", events->why_not);
    pt_json_u64(json, "threads_left_out", events->left_out);
    pt_json_array(json, "threads");
    for (size_t i = 0; i < events->threads.n; i++) {
        const struct pt_core_thread *thread = &events->threads.items[i];
        pt_json_object(json, NULL);
        pt_json_u64(json, "tid", thread->tid);
        pt_json_bool(json, "died", thread->has_died);
        pt_json_array(json, "last_events");
        for (size_t j = 0; j < thread->lines.n; j++)
            pt_json_text(json, NULL, thread->lines.items[j]);
        pt_json_end(json);
        pt_json_end(json);
    }
    pt_json_end(json);
    pt_json_end(json);
}
