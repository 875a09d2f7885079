/* SPDX-License-Identifier: MIT
 *
 * lock.c - hooks of everything that waits for another thread: mutexes, read-write locks, semaphores, conditions,
 * barriers, joins.
 *
 * Entered by any thread, from inside allocators and handlers too. A lock is taken by its try function first, and only
 * one that is held is timed, so that a free one costs 2 ns and leaves no event. Reads the lock, never writes it; never
 * follows a pthread_t, whose thread may have ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <threads.h>

#include "core/real/may_be_missing.h"
#include "core/real/next.h"
#include "lock.h"

/* glibc's bits in a mutex's __kind. */
enum { KIND_ROBUST = 0x10, KIND_INHERITS_PRIORITY = 0x20, KIND_CEILING = 0x40, KIND_ALL = 0xf3 };

/* In its lock word: the owner, or, in the bits below the priority ceiling, whether it is held. */
enum { WORD_OWNER = 0x3fffffff, WORD_BELOW_CEILING = 0x7ffff };

/* Only a wait takes 20,000 cycles (5 to 10 us). */
#define LEAST_WAIT_TICKS 20000u

PT_REAL(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
PT_REAL(int, mtx_trylock, (mtx_t * mutex), (mutex))
PT_REAL(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
PT_REAL(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
PT_REAL(int, sem_trywait, (sem_t * semaphore), (semaphore))

/* libc's alone: no other library wraps these old names. */
PT_REAL_VERSION(int, own_mutex_trylock, "__pthread_mutex_trylock", "GLIBC_2.2.5", (pthread_mutex_t * mutex), (mutex))
PT_REAL_VERSION(int, own_tryrdlock, "__pthread_rwlock_tryrdlock", "GLIBC_2.2.5", (pthread_rwlock_t * lock), (lock))
PT_REAL_VERSION(int, own_trywrlock, "__pthread_rwlock_trywrlock", "GLIBC_2.2.5", (pthread_rwlock_t * lock), (lock))

/* What a lock looked like before the wait. */
struct seen {
    pt_i32 tag;
    pt_u32 owner_tid;
};
static const struct seen nothing;

PT_ALWAYS_INLINE pt_u32 lock_word(const pthread_mutex_t *mutex, pt_u32 bits)
{
    return (pt_u32)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) & bits;
}

/* No other thread can hold it, so the call will not wait. libc takes such a mutex without an atomic operation, the
 * try function with one. */
PT_ALWAYS_INLINE int is_alone(const pthread_mutex_t *mutex)
{
    return *pt_single_threaded && !(mutex->__data.__kind & PT_MUTEX_SHARED);
}

/* These are only read, never tried: libc's try function leaves a robust mutex that is not recoverable locked for
 * ever, and succeeds on a mutex with a priority ceiling where the lock must fail with EINVAL. */
PT_ALWAYS_INLINE int must_not_try(const pthread_mutex_t *mutex)
{
    return pt_unlikely(mutex->__data.__kind & (KIND_ROBUST | KIND_CEILING));
}
PT_ALWAYS_INLINE int looks_free(const pthread_mutex_t *mutex)
{
    return must_not_try(mutex) &&
           !lock_word(mutex, mutex->__data.__kind & KIND_ROBUST ? WORD_OWNER : WORD_BELOW_CEILING);
}
PT_ALWAYS_INLINE int take_mutex(pthread_mutex_t *mutex)
{
    return must_not_try(mutex) ? EBUSY : real_pthread_mutex_trylock(mutex);
}

/* libc refuses other clocks and times even when the lock is free. */
PT_ALWAYS_INLINE int is_good_clock(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}
PT_ALWAYS_INLINE int is_good_time(const struct timespec *until)
{
    return (pt_u64)until->tv_nsec < 1000000000u;
}

PT_ALWAYS_INLINE int take_without_asking(sem_t *semaphore)
{
    const int before = errno;
    if (pt_likely(real_sem_trywait(semaphore) == 0))
        return 0;
    errno = before;
    return EBUSY;
}

/* sem_wait and sem_timedwait are cancellation points even when they do not wait; sem_clockwait is none then. */
PT_ALWAYS_INLINE int take(sem_t *semaphore)
{
    if (pthread_testcancel) /* or nobody can cancel a thread */
        pthread_testcancel();
    return take_without_asking(semaphore);
}

/* A new holder writes its tid after the lock word, so it is read a second time. */
static struct seen look_at_mutex(const pthread_mutex_t *mutex)
{
    const int kind = __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED);
    if (kind & (KIND_ROBUST | KIND_INHERITS_PRIORITY))
        return (struct seen){kind & KIND_ALL, lock_word(mutex, WORD_OWNER)};
    int owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
    if (!owner) {
        __builtin_ia32_pause();
        owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
    }
    return (struct seen){kind & KIND_ALL, (pt_u32)owner};
}

static struct seen look_at_rwlock(const pthread_rwlock_t *lock, int to_write)
{
    return (struct seen){to_write, (pt_u32)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED)};
}

PT_ALWAYS_INLINE int has_waited(pt_u64 start, pt_u64 end, pt_u32 owner_tid)
{
    const int is_own = owner_tid && owner_tid == pt_self->tid; /* EDEADLK, or a robust one that is recursive */
    return (pt_switches.locks == PT_LOCKS_TRY && !is_own) || end - start >= LEAST_WAIT_TICKS;
}

static PT_NOINLINE void mutex_waited(pt_u64 start, pt_u64 end, const pthread_mutex_t *mutex, struct seen seen,
                                     int error)
{
    if (has_waited(start, end, seen.owner_tid))
        pt_spent(PT_EV_lock_mutex, start, end, seen.tag, pt_words((pt_u32)-error, seen.owner_tid), (pt_u64)mutex);
}

