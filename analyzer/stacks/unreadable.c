/* SPDX-License-Identifier: MIT
 *
 * stacks/unreadable.c - Owns: nothing. Threads: main only. State: none.
 */
#include "unreadable.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/small_file.h"
#include "util/text/posix_names.h"

static const char *killed_by(struct pt_look *look, int status)
{
    if (!WIFSIGNALED(status))
        return NULL;
    const char *name = pt_signal_name(WTERMSIG(status));
    return name ? pt_look_text(look, "SIG%s", name) : pt_look_text(look, "signal %d", WTERMSIG(status));
}

static const char *how_it_ended(struct pt_look *look, const struct pt_look_process *process, int status)
{
    return process->killed_by ? pt_look_text(look, "it was killed by %s", process->killed_by)
                              : pt_look_text(look, "it has ended (exit code %d)", WEXITSTATUS(status));
}

/* Each reason with its remedy. */
static const char *why_not(struct pt_look *look, const struct pt_look_process *process, int exit_code)
{
    char text[64], path[32];
    struct stat owner;
    if (process->seen_by == process->pid && (process->state == 'Z' || process->state == 'X'))
        return pt_look_text(look,
                            "%s and has no stacks any more: a zombie until its parent, process %u, waits for it; "
                            "look at that one",
                            how_it_ended(look, process, exit_code), process->ppid);
    snprintf(path, sizeof path, "/proc/%u", process->seen_by);
    if (pt_small_file_peek(text, sizeof text, "/proc/%u/syscall", process->seen_by) >= 0)
        return NULL;
    const int problem = errno;
    if (problem == ENOENT || problem == ESRCH || stat(path, &owner) < 0)
        return "it ended while it was looked at; its run, if it has one, says how: `proftrace report`";
    if (owner.st_uid != geteuid() && geteuid() != 0)
        return pt_look_text(look, "it belongs to another user (uid %u): run proftrace as that user or as root",
                            (unsigned)owner.st_uid);
    char scope[16];
    const bool is_known = pt_small_file_word(scope, sizeof scope, "/proc/sys/kernel/yama/ptrace_scope");
    if (is_known && !strcmp(scope, "3")) /* the kernel lets nobody lower it */
        return "the kernel refuses (kernel.yama.ptrace_scope is 3), root too, until the next boot: set it below 3 in "
               "/etc/sysctl.d, and reboot";
    if (is_known && strcmp(scope, "0") != 0 && geteuid() != 0)
        return pt_look_text(look,
                            "the kernel refuses (kernel.yama.ptrace_scope is %s): run proftrace as root, or "
                            "`sysctl kernel.yama.ptrace_scope=0`",
                            scope);
    return pt_look_text(look,
                        "the kernel refuses (%s): run proftrace as root, in a container with --cap-add SYS_PTRACE",
                        strerror(problem));
}

int pt_unseen(pt_u32 pid, struct pt_error *err)
{
    /* The kernel says that a process is there also to who may send it nothing, and see nothing of it. */
    const bool is_number = pid && pid <= INT_MAX;
    if (is_number && kill((pid_t)pid, 0) == 0)
        return pt_fail_code(err, 3,
                            "process %u: /proc does not show it: it has more rights than you (hidepid); run proftrace "
                            "as root",
                            pid);
    if (is_number && errno == EPERM)
        return pt_fail_code(err, 3,
                            "process %u: /proc does not show it: it is another user's (hidepid); run proftrace as that "
                            "user or as root",
                            pid);
    return pt_fail_code(err, 3, "there is no process %u; `ps -e` lists those that run", pid);
}

void pt_unreadable(struct pt_look *look, struct pt_look_process *process, int exit_code)
{
    process->killed_by = process->state == 'Z' ? killed_by(look, exit_code) : NULL;
    process->why_not = why_not(look, process, exit_code);
}
