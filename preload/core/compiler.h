/* SPDX-License-Identifier: MIT
 *
 * compiler.h - the few attributes that the injected half needs.
 */
#ifndef PT_CORE_COMPILER_H
#define PT_CORE_COMPILER_H

#include "proftrace/types.h"

#define PT_EXPORT __attribute__((visibility("default")))
/* Out of line and far away: gcc would save five registers at entry of a hook whose slow half is inlined. */
#define PT_COLD __attribute__((noinline, cold))
#define PT_NOINLINE __attribute__((noinline))
#define PT_ALWAYS_INLINE static inline __attribute__((always_inline))
#define pt_likely(x) __builtin_expect(!!(x), 1)
#define pt_unlikely(x) __builtin_expect(!!(x), 0)

#endif
