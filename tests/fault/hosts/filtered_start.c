/* SPDX-License-Identifier: MIT
 *
 * F1: start a program under a filter, as systemd, minijail and bubblewrap do.
 *     filtered_start kill|refuse|trap|container NUMBERS fork|exec PROGRAM ARGUMENT...
 *     filtered_start children: as that PROGRAM; 0 when it starts without a child, and none has ended
 * NUMBERS: those of the system calls that the filter does not let through, with commas. "exec": the program takes our
 * place; its parent knows no filter. "fork": it is a child, whose parent lives under the same. "container": refuse,
 * set by root without no_new_privs, as Docker does.
 */
#include "host.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

/* SIGCHLD is blocked since before the exec. */
static int is_childless(void)
{
    sigset_t pending;
    sigpending(&pending);
    return !sigismember(&pending, SIGCHLD) && waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD;
}

int main(int argc, char **argv)
{
    enum { MOST = 200 };
    if (argc == 2 && !strcmp(argv[1], "children"))
        return !is_childless();
    if (argc < 5)
        return 100;
    const unsigned denied = !strcmp(argv[1], "kill")   ? SECCOMP_RET_KILL_PROCESS
                            : !strcmp(argv[1], "trap") ? SECCOMP_RET_TRAP
                                                       : SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter filter[MOST] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short n = 1;
    for (const char *number = strtok(argv[2], ","); number && n < MOST - 3; number = strtok(NULL, ",")) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(number), 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, denied);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    struct sock_fprog program = {n, filter};
    const int is_private = strcmp(argv[1], "container") != 0;
    if ((is_private && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 101;
    if (!strcmp(argv[3], "fork")) {
        const pid_t pid = fork();
        if (pid) {
            const int status = wait_for(pid);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        }
    }
    execv(argv[4], argv + 4);
    return 102;
}
