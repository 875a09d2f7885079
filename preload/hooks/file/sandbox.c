/* SPDX-License-Identifier: MIT
 *
 * sandbox.c - hooks of the calls by which a program gives up system calls: we must stop making them first.
 *
 * Entered by the thread that closes the sandbox. Under a seccomp filter any system call of ours may kill the process,
 * so the library only uses the memory it has; in strict mode, or when the time stamp counter is forbidden, even reading
 * the clock kills, so of that thread it records nothing. Never makes a system call after the filter is on.
 */
#include "sandbox.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "core/file/prepare.h"
#include "core/process.h"
#include "hooks/hook.h"

CUSTOM_RAW(int, prctl, (int option, long a, long b, long c, long d), (option, a, b, c, d))

static struct pt_sandbox closing(int is_filter)
{
    const int is_new = is_filter && !pt_switches.frozen;
    if (is_new && pt_process_is_vfork_child())
        pt_sandbox_is_vfork_childs();
    if (is_filter && pt_switches.user)
        pt_sandbox_prepare(); /* afterwards no file can be made, and a head has no totals */
    const struct pt_sandbox sandbox = {is_filter ? PT_SANDBOX_FILTER : PT_SANDBOX_SEAL, pt_switches.frozen,
                                       pt_local_mark() == PT_LOCAL_SEALED};
    if (is_filter)
        pt_switches.frozen = 1;
    else
        pt_thread_seal();
    return sandbox;
}

/* Libraries probe for seccomp with calls that must fail (a NULL filter): those restrict nothing, nor do they take back
 * what restricts already. */
static void refused(const struct pt_sandbox *sandbox)
{
    if (sandbox->kind == PT_SANDBOX_FILTER) {
        if (!sandbox->was_frozen)
            pt_sandbox_is_nobodys();
        pt_switches.frozen = sandbox->was_frozen;
    } else if (sandbox->kind == PT_SANDBOX_SEAL && !sandbox->was_sealed) {
        pt_thread_seal_refused();
    }
}

void pt_sandbox_answered(const struct pt_sandbox *sandbox, int is_refused)
{
    if (is_refused)
        refused(sandbox);
    else if (sandbox->kind == PT_SANDBOX_UNSEAL)
        pt_thread_unseal();
}

struct pt_sandbox pt_sandbox_prctl(int option, long a)
{
    if (pt_unlikely(option == PR_SET_NO_NEW_PRIVS))
        pt_sandbox_expect_no_new_privs();
    if (option == PR_SET_TSC && a == PR_TSC_ENABLE)
        return (struct pt_sandbox){.kind = PT_SANDBOX_UNSEAL};
    if (pt_likely(option != PR_SET_SECCOMP && !(option == PR_SET_TSC && a == PR_TSC_SIGSEGV)))
        return (struct pt_sandbox){0};
    return closing(option == PR_SET_SECCOMP && a == SECCOMP_MODE_FILTER);
}

int hook_prctl(int option, long a, long b, long c, long d)
{
    const struct pt_sandbox sandbox = pt_sandbox_prctl(option, a);
    const int ret = real_prctl(option, a, b, c, d);
    pt_sandbox_answered(&sandbox, ret != 0);
    return ret;
}

/* glibc has no seccomp(); libseccomp and systemd come through syscall(). */
struct pt_sandbox pt_sandbox_seccomp(long operation)
{
    if (operation == SECCOMP_SET_MODE_FILTER || operation == SECCOMP_SET_MODE_STRICT)
        return closing(operation == SECCOMP_SET_MODE_FILTER);
    return (struct pt_sandbox){0};
}
