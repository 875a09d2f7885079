/* SPDX-License-Identifier: MIT
 *
 * valgrind.h - a request to valgrind, where the program runs in it: five instructions that change nothing elsewhere.
 * Written here because a build need not have its headers.
 */
#ifndef PT_CORE_VALGRIND_H
#define PT_CORE_VALGRIND_H

#include "compiler.h"
#include "proftrace/types.h"

enum { PT_VALGRIND_IS_THERE = 0x1001, PT_VALGRIND_STACK_REGISTER = 0x1501 };

/* Asked once, by the constructor: the question takes stack, which must be aligned. A host's need not be. */
extern pt_u8 pt_is_below_valgrind __attribute__((visibility("hidden")));
void pt_valgrind_ask(void);

/* 0 where there is no valgrind. */
PT_ALWAYS_INLINE pt_u64 pt_valgrind(pt_u64 what, pt_u64 a, pt_u64 b)
{
    const volatile pt_u64 request[6] = {what, a, b};
    pt_u64 answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
    return answer;
}

#endif
