/* SPDX-License-Identifier: MIT
 *
 * credentials.c - hooks of the calls after which the trace file can no longer be opened.
 *
 * Entered by any thread. A process that gives up its user or its root directory can no longer open its own private
 * file: before that it makes room for which none is needed. Never keeps a descriptor open for later.
 */
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <unistd.h>

#include "credentials.h"

#include "core/file/prepare.h"
#include "hooks/hook.h"

#define LEAVING(name, parameters, arguments)                                                                           \
    CUSTOM(int, name, parameters, arguments)                                                                           \
    int name parameters                                                                                                \
    {                                                                                                                  \
        if (pt_switches.user)                                                                                          \
            pt_ring_prepare();                                                                                         \
        return real_##name arguments;                                                                                  \
    }

LEAVING(setuid, (uid_t user), (user))
LEAVING(seteuid, (uid_t user), (user))
LEAVING(setreuid, (uid_t real, uid_t effective), (real, effective))
LEAVING(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
LEAVING(setfsuid, (uid_t user), (user))
LEAVING(chroot, (const char *path), (path))
LEAVING(setns, (int fd, int type), (fd, type))
LEAVING(move_mount, (int from_dir, const char *from, int to_dir, const char *to, unsigned flags),
        (from_dir, from, to_dir, to, flags))
LEAVING(mount, (const char *source, const char *target, const char *type, unsigned long flags, const void *data),
        (source, target, type, flags, data))

void pt_leaving_files(void)
{
    if (pt_switches.user)
        pt_ring_prepare();
}

/* A child that shares the root directory (CLONE_FS) and is no thread may change it for its maker: so Chromium takes all
 * files away from the process that its pages are forked from. The child cannot be asked to make room: it has our
 * memory, but no thread-local storage of ours. */
/* clone() returns in the child on another stack: no frame of ours, see hook_syscall. */
PT_REAL(int, clone, (int (*fn)(void *), void *stack, int flags, void *argument), (fn, stack, flags, argument))
PT_EXPORT long hook_clone(void) __asm__("clone");
PT_EXPORT long hook___clone(void) __asm__("__clone") __attribute__((alias("clone")));
_Static_assert(CLONE_FS == 0x200 && CLONE_THREAD == 0x10000, "named in the assembly below");
__attribute__((naked)) long hook_clone(void)
{
    __asm__("testl $0x200, %edx\n\t"
            "jz 1f\n\t"
            "testl $0x10000, %edx\n\t"
            "jnz 1f\n\t"
            "pushq %rdi\n\t"
            "pushq %rsi\n\t"
            "pushq %rdx\n\t"
            "pushq %rcx\n\t"
            "pushq %r8\n\t"
            "pushq %r9\n\t"
            "subq $8, %rsp\n\t"
            ".cfi_adjust_cfa_offset 56\n\t"
            "call pt_leaving_files\n\t"
            "addq $8, %rsp\n\t"
            "popq %r9\n\t"
            "popq %r8\n\t"
            "popq %rcx\n\t"
            "popq %rdx\n\t"
            "popq %rsi\n\t"
            "popq %rdi\n\t"
            ".cfi_adjust_cfa_offset -56\n"
            "1:\tjmp *real_clone(%rip)");
}

/* After the core's constructor (101): the stub that finds a function would hand on four of its arguments only. */
__attribute__((constructor(102))) static void find_clone(void)
{
    PT_RESOLVE(clone);
}
