/* SPDX-License-Identifier: MIT
 *
 * cupti/state.c - holds the state of the recording. Any thread reads it; fields marked atomic are written by any, the
 * others by the thread that changes the phase. Never calls CUPTI.
 */
#include "state.h"

#include "core/sys.h"

#define SETTLE_NAP_NS 100000
#define SETTLE_NAPS 20000

struct pt_cupti *pt_cupti;

void pt_cupti_nap_while(const pt_u32 *word, pt_u32 value)
{
    for (int naps = 0; naps < SETTLE_NAPS && __atomic_load_n(word, __ATOMIC_ACQUIRE) == value; naps++) {
        const struct timespec nap = {0, SETTLE_NAP_NS};
        pt_syscall2(SYS_nanosleep, &nap, 0);
    }
}

/* Another thread may be taking CUPTI back or giving it up: milliseconds of work, for which it may have to wait for a
 * CPU. If the program went on at once, it would get the error that CUPTI is in use; so it waits for some seconds,
 * but not for ever. */
enum pt_cupti_phase pt_cupti_settled_phase(void)
{
    if (pt_cupti)
        pt_cupti_nap_while(&pt_cupti->phase, PT_CUPTI_CHANGING);
    return pt_cupti_phase();
}
