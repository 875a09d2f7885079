/* SPDX-License-Identifier: MIT
 *
 * compiler.h - the few attributes that the injected half needs.
 */
#ifndef PT_CORE_COMPILER_H
#define PT_CORE_COMPILER_H

#include "proftrace/types.h"

/* Where a host enters. Its stack may be a coroutine's of its own making and begin at an odd multiple of 8: clang keeps
 * vectors on the stack and trusts its alignment; gcc, with our options, asks for none but where PT_ALIGNS_STACK is. */
#ifdef __clang__
#define PT_ON_ANY_STACK PT_ALIGNS_STACK
#else
#define PT_ON_ANY_STACK
#endif
#define PT_EXPORT __attribute__((visibility("default"))) PT_ON_ANY_STACK
/* Two or three instructions and a jump, too short to align a stack for: its slow half is PT_ON_ANY_STACK instead. */
#define PT_EXPORT_FAST __attribute__((visibility("default")))
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
