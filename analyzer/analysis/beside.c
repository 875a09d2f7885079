/* SPDX-License-Identifier: MIT
 *
 * beside.c - Owns: the second thread of the pass over the events. Threads: that one and the caller's, one lock. Never:
 * looks at events that the caller has not given, or has taken back.
 */
#include "beside.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../util/mem.h"

struct pt_beside {
    pt_look_fn *look;
    void *state;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct pt_event *events; /* to be looked at; NULL = none */
    pt_u32 n;
    bool stop;
};

static void *look_beside(void *argument)
{
    struct pt_beside *beside = argument;
    pthread_mutex_lock(&beside->lock);
    while (!beside->stop) {
        if (!beside->events) {
            pthread_cond_wait(&beside->changed, &beside->lock);
            continue;
        }
        pthread_mutex_unlock(&beside->lock);
        beside->look(beside->state, beside->events, beside->n);
        pthread_mutex_lock(&beside->lock);
        beside->events = NULL;
        pthread_cond_broadcast(&beside->changed);
    }
    pthread_mutex_unlock(&beside->lock);
    return NULL;
}

struct pt_beside *pt_beside_begin(pt_look_fn *look, void *state)
{
    struct pt_beside *beside = pt_calloc(1, sizeof *beside);
    sigset_t all, before;
    beside->look = look;
    beside->state = state;
    pthread_mutex_init(&beside->lock, NULL);
    pthread_cond_init(&beside->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    const int problem = pthread_create(&beside->thread, NULL, look_beside, beside);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!problem)
        return beside;
    pthread_mutex_destroy(&beside->lock);
    pthread_cond_destroy(&beside->changed);
    free(beside);
    return NULL;
}

void pt_beside_give(struct pt_beside *beside, const struct pt_event *events, pt_u32 n)
{
    pthread_mutex_lock(&beside->lock);
    beside->events = events;
    beside->n = n;
    pthread_cond_broadcast(&beside->changed);
    pthread_mutex_unlock(&beside->lock);
}

void pt_beside_wait(struct pt_beside *beside)
{
    pthread_mutex_lock(&beside->lock);
    while (beside->events)
        pthread_cond_wait(&beside->changed, &beside->lock);
    pthread_mutex_unlock(&beside->lock);
}

void pt_beside_end(struct pt_beside *beside)
{
    pthread_mutex_lock(&beside->lock);
    beside->stop = true;
    pthread_cond_broadcast(&beside->changed);
    pthread_mutex_unlock(&beside->lock);
    pthread_join(beside->thread, NULL);
    pthread_mutex_destroy(&beside->lock);
    pthread_cond_destroy(&beside->changed);
    free(beside);
}
