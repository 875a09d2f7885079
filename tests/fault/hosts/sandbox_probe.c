/* SPDX-License-Identifier: MIT
 *
 * F1: libraries ask whether there is seccomp by calls that must fail. Nobody is in a sandbox afterwards: the process
 * records on, grows, and its children have files of their own.
 */
#include "host.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define WRITES 20000

int main(void)
{
    MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == -1 && errno == EFAULT);
    MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) == -1 && errno == EFAULT);
    MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == -1 && errno == EINVAL);
    MUST(prctl(PR_SET_TSC, 77) == -1 && errno == EINVAL);
    const pid_t pid = fork();
    if (!pid)
        _exit(null_writes(WRITES));
    MUST(wait_for(pid) == 0);
    MUST(null_writes(WRITES) == 0);
    trace_must("io_write", "==", 2 * WRITES);
    trace_must("fd_path:/dev/null:io_write", "==", 2 * WRITES);
    trace_must("processes", "==", 2);
    return host_broken;
}
