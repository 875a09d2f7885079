/* SPDX-License-Identifier: MIT
 *
 * lock.h - how a hook finds out that a lock will make it wait, and how libc's old versions of a function are hooked.
 */
#ifndef PT_HOOKS_WAIT_LOCK_H
#define PT_HOOKS_WAIT_LOCK_H

#include "core/file/attach.h"
#include "hooks/hook.h"

/* Value of pt_switches.locks. */
enum pt_locks {
    PT_LOCKS_OFF,
    PT_LOCKS_TRY,  /* the try function first; only when the lock is held, the real call follows and is timed */
    PT_LOCKS_TIME, /* another library stands between us and libc's locks and must see each call: time them all */
};

/* Before the lock is taken: threads that attach while they hold it would make all others wait for the system calls
 * of attaching, one after another. */
PT_ALWAYS_INLINE void pt_be_attached(void)
{
    if (pt_unlikely(!pt_self->area))
        pt_thread_attach_early();
}

/*
 * The hook of a lock that is free nearly always.
 *
 *     LOCK(name, version, parameters, arguments, goes_ahead, attempt, look, record)
 *
 * version     of the real function, "" = the default
 * goes_ahead  true: the real call cannot wait, or must not be preceded by an attempt
 * attempt     the try function: 0 = taken, anything else is for the real call to answer (EDEADLK, EAGAIN and EINVAL
 *             come again; EBUSY becomes a wait)
 * look        a struct seen: what is worth knowing of the lock before the wait
 * record      may use start, end, ret, seen and the parameters
 */
#define LOCK(name, version, parameters, arguments, goes_ahead, attempt, look, record)                                  \
    PT_REAL_VERSION(int, name, #name, version, parameters, arguments)                                                  \
    PT_EXPORT int hook_##name parameters __asm__(#name);                                                               \
    LOCK_WAIT(name, parameters, arguments, look, record)                                                               \
    int hook_##name parameters                                                                                         \
    {                                                                                                                  \
        if (pt_unlikely(pt_switches.locks != PT_LOCKS_TRY))                                                            \
            return pt_switches.locks ? wait_##name arguments : real_##name arguments;                                  \
        if (goes_ahead)                                                                                                \
            return real_##name arguments;                                                                              \
        pt_be_attached();                                                                                              \
        return pt_likely((attempt) == 0) ? 0 : wait_##name arguments;                                                  \
    }

#define LOCK_WAIT(name, parameters, arguments, look, record)                                                           \
    static PT_NOINLINE int wait_##name parameters                                                                      \
    {                                                                                                                  \
        pt_be_attached();                                                                                              \
        const struct seen seen __attribute__((unused)) = look;                                                         \
        const pt_u64 start = pt_clock();                                                                               \
        const int ret = real_##name arguments;                                                                         \
        const pt_u64 end = pt_clock();                                                                                 \
        record;                                                                                                        \
        return ret;                                                                                                    \
    }

/* HOOK for what waits nearly always. */
#define HOOK_WAIT(type, name, parameters, arguments, record)                                                           \
    PT_REAL(type, name, parameters, arguments)                                                                         \
    PT_EXPORT type name parameters;                                                                                    \
    PT_EXPORT type name parameters WAIT_BODY(type, name, arguments, record)

/* HOOK_WAIT for one of several functions that libc has under one name: old programs must reach the old one. `at` is
 * "@" for an old version and "@@" for the one that a program built today links to; versions.map lists the versions. */
#define HOOK_VERSION(type, name, suffix, at, version, parameters, arguments, record)                                   \
    PT_REAL_VERSION(type, name##suffix, #name, version, parameters, arguments)                                         \
    PT_EXPORT type hook_##name##suffix parameters;                                                                     \
    __asm__(".symver hook_" #name #suffix ", " #name at version ", remove");                                           \
    type hook_##name##suffix parameters WAIT_BODY(type, name##suffix, arguments, record)

/* The hook of a call that wakes another thread: an event only while a thread waits, stored before the call, because
 * its waiter may run before it returns. `waiters` reads the object as the call will. */
#define WAKE(name, parameters, arguments, waiters, call, address)                                                      \
    PT_REAL(int, name, parameters, arguments)                                                                          \
    PT_EXPORT int hook_##name parameters __asm__(#name);                                                               \
    int hook_##name parameters WAKE_BODY(name, arguments, waiters, call, address)

#define WAKE_VERSION(name, suffix, at, version, parameters, arguments, waiters, call, address)                         \
    PT_REAL_VERSION(int, name##suffix, #name, version, parameters, arguments)                                          \
    PT_EXPORT int hook_##name##suffix parameters;                                                                      \
    __asm__(".symver hook_" #name #suffix ", " #name at version ", remove");                                           \
    int hook_##name##suffix parameters WAKE_BODY(name##suffix, arguments, waiters, call, address)

#define WAKE_BODY(name, arguments, waiters, call, address)                                                             \
    {                                                                                                                  \
        const pt_u32 asleep = pt_likely(pt_switches.locks) ? (waiters) : 0;                                            \
        if (pt_unlikely(asleep))                                                                                       \
            wakes(call, asleep, (pt_u64)(address));                                                                    \
        return real_##name arguments;                                                                                  \
    }

#define WAIT_BODY(type, name, arguments, record)                                                                       \
    {                                                                                                                  \
        if (pt_unlikely(!pt_switches.locks))                                                                           \
            return real_##name arguments;                                                                              \
        pt_be_attached();                                                                                              \
        const pt_u64 start = pt_clock();                                                                               \
        type const ret = real_##name arguments;                                                                        \
        const pt_u64 end = pt_clock();                                                                                 \
        record;                                                                                                        \
        return ret;                                                                                                    \
    }

#endif
