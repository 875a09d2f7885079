/* SPDX-License-Identifier: MIT
 *
 * cupti/state.c - holds the state of the recording, for all that work on it.
 */
#include "state.h"

#include "core/sys.h"

#define SETTLE_NAP_NS 100000
#define SETTLE_NAPS 20000

struct pt_cupti *pt_cupti;

/* Another thread may just be taking CUPTI back or letting it go: milliseconds of work, for which it may have to wait
 * for a CPU. A program that went on meanwhile would be told that CUPTI is taken; it waits for seconds, but not for
 * ever. */
enum pt_cupti_phase pt_cupti_settled_phase(void)
{
    enum pt_cupti_phase phase = pt_cupti_phase();
    for (int naps = 0; naps < SETTLE_NAPS && phase == PT_CUPTI_CHANGING; naps++) {
        const struct timespec nap = {0, SETTLE_NAP_NS};
        pt_syscall2(SYS_nanosleep, &nap, 0);
        phase = pt_cupti_phase();
    }
    return phase;
}
