/* SPDX-License-Identifier: MIT
 *
 * Waits of known length: each kind of lock is held by another thread or process for known times. What the waiter's own
 * clock saw, and who held the lock, goes to the file "waits": KIND COUNT NANOSECONDS OWNER. Locks that are free are no
 * events, however many.
 */
#include "host.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>

enum { ROUNDS = 12, HOLD_US = 20000 };

static struct {
    pthread_mutex_t mutex;
    atomic_int held, owner, left;
} * shared; /* with a child */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static mtx_t c11_mutex;
static sem_t semaphore;
static atomic_int held, owner;
static _Atomic pid_t waiter; /* who is about to wait */
static FILE *out;

static long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000l + now.tv_nsec;
}

static void lock_mutex(void)
{
    pthread_mutex_lock(&mutex);
}
static void unlock_mutex(void)
{
    pthread_mutex_unlock(&mutex);
}
static void lock_c11(void)
{
    mtx_lock(&c11_mutex);
}
static void unlock_c11(void)
{
    mtx_unlock(&c11_mutex);
}
static void write_lock(void)
{
    pthread_rwlock_wrlock(&rwlock);
}
static void read_lock(void)
{
    pthread_rwlock_rdlock(&rwlock);
}
static void unlock_rw(void)
{
    pthread_rwlock_unlock(&rwlock);
}
static void wait_semaphore(void)
{
    sem_wait(&semaphore);
}
static void post_semaphore(void)
{
    sem_post(&semaphore);
}
static void nothing(void)
{
}

struct story {
    const char *kind;
    void (*hold)(void), (*give)(void), (*wait)(void), (*leave)(void);
};

static const struct story stories[] = {
    {"lock_mutex", lock_mutex, unlock_mutex, lock_mutex, unlock_mutex},
    {"lock_mutex.c11", lock_c11, unlock_c11, lock_c11, unlock_c11},
    {"lock_rwlock", write_lock, unlock_rw, read_lock, unlock_rw},
    {"lock_rwlock.write", write_lock, unlock_rw, write_lock, unlock_rw},
    {"lock_sem", nothing, post_semaphore, wait_semaphore, nothing},
};

static void *holder(void *argument)
{
    const struct story *story = argument;
    owner = (int)syscall(SYS_gettid);
    for (int i = 0; i < ROUNDS; i++) {
        story->hold();
        held = 1;
        while (!is_asleep(waiter))
            usleep(500);
        usleep(HOLD_US);
        story->give();
        while (held)
            usleep(100);
    }
    return NULL;
}

static void tell(const char *kind, int count, long ns, int who)
{
    fprintf(out, "%s %d %ld %d\n", kind, count, ns, who);
}

static void play(const struct story *story)
{
    pthread_t thread;
    long ns = 0;
    pthread_create(&thread, NULL, holder, (void *)story);
    for (int i = 0; i < ROUNDS; i++) {
        while (!held)
            usleep(100);
        const long from = now_ns();
        waiter = gettid();
        story->wait();
        ns += now_ns() - from;
        story->leave();
        waiter = 0; /* before the next round, whose first sleep is not this wait */
        held = 0;
    }
    pthread_join(thread, NULL);
    tell(story->kind, ROUNDS, ns, owner);
}

/* The owner is a thread of another process. */
static void play_shared(void)
{
    pthread_mutexattr_t attributes;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &attributes);
    const pid_t child = fork();
    if (!child) {
        pthread_mutex_lock(&shared->mutex);
        shared->owner = getpid();
        shared->held = 1;
        usleep(10 * HOLD_US);
        pthread_mutex_unlock(&shared->mutex);
        _exit(0);
    }
    while (!shared->held)
        usleep(100);
    const long from = now_ns();
    pthread_mutex_lock(&shared->mutex);
    tell("lock_mutex.shared", 1, now_ns() - from, shared->owner);
    pthread_mutex_unlock(&shared->mutex);
    wait_for(child);
}

static void *sleeper(void *unused)
{
    owner = (int)syscall(SYS_gettid);
    null_writes(1); /* an event, so that its thread_start says whose pthread_t this is */
    usleep(5 * HOLD_US);
    pthread_barrier_wait(&barrier);
    usleep(5 * HOLD_US);
    return unused;
}

static void play_always(void)
{
    pthread_t thread;
    struct timespec until;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, sleeper, NULL);
    long from = now_ns();
    pthread_barrier_wait(&barrier);
    tell("lock_barrier", 2, now_ns() - from, 0);
    from = now_ns();
    pthread_join(thread, NULL);
    tell("wait_thread.last", 1, now_ns() - from, owner);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&mutex);
    from = now_ns();
    MUST(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
    tell("lock_cond", 1, now_ns() - from, 0);
    pthread_mutex_unlock(&mutex);
}

static void *lock_free_ones(void *unused)
{
    for (int i = 0; i < 2500000; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    for (int i = 0; i < 1000; i++) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        sem_post(&semaphore);
        sem_wait(&semaphore);
    }
    return unused;
}

int main(void)
{
    out = fopen("waits", "w");
    sem_init(&semaphore, 0, 0);
    mtx_init(&c11_mutex, mtx_plain);
    lock_free_ones(NULL); /* one thread */
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
        play(&stories[i]);
    for (int i = 0; i < 3; i++) { /* many threads, one after another */
        pthread_t thread;
        pthread_create(&thread, NULL, lock_free_ones, NULL);
        pthread_join(thread, NULL);
    }
    play_shared();
    play_always();
    fclose(out);
    trace_must("lock_mutex", "==", 2 * ROUNDS + 1);
    trace_must("lock_rwlock", "==", 2 * ROUNDS);
    trace_must("lock_sem", "==", ROUNDS);
    trace_must("lock_cond", "==", 1);
    trace_must("lock_barrier", "==", 2);
    trace_must("wait_thread", "==", 5 + 3 + 1);
    return host_broken;
}
