/* SPDX-License-Identifier: MIT
 *
 * cupti/program.c - whether the program uses CUPTI itself. In processes with and without CUDA, on any thread. Never
 * calls CUPTI.
 */
#include "program.h"

struct pt_cupti_program pt_cupti_program;

int pt_cupti_is_enabled_by_program(void)
{
    pt_u64 any = 0;
    for (int i = 0; i < 4; i++)
        any |= __atomic_load_n(&pt_cupti_program.kinds[i], __ATOMIC_RELAXED);
    return any != 0;
}

int pt_cupti_is_subscribed_by_program(void)
{
    return __atomic_load_n(&pt_cupti_program.subscriptions, __ATOMIC_ACQUIRE) != 0;
}

/* A program that records needs CUPTI while it does so, and may stay subscribed for the rest of the process without
 * need, as Kineto does. What any other subscriber uses CUPTI for we cannot know: it keeps CUPTI as long as it is
 * subscribed. */
int pt_cupti_is_foreign(void)
{
    return pt_cupti_is_enabled_by_program() ||
           (pt_cupti_is_subscribed_by_program() && !__atomic_load_n(&pt_cupti_program.has_recorded, __ATOMIC_ACQUIRE));
}

/* While CUPTI changes hands, a call that found us without it would put the program's settings over ours. */
int pt_cupti_is_in_use(void)
{
    return __atomic_load_n(&pt_cupti_program.n_setting, __ATOMIC_SEQ_CST) || pt_cupti_is_foreign();
}