static PT_NOINLINE void rwlock_waited(pt_u64 start, pt_u64 end, const pthread_rwlock_t *lock, struct seen seen,
                                      int error)
{
    if (has_waited(start, end, seen.owner_tid))
        pt_spent(PT_EV_lock_rwlock, start, end, seen.tag, pt_words((pt_u32)-error, seen.owner_tid), (pt_u64)lock);
}

static PT_NOINLINE void semaphore_waited(pt_u64 start, pt_u64 end, const sem_t *semaphore, int ret)
{
    if (has_waited(start, end, 0))
        pt_spent(PT_EV_lock_sem, start, end, 0, pt_result_and(ret, 0), (pt_u64)semaphore);
}

/* The condition may not exist any more when its waiter returns; only its address is recorded. */
static PT_NOINLINE void condition_waited(pt_u64 start, pt_u64 end, const void *condition, const void *mutex, int error)
{
    pt_spent(PT_EV_lock_cond, start, end, error, (pt_u64)condition, (pt_u64)mutex);
}

static PT_NOINLINE void joined(pt_u64 start, pt_u64 end, pthread_t thread, int error)
{
    pt_spent(PT_EV_wait_thread, start, end, 0, pt_words((pt_u32)-error, 0), (pt_u64)thread);
}

/* glibc keeps the number of waiters in the upper half of the word with the value. */
PT_ALWAYS_INLINE pt_u32 waiters_of_semaphore(const sem_t *semaphore)
{
    return (pt_u32)(__atomic_load_n((const pt_u64 *)(const void *)semaphore, __ATOMIC_RELAXED) >> 32);
}

/* Below them are three flags. */
PT_ALWAYS_INLINE pt_u32 waiters_of_condition(const pthread_cond_t *condition)
{
    return __atomic_load_n(&condition->__data.__wrefs, __ATOMIC_RELAXED) >> 3;
}

static PT_NOINLINE void wakes(pt_i32 call, pt_u32 waiters, pt_u64 address)
{
    pt_point(PT_EV_lock_wake, waiters, call, address, 0);
}

#define UNKNOWN_VALUE 0xffffffffu

static PT_NOINLINE void semaphore_made(pt_u64 at, const sem_t *semaphore, int is_made, int is_shared, pt_u32 value)
{
    if (is_made)
        pt_store(at, value, pt_tag_kind(is_shared != 0, PT_EV_lock_init), (pt_u64)semaphore, 0);
}

/* C11's codes as errors. */
static int error_of(int code)
{
    static const pt_u8 errors[] = {[thrd_success] = 0,
                                   [thrd_busy] = EBUSY,
                                   [thrd_error] = EINVAL,
                                   [thrd_nomem] = ENOMEM,
                                   [thrd_timedout] = ETIMEDOUT};
    return (pt_u32)code < sizeof errors ? errors[code] : EINVAL;
}

#include "lock.def"

/* Its last two arguments are there only with O_CREAT; see CUSTOM_RAW. */
sem_t *hook_sem_open(const char *name, int flags, mode_t mode, unsigned value)
{
    sem_t *const semaphore = real_sem_open(name, flags, mode, value);
    if (pt_switches.locks)
        semaphore_made(pt_clock(), semaphore, semaphore != SEM_FAILED, 1,
                       (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) ? value : UNKNOWN_VALUE);
    return semaphore;
}

/* Is libc the next library after us? One in between that wraps pthread_mutex_lock would not see the locks that our
 * attempt has taken. */
static int is_libc_next(void)
{
    PT_RESOLVE(pthread_mutex_lock), PT_RESOLVE(__pthread_mutex_lock);
    PT_RESOLVE(pthread_mutex_trylock), PT_RESOLVE(own_mutex_trylock);
    PT_RESOLVE(pthread_rwlock_rdlock), PT_RESOLVE(__pthread_rwlock_rdlock);
    PT_RESOLVE(pthread_rwlock_tryrdlock), PT_RESOLVE(own_tryrdlock);
    PT_RESOLVE(pthread_rwlock_wrlock), PT_RESOLVE(__pthread_rwlock_wrlock);
    PT_RESOLVE(pthread_rwlock_trywrlock), PT_RESOLVE(own_trywrlock);
    return real_pthread_mutex_lock == real___pthread_mutex_lock &&
           real_pthread_mutex_trylock == real_own_mutex_trylock &&
           real_pthread_rwlock_rdlock == real___pthread_rwlock_rdlock &&
           real_pthread_rwlock_tryrdlock == real_own_tryrdlock &&
           real_pthread_rwlock_wrlock == real___pthread_rwlock_wrlock &&
           real_pthread_rwlock_trywrlock == real_own_trywrlock;
}

/* After the core's constructor (101). */
__attribute__((constructor(102))) static void start_locks(void)
{
    if (pt_switches.locks && !is_libc_next())
        pt_switches.locks = PT_LOCKS_TIME;
    PT_RESOLVE_LATER(pthread_mutex_lock), PT_RESOLVE_LATER(__pthread_mutex_lock);
    PT_RESOLVE_LATER(pthread_mutex_trylock), PT_RESOLVE_LATER(own_mutex_trylock);
    PT_RESOLVE_LATER(pthread_rwlock_rdlock), PT_RESOLVE_LATER(__pthread_rwlock_rdlock);
    PT_RESOLVE_LATER(pthread_rwlock_tryrdlock), PT_RESOLVE_LATER(own_tryrdlock);
    PT_RESOLVE_LATER(pthread_rwlock_wrlock), PT_RESOLVE_LATER(__pthread_rwlock_wrlock);
    PT_RESOLVE_LATER(pthread_rwlock_trywrlock), PT_RESOLVE_LATER(own_trywrlock);
}
