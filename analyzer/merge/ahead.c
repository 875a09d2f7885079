/* SPDX-License-Identifier: MIT
 *
 * ahead.c - Owns: the thread that reads a stream, and a few chunks of its events. Threads: the reading one and the
 * caller's, one lock. Never: changes the order; holds more than CHUNKS chunks.
 */
#include "ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../util/mem.h"

enum { CHUNKS = 4, CHUNK_EVENTS = 2048 };

struct chunk {
    struct pt_event events[CHUNK_EVENTS];
    pt_u32 n;
    int end; /* what the stream said after the last one: 1 = there is more */
    struct pt_error err;
};

struct ahead {
    struct pt_stream stream; /* first */
    struct pt_stream *from;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pt_u64 written, read; /* chunks: written - read of them are full */
    bool stop;
    struct chunk chunks[CHUNKS];
    struct chunk *now; /* the one the caller reads; NULL = none */
    pt_u32 at;
};

static void fill(struct pt_stream *from, struct chunk *chunk)
{
    chunk->n = 0;
    chunk->end = 1;
    while (chunk->n < CHUNK_EVENTS && (chunk->end = from->next(from, &chunk->events[chunk->n], &chunk->err)) > 0)
        chunk->n++;
}

static void *read_ahead(void *argument)
{
    struct ahead *ahead = argument;
    bool more = true;
    pthread_mutex_lock(&ahead->lock);
    while (more && !ahead->stop) {
        if (ahead->written - ahead->read == CHUNKS) {
            pthread_cond_wait(&ahead->changed, &ahead->lock);
            continue;
        }
        struct chunk *chunk = &ahead->chunks[ahead->written % CHUNKS];
        pthread_mutex_unlock(&ahead->lock);
        fill(ahead->from, chunk);
        more = chunk->end > 0;
        pthread_mutex_lock(&ahead->lock);
        ahead->written++;
        pthread_cond_signal(&ahead->changed);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* Give the chunk that was read back, and wait for the next one. */
static void turn(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    if (ahead->now) {
        ahead->read++;
        pthread_cond_signal(&ahead->changed);
    }
    while (ahead->written == ahead->read)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    ahead->now = &ahead->chunks[ahead->read % CHUNKS];
    ahead->at = 0;
    pthread_mutex_unlock(&ahead->lock);
}

static int next(struct pt_stream *self, struct pt_event *ret_event, struct pt_error *err)
{
    struct ahead *ahead = (struct ahead *)self;
    while (!ahead->now || ahead->at == ahead->now->n) {
        if (ahead->now && ahead->now->end <= 0) {
            if (ahead->now->end < 0)
                *err = ahead->now->err;
            return ahead->now->end;
        }
        turn(ahead);
    }
    *ret_event = ahead->now->events[ahead->at++];
    return 1;
}

static void close_ahead(struct pt_stream *self)
{
    struct ahead *ahead = (struct ahead *)self;
    pthread_mutex_lock(&ahead->lock);
    ahead->stop = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    ahead->from->close(ahead->from);
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->changed);
    free(ahead);
}

struct pt_stream *pt_stream_ahead(struct pt_stream *from)
{
    struct ahead *ahead = pt_calloc(1, sizeof *ahead);
    sigset_t all, before;
    ahead->stream = (struct pt_stream){.next = next, .close = close_ahead};
    ahead->from = from;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    const int problem = pthread_create(&ahead->thread, NULL, read_ahead, ahead);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!problem)
        return &ahead->stream;
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->changed);
    free(ahead);
    return from;
}
