/* SPDX-License-Identifier: MIT
 *
 * compiler.h - the few attributes that the injected half needs.
 */
#ifndef PT_CORE_COMPILER_H
#define PT_CORE_COMPILER_H

#include "proftrace/types.h"

#define PT_EXPORT __attribute__((visibility("default")))
/* Never inlined, and placed in a cold section: with the slow half inlined, gcc would save five registers at the
 * entry of the hook. */
#define PT_COLD __attribute__((noinline, cold))
/* Called on the stack of a host, which may be a coroutine's of its own making and begin at an odd multiple of 8: what
 * comes from here down finds it as the calling convention has it. */
#define PT_ALIGNS_STACK __attribute__((force_align_arg_pointer))
#define PT_NOINLINE __attribute__((noinline))
#define PT_ALWAYS_INLINE static inline __attribute__((always_inline))
#define pt_likely(x) __builtin_expect(!!(x), 1)
#define pt_unlikely(x) __builtin_expect(!!(x), 0)

#endif
