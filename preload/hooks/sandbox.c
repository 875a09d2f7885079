/* SPDX-License-Identifier: MIT
 *
 * sandbox.c - hooks of the calls by which a program gives up system calls: we must give them up first.
 *
 * Entered by the thread that closes the sandbox. Under a seccomp filter any system call of ours may kill the process,
 * so the library keeps to the memory it has; in strict mode, or when the time stamp counter is forbidden, even reading
 * the clock kills, so it goes silent.
 */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hook.h"

CUSTOM_RAW(int, prctl, (int option, long a, long b, long c, long d), (option, a, b, c, d))
PT_REAL(long, syscall, (long number, long a, long b, long c, long d, long e, long f), (number, a, b, c, d, e, f))

static void go_silent(void)
{
    const struct pt_switches off = {.off = 1};
    pt_switches = off;
}

int hook_prctl(int option, long a, long b, long c, long d)
{
    if (pt_unlikely(option == PR_SET_SECCOMP && a == SECCOMP_MODE_FILTER))
        pt_switches.frozen = 1;
    else if (pt_unlikely(option == PR_SET_SECCOMP || (option == PR_SET_TSC && a == PR_TSC_SIGSEGV && pt_switches.tsc)))
        go_silent();
    return real_prctl(option, a, b, c, d);
}

/* glibc has no seccomp(); libseccomp and systemd come through syscall(). */
__attribute__((used)) static long seccomp_closes(long number, long operation, long b, long c, long d, long e, long f)
{
    if (operation == SECCOMP_SET_MODE_FILTER)
        pt_switches.frozen = 1;
    else if (operation == SECCOMP_SET_MODE_STRICT)
        go_silent();
    return real_syscall(number, operation, b, c, d, e, f);
}

/* syscall() itself must not get a frame: fork and clone made by it return twice on it, and the child of the latter may
 * have another stack. One comparison and a jump leave registers and stack as they were. */
PT_EXPORT long hook_syscall(void) __asm__("syscall");
_Static_assert(SYS_seccomp == 317, "named in the assembly below");
__attribute__((naked)) long hook_syscall(void)
{
    __asm__("cmpq $317, %rdi\n\t"
            "je seccomp_closes\n\t"
            "jmp *real_syscall(%rip)");
}
