/* SPDX-License-Identifier: MIT
 *
 * Every kind of lock answers as without us, free or held, by its owner or by another thread, with good and bad times:
 * all results are printed. A try function stands before ours, and it must not show.
 */
#include "host.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <threads.h>
#include <time.h>

static const struct timespec past = {1, 0}, bad_time = {1, 2000000000};

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_nsec += ms * 1000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static pthread_mutex_t make(int type, int robust, int protocol, int shared)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setpshared(&attributes, shared);
    if (protocol == PTHREAD_PRIO_PROTECT)
        pthread_mutexattr_setprioceiling(&attributes, 10);
    printf(" init %d", pthread_mutex_init(&mutex, &attributes));
    return mutex;
}

static pthread_t holder;
static atomic_int holding;

static void *hold_a_while(void *mutex)
{
    pthread_mutex_lock(mutex);
    holding = 1;
    usleep(30000);
    while (holding == 1) /* until told */
        usleep(1000);
    pthread_mutex_unlock(mutex);
    return NULL;
}

static void *die_with_it(void *mutex)
{
    pthread_mutex_lock(mutex);
    return NULL;
}

/* Another thread holds the mutex from now on: for a moment, or until told. */
static void let_hold(pthread_mutex_t *mutex, int until_told)
{
    holding = 0;
    pthread_create(&holder, NULL, hold_a_while, mutex);
    while (!holding)
        usleep(500);
    if (!until_told)
        holding = 2;
}

static void let_die(pthread_mutex_t *mutex)
{
    pthread_create(&holder, NULL, die_with_it, mutex);
    pthread_join(holder, NULL);
}

static void own_mutex(pthread_mutex_t *mutex, int type)
{
    struct timespec soon = in_ms(CLOCK_REALTIME, 5), mono = in_ms(CLOCK_MONOTONIC, 5);
    printf(" lock %d", pthread_mutex_lock(mutex));
    if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK)
        printf(" again %d", pthread_mutex_lock(mutex));
    if (type == PTHREAD_MUTEX_RECURSIVE)
        printf(" unlock %d", pthread_mutex_unlock(mutex));
    printf(" timed %d", pthread_mutex_timedlock(mutex, &soon));
    if (type == PTHREAD_MUTEX_RECURSIVE)
        printf(" unlock %d", pthread_mutex_unlock(mutex));
    printf(" clock %d", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &mono));
    if (type == PTHREAD_MUTEX_RECURSIVE)
        printf(" unlock %d", pthread_mutex_unlock(mutex));
    printf(" unlock %d", pthread_mutex_unlock(mutex));
    printf(" free: bad time %d", pthread_mutex_timedlock(mutex, &bad_time));
    printf(" unlock %d", pthread_mutex_unlock(mutex));
    printf(" bad clock %d", pthread_mutex_clocklock(mutex, CLOCK_TAI, &soon));
    printf(" held by us %d\n", pthread_mutex_trylock(mutex));
    pthread_mutex_unlock(mutex);
}

/* Four calls that find the mutex held by another thread. */
static int wait_for_mutex(pthread_mutex_t *mutex)
{
    let_hold(mutex, 0);
    printf("   lock %d", pthread_mutex_lock(mutex));
    pthread_mutex_unlock(mutex);
    pthread_join(holder, NULL);
    let_hold(mutex, 1);
    printf(" past %d", pthread_mutex_timedlock(mutex, &past));
    printf(" bad time %d", pthread_mutex_timedlock(mutex, &bad_time));
    holding = 2;
    struct timespec later = in_ms(CLOCK_MONOTONIC, 20000);
    printf(" clock %d\n", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &later));
    pthread_mutex_unlock(mutex);
    pthread_join(holder, NULL);
    return 2; /* at least: the others are late on a busy machine */
}

static void owner_died(pthread_mutex_t *mutex)
{
    let_die(mutex);
    printf("   dead owner %d", pthread_mutex_lock(mutex));
    printf(" consistent %d", pthread_mutex_consistent(mutex));
    printf(" unlock %d", pthread_mutex_unlock(mutex));
    let_die(mutex);
    struct timespec later = in_ms(CLOCK_REALTIME, 20000);
    printf(" dead owner %d", pthread_mutex_timedlock(mutex, &later));
    printf(" unlock %d", pthread_mutex_unlock(mutex));
    printf(" not recoverable %d\n", pthread_mutex_lock(mutex));
}

