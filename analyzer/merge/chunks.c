/* SPDX-License-Identifier: MIT
 *
 * chunks.c - Owns: the thread that puts a feed's events in order, and a ring of chunks of them. Threads: that one and
 * the reader, one lock. Never: changes the order; holds more than CHUNKS chunks.
 */
#include "chunks.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "util/mem.h"

/* When the ring was full, the filling thread waits until half of it is free, and the reader waits until there are
 * several chunks: waking a thread for each chunk costs more than the chunk. */
enum { CHUNKS = 64, FREE_AGAIN = CHUNKS / 2, WANTED = 16 };

struct pt_chunks {
    struct pt_feed *from;
    pt_chunk_first *first;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, freed;
    pt_u64 written, read; /* chunks */
    bool is_reading;      /* holds the chunk at `read` */
    bool is_last;         /* no more chunks come */
    int result;
    struct pt_error err;
    struct pt_chunk ring[CHUNKS];
};

/* Returns what the feed said last: 1 = there is more. */
static int fill(struct pt_chunks *chunks, struct pt_chunk *chunk)
{
    int got = 1;
    for (chunk->n = 0; chunk->n < PT_CHUNK_EVENTS; chunk->n++)
        if ((got = chunks->from->next(chunks->from, &chunk->events[chunk->n], &chunks->err)) <= 0)
            break;
    chunks->first(chunks->context, chunk);
    return got;
}

static void *fill_all(void *argument)
{
    struct pt_chunks *chunks = argument;
    int got = 1;
    pthread_mutex_lock(&chunks->lock);
    while (got > 0) {
        if (chunks->written - chunks->read == CHUNKS)
            while (chunks->written - chunks->read > CHUNKS - FREE_AGAIN)
                pthread_cond_wait(&chunks->freed, &chunks->lock);
        struct pt_chunk *chunk = &chunks->ring[chunks->written % CHUNKS];
        pthread_mutex_unlock(&chunks->lock);
        got = fill(chunks, chunk);
        pthread_mutex_lock(&chunks->lock);
        chunks->written += chunk->n > 0;
        chunks->result = got;
        chunks->is_last = got <= 0;
        if (chunks->is_last || chunks->written - chunks->read == WANTED)
            pthread_cond_signal(&chunks->filled);
    }
    pthread_mutex_unlock(&chunks->lock);
    return NULL;
}

const struct pt_chunk *pt_chunks_next(struct pt_chunks *chunks)
{
    pthread_mutex_lock(&chunks->lock);
    if (chunks->is_reading) {
        chunks->read++;
        if (chunks->written - chunks->read == CHUNKS - FREE_AGAIN)
            pthread_cond_signal(&chunks->freed);
    }
    if (chunks->written == chunks->read)
        while (chunks->written - chunks->read < WANTED && !chunks->is_last)
            pthread_cond_wait(&chunks->filled, &chunks->lock);
    chunks->is_reading = chunks->written != chunks->read;
    const struct pt_chunk *chunk = chunks->is_reading ? &chunks->ring[chunks->read % CHUNKS] : NULL;
    pthread_mutex_unlock(&chunks->lock);
    return chunk;
}

static void free_chunks(struct pt_chunks *chunks)
{
    pthread_mutex_destroy(&chunks->lock);
    pthread_cond_destroy(&chunks->filled);
    pthread_cond_destroy(&chunks->freed);
    free(chunks);
}

int pt_chunks_end(struct pt_chunks *chunks, struct pt_error *err)
{
    pthread_join(chunks->thread, NULL);
    const int result = chunks->result;
    if (result < 0)
        *err = chunks->err;
    chunks->from->close(chunks->from);
    free_chunks(chunks);
    return result;
}

struct pt_chunks *pt_chunks_begin(struct pt_feed *from, pt_chunk_first *first, void *context)
{
    struct pt_chunks *chunks = pt_calloc(1, sizeof *chunks);
    sigset_t all, before;
    chunks->from = from;
    chunks->first = first;
    chunks->context = context;
    pthread_mutex_init(&chunks->lock, NULL);
    pthread_cond_init(&chunks->filled, NULL);
    pthread_cond_init(&chunks->freed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    const int problem = pthread_create(&chunks->thread, NULL, fill_all, chunks);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!problem)
        return chunks;
    free_chunks(chunks);
    return NULL;
}
