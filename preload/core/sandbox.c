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

/* In a container there is a filter from the start, and the mode says nothing of a second one. Who has no rights needs
 * no_new_privs to make one, by a call that no hook saw either; of root's second filter nothing can be seen. */
static long mode_at_start, is_no_new_privs_known;

static long mode(void)
{
    return pt_syscall6(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0);
}

static long no_new_privs(void)
{
    return pt_syscall6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0);
}

void pt_sandbox_remember(void)
{
    mode_at_start = mode();
    is_no_new_privs_known = !mode_at_start || no_new_privs();
}

void pt_sandbox_expect_no_new_privs(void)
{
    is_no_new_privs_known = 1;
}

PT_NOINLINE int pt_may_call(void)
{
    if (pt_switches.frozen || pt_local_mark() == PT_LOCAL_SEALED)
        return 0;
    if (mode() != mode_at_start || (!is_no_new_privs_known && no_new_privs()))
        pt_switches.frozen = 1;
    return !pt_switches.frozen;
}

/* ---- a sandbox of a vfork child ---- */

/* A vfork child has closed it, in its parent's memory: the storage that it runs on, its parent thread's; NULL = none.
 * Another thread that ends does not speak for it. One that is killed before it leaves keeps its parent frozen. */
static const void *vfork_child_on;

static const void *own_storage(void)
{
    const pt_u32 mark = pt_local_mark();
    return mark == PT_LOCAL_OURS || mark == PT_LOCAL_SEALED ? &pt_local : 0;
}

void pt_sandbox_is_vfork_childs(void)
{
    vfork_child_on = own_storage();
}

void pt_sandbox_is_nobodys(void)
{
    vfork_child_on = 0;
}

int pt_sandbox_is_of_vfork_child(void)
{
    return vfork_child_on && vfork_child_on == own_storage();
}

int pt_sandbox_vfork_child_leaves(void)
{
    const int is_own = pt_sandbox_is_of_vfork_child();
    if (is_own) {
        vfork_child_on = 0;
        pt_switches.frozen = 0;
    }
    return is_own;
}

void pt_sandbox_vfork_child_stays(void)
{
    pt_sandbox_is_vfork_childs();
    pt_switches.frozen = 1;
}
