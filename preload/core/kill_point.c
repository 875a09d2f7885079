/* SPDX-License-Identifier: MIT
 *
 * kill_point.c - test builds only: kill the process at a named point. PROFTRACE_TEST_KILL=<point>:<n> does it when the
 * point is reached for the n-th time, by whichever thread. Never linked into a release build.
 */
#include "kill_point.h"

#ifdef PROFTRACE_KILL_POINTS
#include <unistd.h>

#include "sys.h"
#include "text.h"

void pt_kill_point(const char *name)
{
    static pt_u32 passed;
    const char *point = pt_text_value(environ, "PROFTRACE_TEST_KILL");
    if (!point)
        return;
    for (; *name; name++, point++)
        if (*name != *point)
            return;
    if (*point++ != ':')
        return;
    pt_u32 n = 0;
    for (; *point >= '0' && *point <= '9'; point++)
        n = n * 10 + (pt_u32)(*point - '0');
    if (__atomic_add_fetch(&passed, 1, __ATOMIC_RELAXED) == n)
        pt_syscall2(SYS_kill, pt_syscall0(SYS_getpid), 9);
}
#endif
