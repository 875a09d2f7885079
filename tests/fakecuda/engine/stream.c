/* SPDX-License-Identifier: MIT
 *
 * stream.c - streams, the default ones among them, and events. The timeline of a stream is only the end of its last
 * operation: all that comes later follows from it.
 */
#include "machine.h"
#include <stdatomic.h>
#include <stdlib.h>

static struct fg_stream *streams;
static struct fg_stream *legacy[FG_DEVICES_MAX];
static __thread struct fg_stream *per_thread[FG_DEVICES_MAX];
static atomic_uint next_stream_id = FG_FIRST_STREAM_ID, next_event_id = 1;

struct fg_stream *fg_streams(void)
{
    return streams;
}

/* Complete before others see it. */
static struct fg_stream *add(struct fg_stream description)
{
    struct fg_stream *stream = malloc(sizeof *stream);
    *stream = description;
    stream->magic = FG_STREAM_MAGIC;
    stream->queue = calloc((size_t)fg_program()->queue_depth, sizeof *stream->queue);
    pthread_mutex_lock(&fg_machine_lock);
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&fg_machine_lock);
    fg_record_stream(stream);
    return stream;
}

struct fg_stream *fg_stream_create(int priority, bool is_nonblocking)
{
    struct fg_stream *stream = add((struct fg_stream){
        .device = fg_device(), .id = next_stream_id++, .priority = priority, .is_nonblocking = is_nonblocking});
    fg_resource_callback(3, fg_context_id(stream->device), stream);
    return stream;
}

static struct fg_stream *legacy_of(int device)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!legacy[device])
        legacy[device] = add((struct fg_stream){.device = device, .id = FG_DEFAULT_STREAM_ID, .is_default = true});
    pthread_mutex_unlock(&lock);
    return legacy[device];
}

static struct fg_stream *thread_stream_of(int device)
{
    if (!per_thread[device])
        per_thread[device] = add((struct fg_stream){.device = device, .id = next_stream_id++, .is_per_thread = true});
    return per_thread[device];
}

struct fg_stream *fg_stream_of(void *handle, bool is_per_thread)
{
    const uintptr_t value = (uintptr_t)handle;
    if (value == FG_PER_THREAD || (!value && is_per_thread))
        return thread_stream_of(fg_device());
    if (value <= FG_LEGACY)
        return legacy_of(fg_device());
    struct fg_stream *stream = handle;
    return stream->magic == FG_STREAM_MAGIC ? stream : NULL;
}

int fg_stream_destroy(struct fg_stream *stream)
{
    if (stream->is_default || stream->is_per_thread)
        return FG_INVALID_HANDLE;
    pthread_mutex_lock(&fg_machine_lock);
    for (struct fg_stream **at = &streams; *at; at = &(*at)->next)
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    /* What it still runs holds up its device all the same. */
    for (struct fg_stream *other = streams; other; other = other->next)
        if (other->device == stream->device && other->is_default && other->end_ns < stream->end_ns)
            other->end_ns = stream->end_ns;
    pthread_mutex_unlock(&fg_machine_lock);
    stream->magic = 0;
    free(stream->queue);
    free(stream);
    return FG_OK;
}

uint64_t fg_stream_end(struct fg_stream *stream)
{
    pthread_mutex_lock(&fg_machine_lock);
    uint64_t end_ns = stream->end_ns;
    for (struct fg_stream *other = stream->is_default ? streams : NULL; other; other = other->next)
        if (other->device == stream->device && !other->is_nonblocking && other->end_ns > end_ns)
            end_ns = other->end_ns;
    pthread_mutex_unlock(&fg_machine_lock);
    return end_ns;
}

void fg_stream_wait(struct fg_stream *stream, uint64_t ns)
{
    pthread_mutex_lock(&fg_machine_lock);
    if (stream->end_ns < ns)
        stream->end_ns = ns;
    pthread_mutex_unlock(&fg_machine_lock);
}

struct fg_event *fg_event_create(void)
{
    struct fg_event *event = calloc(1, sizeof *event);
    event->magic = FG_EVENT_MAGIC;
    event->id = next_event_id++;
    return event;
}

struct fg_event *fg_event_of(void *handle)
{
    struct fg_event *event = handle;
    return event && event->magic == FG_EVENT_MAGIC ? event : NULL;
}

int fg_event_record(struct fg_call *call, struct fg_event *event, struct fg_stream *stream)
{
    event->capture = stream->capture;
    event->stream_id = stream->id;
    if (stream->capture)
        return FG_OK;
    const uint64_t end_ns = fg_stream_end(stream), now_ns = fg_now_ns();
    event->time_ns = end_ns > now_ns ? end_ns : now_ns;
    fg_record_event(call, event);
    return FG_OK;
}

/* True while a stream captures into it; the event may be older than the end of its capture. */
static bool is_capturing(const struct fg_graph *graph)
{
    bool found = false;
    pthread_mutex_lock(&fg_machine_lock);
    for (struct fg_stream *stream = streams; stream; stream = stream->next)
        found |= stream->capture == graph;
    pthread_mutex_unlock(&fg_machine_lock);
    return found;
}

int fg_event_wait(struct fg_stream *stream, struct fg_event *event)
{
    if (event->capture && is_capturing(event->capture)) /* the capture spreads to this stream */
        stream->capture = event->capture;
    else if (event->time_ns)
        fg_stream_wait(stream, event->time_ns);
    return FG_OK;
}

void fg_event_destroy(struct fg_event *event)
{
    event->magic = 0;
    free(event);
}
