/* SPDX-License-Identifier: MIT
 *
 * hook.h - how a libc function is interposed.
 *
 * A uniform hook is one row in <family>.def:
 *
 *     HOOK(ssize_t, read, (int fd, void *buffer, size_t count), (fd, buffer, count), io,
 *          moved(PT_EV_io_read, start, end, fd, ret, count))
 *
 *     return type, function, parameters, arguments, switch (io, stdio, user ...), what to record: an expression that
 * may use `start` and `end` (counter before and after the call), `ret`, and the parameters.
 *
 * A hook with a body of its own is a CUSTOM row (return type, function, parameters, arguments) and a function in
 * <family>.c that calls real_<function>.
 *
 * Rules: the real function is called exactly once with exactly the caller's arguments (a result that the caller does
 * not want may be given room: wait.c); nothing is held across it (it may be cancelled or jumped out of); user memory is
 * read only after the real function accepted it; errno is read, never written.
 */
#ifndef PT_HOOKS_HOOK_H
#define PT_HOOKS_HOOK_H

#include "proftrace/events.h"
#include "core/emit.h"
#include "core/real/real.h"
#include "hooks/record.h"

#define HOOK(type, name, parameters, arguments, enabled, record)                                                       \
    PT_REAL(type, name, parameters, arguments)                                                                         \
    PT_EXPORT type name parameters; /* __read_chk and others like it are in no header */                               \
    PT_EXPORT type name parameters                                                                                     \
    {                                                                                                                  \
        if (pt_unlikely(!(pt_switches.enabled)))                                                                       \
            return real_##name arguments;                                                                              \
        const pt_u64 start = pt_clock();                                                                               \
        type const ret = real_##name arguments;                                                                        \
        const pt_u64 end = pt_clock();                                                                                 \
        record;                                                                                                        \
        return ret;                                                                                                    \
    }

#define CUSTOM(type, name, parameters, arguments)                                                                      \
    PT_REAL(type, name, parameters, arguments)                                                                         \
    PT_EXPORT type name parameters;

/* A CUSTOM row for a function whose prototype in the headers cannot be used; the body is called hook_<name>.
 * Variadic functions: ours takes the registers that the ABI would pass and forwards them unchanged, which is the
 * same call on x86-64, whether or not the argument is there. And functions declared nonnull, to which a host may
 * still pass NULL and expect an error. */
#define CUSTOM_RAW(type, name, parameters, arguments)                                                                  \
    PT_REAL(type, name, parameters, arguments)                                                                         \
    PT_EXPORT type hook_##name parameters __asm__(#name);

#endif
