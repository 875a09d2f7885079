/* SPDX-License-Identifier: MIT
 *
 * T13 for locks: waits that are cancelled, interrupted and jumped out of. sem_wait is a cancellation point even when
 * the semaphore is free; pthread_mutex_lock never is one.
 */
#include "host.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <sys/time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int cleaned, reached;
static volatile sig_atomic_t signals;
static sigjmp_buf back;
static volatile int may_jump;
static volatile pid_t waiter; /* who is about to wait */

static void cleanup(void *argument)
{
    cleaned++;
    if (argument)
        MUST(pthread_mutex_unlock(argument) == 0); /* cond_wait took it again */
}

static void *in_condition(void *unused)
{
    waiter = gettid();
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(cleanup, &mutex);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
    return unused;
}

static void *in_semaphore(void *unused)
{
    waiter = gettid();
    pthread_cleanup_push(cleanup, NULL);
    sem_wait(&semaphore);
    reached++;
    pthread_cleanup_pop(0);
    return unused;
}

static void *sleep_forever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void *in_join(void *thread)
{
    waiter = gettid();
    pthread_cleanup_push(cleanup, NULL);
    pthread_join(*(pthread_t *)thread, NULL);
    reached++;
    pthread_cleanup_pop(0);
    return NULL;
}

/* Cancelled before it asks for a semaphore that is free: it must not get it. */
static void *cancelled_before(void *unused)
{
    waiter = gettid();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_mutex_lock(&mutex); /* no cancellation point */
    pthread_mutex_unlock(&mutex);
    pthread_cleanup_push(cleanup, NULL);
    sem_wait(&semaphore);
    reached++;
    pthread_cleanup_pop(0);
    return unused;
}

/* The same, but by a function that is no cancellation point where it does not wait: it must get it. */
static void *cancelled_before_clock(void *unused)
{
    const struct timespec until = {1, 0};
    waiter = gettid();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    MUST(sem_clockwait(&semaphore, CLOCK_REALTIME, &until) == 0);
    reached++;
    pthread_testcancel();
    return unused;
}

/* Cancelled while it waits for a mutex: it must get it. */
static void *in_mutex(void *unused)
{
    waiter = gettid();
    pthread_mutex_lock(&held);
    reached += 1000;
    pthread_mutex_unlock(&held);
    pthread_testcancel();
    return unused;
}

static void cancel_in(void *(*routine)(void *), void *argument)
{
    pthread_t thread;
    void *result = NULL;
    waiter = 0;
    pthread_create(&thread, NULL, routine, argument);
    while (!is_asleep(waiter))
        usleep(500);
    pthread_cancel(thread);
    if (routine == in_mutex) {
        usleep(5000);
        pthread_mutex_unlock(&held);
    }
    MUST(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

static void cancellations(void)
{
    pthread_t other;
    pthread_create(&other, NULL, sleep_forever, NULL);
    for (int i = 0; i < 10; i++) {
        cancel_in(in_condition, NULL);
        cancel_in(in_semaphore, NULL);
        cancel_in(in_join, &other);
        pthread_mutex_lock(&held);
        cancel_in(in_mutex, NULL);
    }
    MUST(cleaned == 30 && reached == 10000);
    sem_post(&semaphore);
    cancel_in(cancelled_before, NULL);
    int value = 0;
    sem_getvalue(&semaphore, &value);
    MUST(value == 1 && cleaned == 31 && reached == 10000);
    cancel_in(cancelled_before_clock, NULL);
    MUST(reached == 10001);
    pthread_cancel(other);
    pthread_join(other, NULL);
}

static void on_alarm(int number)
{
    (void)number;
    signals++;
    sem_t own; /* sem_post and sem_trywait alone are allowed here; a free lock is, too, in practice */
    sem_init(&own, 0, 1);
    sem_wait(&own);
    if (may_jump)
        siglongjmp(back, 1);
}

static void jump_out(int times)
{
    const struct itimerval soon = {{0, 0}, {0, 2000}};
    may_jump = 1;
    for (volatile int i = 0; i < times; i++) {
        if (sigsetjmp(back, 1))
            continue;
        setitimer(ITIMER_REAL, &soon, NULL);
        sem_wait(&semaphore);
        MUST(!"came back");
    }
    may_jump = 0;
    MUST(signals >= times);
}

static void *release_later(void *unused)
{
    pthread_mutex_lock(&held);
    reached = 1;
    while (!is_asleep(waiter))
        usleep(500);
    usleep(50000); /* handlers run meanwhile */
    pthread_mutex_unlock(&held);
    return unused;
}

/* Handlers run in the middle of a wait for a mutex, which goes on; sem_wait comes back with EINTR. */
static void interruptions(void)
{
    pthread_t thread;
    sigset_t alarm_only;
    const struct itimerval often = {{0, 2000}, {0, 2000}}, off = {{0, 0}, {0, 0}};
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    reached = 0;
    waiter = 0;
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    pthread_create(&thread, NULL, release_later, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    while (!*(volatile int *)&reached)
        usleep(100);
    setitimer(ITIMER_REAL, &often, NULL);
    waiter = gettid();
    MUST(pthread_mutex_lock(&held) == 0);
    MUST(sem_wait(&semaphore) == -1 && errno == EINTR);
    setitimer(ITIMER_REAL, &off, NULL);
    pthread_mutex_unlock(&held);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct sigaction action = {.sa_handler = on_alarm}; /* without SA_RESTART */
    sem_init(&semaphore, 0, 0);
    sigaction(SIGALRM, &action, NULL);
    cancellations();
    jump_out(50);
    interruptions();
    MUST(null_writes(1000) == 0);
    trace_must("lock_mutex", "==", 11);
    trace_must("lock_sem", "==", 1);
    trace_must("lock_sem.errors", "==", 1);
    trace_must("fd_path:/dev/null:io_write", "==", 1000);
    return host_broken;
}
