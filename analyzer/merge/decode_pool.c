/* SPDX-License-Identifier: MIT
 *
 * decode_pool.c - Owns: the worker threads, their decoders and all batches. Threads: the merging one and the workers,
 * one lock. Never: holds more than MAX_AHEAD decoded batches beyond those being read.
 */
#include "decode_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/mem.h"

/* A worker that is woken for each block takes a CPU from the threads that read events. While a source used up its last
 * block, so many were asked for, and until it needs the next one about as many will be: a worker is woken when an
 * eighth of that wait. Of one that is read alone or much faster than the others, at once. */
enum { MAX_WORKERS = 4, MAX_AHEAD = 192, WAKE_SHARE = 8 };
/* Fewer blocks are decoded faster than a worker starts. */
#ifdef PROFTRACE_THREADS_ALWAYS
enum { FEW_BLOCKS = 0 };
#else
enum { FEW_BLOCKS = 8 };
#endif

struct pt_decode_pool {
    pthread_mutex_t lock;
    pthread_cond_t asked, done;
    pthread_t workers[MAX_WORKERS];
    int n_workers;
    bool stop;
    struct pt_job *first, **last;
    struct pt_decoder *own; /* of the merging thread */
    struct pt_batch *spare[MAX_AHEAD];
    int n_spare, n_ahead, n_queued; /* ahead: queued, being decoded, or decoded and not taken yet */
    pt_u64 n_asked;
};

static int by_end(const void *a, const void *b)
{
    const struct pt_item *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return memcmp(x, y, sizeof *x); /* always the same order: a block may be decoded again for its next window */
}

static int decode(struct pt_decoder *decoder, const struct pt_decode_source *source, size_t block,
                  struct pt_batch *batch)
{
    const int result = pt_decode(decoder, source, block, batch);
    if (source->is_unordered)
        qsort(batch->items, batch->n, sizeof batch->items[0], by_end);
    return result;
}

static struct pt_batch *get_batch(struct pt_decode_pool *pool)
{
    return pool->n_spare ? pool->spare[--pool->n_spare] : pt_malloc(sizeof(struct pt_batch));
}

static void put_batch(struct pt_decode_pool *pool, struct pt_batch *batch)
{
    if (pool->n_spare < MAX_AHEAD)
        pool->spare[pool->n_spare++] = batch;
    else
        free(batch);
}

static struct pt_job *pop(struct pt_decode_pool *pool)
{
    struct pt_job *job = pool->first;
    pool->first = job->next;
    pool->n_queued--;
    if (!pool->first)
        pool->last = &pool->first;
    return job;
}

static void *work(void *argument)
{
    struct pt_decode_pool *pool = argument;
    struct pt_decoder *decoder = pt_decoder_new();
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->first && !pool->stop)
            pthread_cond_wait(&pool->asked, &pool->lock);
        if (pool->stop)
            break;
        struct pt_job *job = pop(pool);
        job->state = PT_JOB_RUNNING;
        job->batch = get_batch(pool);
        pthread_mutex_unlock(&pool->lock);
        const int result = decode(decoder, job->source, job->block, job->batch);
        pthread_mutex_lock(&pool->lock);
        job->result = result;
        job->state = PT_JOB_DONE;
        pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    pt_decoder_free(decoder);
    return NULL;
}

static void start_workers(struct pt_decode_pool *pool)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const int want = cores < MAX_WORKERS ? (int)cores : MAX_WORKERS;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    while (pool->n_workers < want && !pthread_create(&pool->workers[pool->n_workers], NULL, work, pool))
        pool->n_workers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct pt_decode_pool *pt_decode_pool_new(size_t blocks)
{
    struct pt_decode_pool *pool = pt_calloc(1, sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->asked, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->last = &pool->first;
    pool->own = pt_decoder_new();
    if (blocks >= FEW_BLOCKS)
        start_workers(pool);
    return pool;
}

void pt_decode_pool_free(struct pt_decode_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->asked);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->n_workers; i++)
        pthread_join(pool->workers[i], NULL);
    while (pool->n_spare)
        free(pool->spare[--pool->n_spare]);
    pt_decoder_free(pool->own);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->asked);
    pthread_cond_destroy(&pool->done);
    free(pool);
}

void pt_decode_pool_ask(struct pt_decode_pool *pool, struct pt_job *job, const struct pt_decode_source *source,
                        size_t block)
{
    if (!pool->n_workers || pool->n_ahead >= MAX_AHEAD)
        return;
    pthread_mutex_lock(&pool->lock);
    const pt_u64 since_last = pool->n_asked - job->asked;
    *job = (struct pt_job){
        .source = source, .block = block, .state = PT_JOB_QUEUED, .is_asked = true, .asked = ++pool->n_asked};
    *pool->last = job;
    pool->last = &job->next;
    pool->n_ahead++;
    pool->n_queued++;
    if (pool->n_queued > MAX_AHEAD / WAKE_SHARE || (pt_u64)pool->n_queued > since_last / WAKE_SHARE)
        pthread_cond_signal(&pool->asked);
    pthread_mutex_unlock(&pool->lock);
}

static void remove_from_queue(struct pt_decode_pool *pool, const struct pt_job *job)
{
    struct pt_job **at = &pool->first;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    pool->n_queued--;
    if (!*at)
        pool->last = at;
}

int pt_decode_pool_take(struct pt_decode_pool *pool, struct pt_job *job, const struct pt_decode_source *source,
                        size_t block, struct pt_batch **ret_batch)
{
    pthread_mutex_lock(&pool->lock);
    if (job->is_asked)
        pool->n_ahead--;
    job->is_asked = false;
    if (job->state == PT_JOB_QUEUED) {
        remove_from_queue(pool, job);
        job->state = PT_JOB_IDLE;
    }
    while (job->state == PT_JOB_RUNNING)
        pthread_cond_wait(&pool->done, &pool->lock);
    if (job->state == PT_JOB_DONE) {
        job->state = PT_JOB_IDLE;
        *ret_batch = job->batch;
        pthread_mutex_unlock(&pool->lock);
        return job->result;
    }
    *ret_batch = get_batch(pool);
    pthread_mutex_unlock(&pool->lock);
    return decode(pool->own, source, block, *ret_batch);
}

void pt_decode_pool_give_back(struct pt_decode_pool *pool, struct pt_batch *batch)
{
    pthread_mutex_lock(&pool->lock);
    put_batch(pool, batch);
    pthread_mutex_unlock(&pool->lock);
}
