/* SPDX-License-Identifier: MIT
 *
 * sandbox.c - hooks of the calls by which a program gives up system calls: we must stop making them first.
 *
 * Entered by the thread that closes the sandbox. Under a seccomp filter any system call of ours may kill the process,
 * so the library only uses the memory it has; in strict mode, or when the time stamp counter is forbidden, even reading
 * the clock kills, so it records nothing. Never makes a system call after the filter is on.
 */
#include "sandbox.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "hooks/hook.h"

CUSTOM_RAW(int, prctl, (int option, long a, long b, long c, long d), (option, a, b, c, d))

static void go_silent(void)
{
    const struct pt_switches off = {.off = 1};
    pt_switches = off;
}

/* Libraries probe for seccomp with calls that must fail (a NULL filter): those restrict nothing. */
void pt_sandbox_refused(const struct pt_switches *before)
{
    pt_switches = *before;
}

int hook_prctl(int option, long a, long b, long c, long d)
{
    const struct pt_switches before = pt_switches;
    const int closes_tsc = option == PR_SET_TSC && a == PR_TSC_SIGSEGV && pt_switches.tsc;
    if (pt_likely(option != PR_SET_SECCOMP && !closes_tsc))
        return real_prctl(option, a, b, c, d);
    if (option == PR_SET_SECCOMP && a == SECCOMP_MODE_FILTER)
        pt_switches.frozen = 1;
    else
        go_silent();
    const int ret = real_prctl(option, a, b, c, d);
    if (ret != 0)
        pt_sandbox_refused(&before);
    return ret;
}

/* glibc has no seccomp(); libseccomp and systemd come through syscall(). */
void pt_sandbox_seccomp(long operation)
{
    if (operation == SECCOMP_SET_MODE_FILTER)
        pt_switches.frozen = 1;
    else if (operation == SECCOMP_SET_MODE_STRICT)
        go_silent();
}
