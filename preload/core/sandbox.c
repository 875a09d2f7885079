/* SPDX-License-Identifier: MIT
 *
 * sandbox.c - finds out that a filter has come.
 *
 * Entered from any hook in any thread or signal handler. A filter freezes the whole process, because other threads may
 * have it, too. Never makes a call that the thread was not seen to be allowed, but for the question.
 */
#include "sandbox.h"

#include <sys/prctl.h>

#include "sys.h"

static long mode_at_start;

static long mode(void)
{
    return pt_syscall6(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0);
}

void pt_sandbox_remember(void)
{
    mode_at_start = mode();
}

PT_NOINLINE int pt_may_call(void)
{
    if (pt_switches.frozen || pt_local_mark() == PT_LOCAL_SEALED)
        return 0;
    if (mode() != mode_at_start)
        pt_switches.frozen = 1;
    return !pt_switches.frozen;
}
