/* SPDX-License-Identifier: MIT
 *
 * python/wake_soon.c - Owns: the length of our time slice. Threads: main only. Never: changes the priority: a slice
 * only says how much is wanted at a time, and who wants little is asked sooner (EEVDF).
 */
#include "wake_soon.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proftrace/types.h"

/* As in linux/sched/types.h, which does not go together with sched.h. */
struct scheduling {
    pt_u32 bytes, policy;
    pt_u64 flags;
    pt_i32 nice;
    pt_u32 priority;
    pt_u64 slice_ns, deadline_ns, period_ns;
};

/* The shortest that the kernel grants; a read of a stack takes less. */
#define SHORT_SLICE_NS 100000u

void pt_wake_soon(bool soon)
{
    struct scheduling now = {.bytes = sizeof now};
    const int error = errno;
    if (syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) == 0 && now.policy == 0) {
        now.bytes = sizeof now;
        now.slice_ns = soon ? SHORT_SLICE_NS : 0;
        syscall(SYS_sched_setattr, 0, &now, 0);
    }
    errno = error;
}
