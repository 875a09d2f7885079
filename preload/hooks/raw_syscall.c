/* SPDX-License-Identifier: MIT
 *
 * raw_syscall.c - the hook of syscall(), for the few numbers that matter.
 *
 * Entered by any thread. seccomp must be seen before it closes the sandbox. libuv (node) closes descriptors and asks
 * about files this way: unseen, a number that it closed would keep the name of its old file. All other numbers, and
 * memory allocators use some in their first moments, pass by with three comparisons.
 */
#include <sys/syscall.h>

#include "hook.h"
#include "raw_syscall.h"

PT_REAL(long, syscall, (long number, long a, long b, long c, long d, long e, long f), (number, a, b, c, d, e, f))

static long recorded_close(long number, long fd)
{
    const pt_u32 path = pt_fd_forget((int)fd);
    const pt_u64 start = pt_clock();
    const long ret = real_syscall(number, fd, 0, 0, 0, 0, 0);
    pt_spent(PT_EV_io_close, start, pt_clock(), (pt_i32)fd, pt_result_and(ret, path), 0);
    return ret;
}

static long recorded_seccomp(long operation, long flags, long argument, long d, long e, long f)
{
    const struct pt_switches before = pt_switches;
    pt_sandbox_seccomp(operation);
    const long ret = real_syscall(SYS_seccomp, operation, flags, argument, d, e, f);
    if (ret != 0) /* refused; or with TSYNC the thread that could not be brought along */
        pt_sandbox_refused(&before);
    return ret;
}

__attribute__((used)) static long watched_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_seccomp)
        return recorded_seccomp(a, b, c, d, e, f);
    if (!pt_switches.io)
        return real_syscall(number, a, b, c, d, e, f);
    if (number == SYS_close)
        return recorded_close(number, a);
    const pt_u64 start = pt_clock();
    const long ret = real_syscall(number, a, b, c, d, e, f);
    pt_meta_asked(start, pt_clock(), (int)a, (const char *)b, (int)c, (int)ret);
    return ret;
}

/* syscall() itself must not get a frame: fork and clone made by it return twice on it, and the child of the latter may
 * have another stack. Comparisons and a jump leave registers and stack as they were. */
PT_EXPORT long hook_syscall(void) __asm__("syscall");
_Static_assert(SYS_close == 3 && SYS_seccomp == 317 && SYS_statx == 332, "named in the assembly below");
__attribute__((naked)) long hook_syscall(void)
{
    __asm__("cmpq $3, %rdi\n\t"
            "je watched_syscall\n\t"
            "cmpq $332, %rdi\n\t"
            "je watched_syscall\n\t"
            "cmpq $317, %rdi\n\t"
            "je watched_syscall\n\t"
            "jmp *real_syscall(%rip)");
}