static int mutexes(void)
{
    static const int protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT};
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    int waits = 0;
    for (int i = 0; i < 4 * 2 * 2 * 2; i++) {
        const int type = types[i & 3], robust = i >> 2 & 1, protocol = protocols[i >> 3 & 1], shared = i >> 4;
        printf("type %d robust %d protocol %d shared %d:", type, robust, protocol, shared);
        pthread_mutex_t mutex = make(type, robust, protocol, shared);
        own_mutex(&mutex, type);
        waits += wait_for_mutex(&mutex);
        if (robust)
            owner_died(&mutex);
    }
    return waits;
}

/* libc itself aborts when such a mutex is used by threads of no real-time priority; what it says without waiting. */
static void ceiling(void)
{
    printf("ceiling:");
    pthread_mutex_t mutex = make(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_PROTECT, 0);
    printf(" lock %d", pthread_mutex_lock(&mutex));
    printf(" unlock %d\n", pthread_mutex_unlock(&mutex));
}

/* One call after another: the order of a printf's arguments is not fixed. */
#define SAY(call) printf(" %d", call)

static void rwlocks(void)
{
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    struct timespec soon = in_ms(CLOCK_REALTIME, 5), mono = in_ms(CLOCK_MONOTONIC, 5);
    printf("rwlock: bad times");
    SAY(pthread_rwlock_timedrdlock(&lock, &bad_time));
    SAY(pthread_rwlock_timedwrlock(&lock, &bad_time));
    SAY(pthread_rwlock_clockrdlock(&lock, CLOCK_TAI, &soon));
    SAY(pthread_rwlock_clockwrlock(&lock, CLOCK_TAI, &soon));
    printf(" read");
    SAY(pthread_rwlock_rdlock(&lock));
    SAY(pthread_rwlock_rdlock(&lock));
    SAY(pthread_rwlock_timedwrlock(&lock, &soon));
    SAY(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &mono));
    SAY(pthread_rwlock_unlock(&lock));
    SAY(pthread_rwlock_unlock(&lock));
    printf(" write");
    SAY(pthread_rwlock_wrlock(&lock));
    SAY(pthread_rwlock_rdlock(&lock));
    SAY(pthread_rwlock_wrlock(&lock));
    SAY(pthread_rwlock_timedrdlock(&lock, &past));
    SAY(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &past));
    puts("");
}

#define SAY_ERRNO(call)                                                                                                \
    do {                                                                                                               \
        errno = 99;                                                                                                    \
        SAY(call);                                                                                                     \
        SAY(errno);                                                                                                    \
    } while (0)

static void semaphores(void)
{
    sem_t semaphore;
    sem_init(&semaphore, 0, 3);
    printf("semaphore:");
    SAY_ERRNO(sem_wait(&semaphore));
    SAY_ERRNO(sem_timedwait(&semaphore, &bad_time));
    SAY_ERRNO(sem_clockwait(&semaphore, CLOCK_TAI, &past));
    SAY_ERRNO(sem_timedwait(&semaphore, &past));
    SAY_ERRNO(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past));
    SAY_ERRNO(sem_timedwait(&semaphore, &past));
    puts("");
}

static void *post_later(void *semaphore)
{
    usleep(20000);
    sem_post(semaphore);
    return NULL;
}

static void errno_after_waiting(void)
{
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    pthread_create(&holder, NULL, post_later, &semaphore);
    errno = 77;
    MUST(sem_wait(&semaphore) == 0 && errno == 77);
    pthread_join(holder, NULL);
}

static void c11(void)
{
    mtx_t mutex;
    cnd_t condition;
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    mtx_init(&mutex, mtx_timed);
    cnd_init(&condition);
    printf("C11:");
    SAY(mtx_lock(&mutex));
    SAY(mtx_timedlock(&mutex, &soon));
    SAY(cnd_timedwait(&condition, &mutex, &past));
    SAY(mtx_unlock(&mutex));
    mtx_init(&mutex, mtx_recursive | mtx_timed);
    SAY(mtx_lock(&mutex));
    SAY(mtx_lock(&mutex));
    SAY(mtx_timedlock(&mutex, &past));
    puts("");
}

int main(void)
{
    const int waits = mutexes();
    ceiling();
    rwlocks();
    semaphores();
    errno_after_waiting();
    c11();
    trace_must("lock_mutex", ">=", waits);
    trace_must("lock_rwlock", "==", 2); /* EDEADLK is no wait */
    trace_must("lock_sem", ">=", 1);
    return host_broken;
}
