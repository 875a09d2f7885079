/* SPDX-License-Identifier: MIT
 *
 * chunks.c - Owns: the thread that reads a feed, and a ring of chunks of its events. Threads: the reading one and
 * the readers, one lock. Never: changes the order; holds more than CHUNKS chunks.
 */
#include "chunks.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "util/mem.h"

/* When the ring was full, the producing thread waits until half of it is free, and a reader waits until there are
 * several chunks: waking a thread for each chunk costs more than the chunk. */
enum { CHUNKS = 64, FREE_AGAIN = CHUNKS / 2, WANTED = 4 };

struct pt_chunks {
    struct pt_feed *from;
    void (*note)(struct pt_event *event);
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, freed;
    pt_u64 written, read[PT_CHUNK_READERS]; /* chunks; UINT64_MAX = does not read */
    bool is_reading[PT_CHUNK_READERS];      /* holds the chunk at `read` */
    bool is_last;                           /* no more chunks come */
    int result;
    struct pt_error err;
    struct pt_chunk ring[CHUNKS];
};

/* Returns what the feed said last: 1 = there is more. */
static int fill(struct pt_chunks *chunks, struct pt_chunk *chunk)
{
    int got = 1;
    for (chunk->n = 0; chunk->n < PT_CHUNK_EVENTS; chunk->n++) {
        struct pt_event *event = &chunk->events[chunk->n];
        if ((got = chunks->from->next(chunks->from, event, &chunks->err)) <= 0)
            break;
        if (chunks->note)
            chunks->note(event);
    }
    return got;
}

static pt_u64 n_full(const struct pt_chunks *chunks)
{
    pt_u64 slowest = UINT64_MAX;
    for (pt_u32 i = 0; i < PT_CHUNK_READERS; i++)
        slowest = chunks->read[i] < slowest ? chunks->read[i] : slowest;
    return chunks->written - slowest;
}

/* Has a reader that waits enough chunks now, and had it too few before the last one? */
static bool has_wanted(const struct pt_chunks *chunks)
{
    for (pt_u32 i = 0; i < PT_CHUNK_READERS; i++)
        if (chunks->written - chunks->read[i] == WANTED)
            return true;
    return false;
}

static void *read_ahead(void *argument)
{
    struct pt_chunks *chunks = argument;
    int got = 1;
    pthread_mutex_lock(&chunks->lock);
    while (got > 0) {
        if (n_full(chunks) == CHUNKS)
            while (n_full(chunks) > CHUNKS - FREE_AGAIN)
                pthread_cond_wait(&chunks->freed, &chunks->lock);
        struct pt_chunk *chunk = &chunks->ring[chunks->written % CHUNKS];
        pthread_mutex_unlock(&chunks->lock);
        got = fill(chunks, chunk);
        pthread_mutex_lock(&chunks->lock);
        chunks->written++;
        chunks->result = got;
        chunks->is_last = got <= 0;
        if (chunks->is_last || has_wanted(chunks))
            pthread_cond_broadcast(&chunks->filled);
    }
    pthread_mutex_unlock(&chunks->lock);
    return NULL;
}

const struct pt_chunk *pt_chunks_next(struct pt_chunks *chunks, pt_u32 reader)
{
    pt_u64 *read = &chunks->read[reader];
    const struct pt_chunk *chunk = NULL;
    pthread_mutex_lock(&chunks->lock);
    if (chunks->is_reading[reader]) {
        ++*read;
        if (n_full(chunks) == CHUNKS - FREE_AGAIN)
            pthread_cond_signal(&chunks->freed);
    }
    if (chunks->written == *read)
        while (chunks->written - *read < WANTED && !chunks->is_last)
            pthread_cond_wait(&chunks->filled, &chunks->lock);
    chunks->is_reading[reader] = chunks->written != *read;
    if (chunks->is_reading[reader])
        chunk = &chunks->ring[*read % CHUNKS];
    pthread_mutex_unlock(&chunks->lock);
    return chunk;
}

void pt_chunks_without(struct pt_chunks *chunks, pt_u32 reader)
{
    pthread_mutex_lock(&chunks->lock);
    chunks->read[reader] = UINT64_MAX;
    pthread_cond_signal(&chunks->freed);
    pthread_mutex_unlock(&chunks->lock);
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

struct pt_chunks *pt_chunks_begin(struct pt_feed *from, void (*note)(struct pt_event *event))
{
    struct pt_chunks *chunks = pt_calloc(1, sizeof *chunks);
    sigset_t all, before;
    chunks->from = from;
    chunks->note = note;
    pthread_mutex_init(&chunks->lock, NULL);
    pthread_cond_init(&chunks->filled, NULL);
    pthread_cond_init(&chunks->freed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    const int problem = pthread_create(&chunks->thread, NULL, read_ahead, chunks);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!problem)
        return chunks;
    free_chunks(chunks);
    return NULL;
}
