/* SPDX-License-Identifier: MIT
 *
 * T42: a program of before glibc 2.3.2. Its pthread_cond_t holds a pointer that libc fills; were it handed to today's
 * pthread_cond_wait, the thread would never wake up. Today's condition is used beside it.
 */
#include "host.h"

#include <pthread.h>
#include <time.h>

/* The old type is no larger than a mutex's first word; libc keeps its own condition behind the pointer. */
struct old_condition {
    void *made_by_libc;
};

int old_wait(struct old_condition *condition, pthread_mutex_t *mutex);
int old_timedwait(struct old_condition *condition, pthread_mutex_t *mutex, const struct timespec *until);
int old_signal(struct old_condition *condition);
int old_destroy(struct old_condition *condition);
__asm__(".symver old_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_timedwait, pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver old_signal, pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver old_destroy, pthread_cond_destroy@GLIBC_2.2.5");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct old_condition condition;
    char after[64]; /* today's functions would write here */
} old;
static pthread_cond_t today = PTHREAD_COND_INITIALIZER;
static int turn;

static void *partner(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        while (turn != 1)
            pthread_cond_wait(&today, &mutex);
        turn = 0;
        old_signal(&old.condition);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    const struct timespec past = {1, 0};
    pthread_create(&thread, NULL, partner, NULL);
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        turn = 1;
        pthread_cond_signal(&today);
        while (turn != 0)
            old_wait(&old.condition, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(thread, NULL);
    pthread_mutex_lock(&mutex);
    MUST(old_timedwait(&old.condition, &mutex, &past) == ETIMEDOUT);
    MUST(pthread_cond_timedwait(&today, &mutex, &past) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    MUST(old.condition.made_by_libc != NULL);
    for (size_t i = 0; i < sizeof old.after; i++)
        MUST(old.after[i] == 0);
    MUST(old_destroy(&old.condition) == 0);
    trace_must("lock_cond", ">=", 102);
    return host_broken;
}
