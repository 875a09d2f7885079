/* SPDX-License-Identifier: MIT
 *
 * signals.c - Owns: the launcher's signal mask and the descriptor in which signals wait. Threads: main only. Never:
 * installs a handler.
 */
#include "signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int forwarded[] = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP, SIGALRM};
#define N_FORWARDED (sizeof forwarded / sizeof forwarded[0])

int pt_signals_take(struct pt_inherited *ret_inherited, struct pt_error *err)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < N_FORWARDED; i++)
        sigaddset(&set, forwarded[i]);
    sigaddset(&set, SIGCHLD);
    /* Inherited as ignored, SIGCHLD would make the kernel throw the child's exit status away. */
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGCHLD, &plain, &ret_inherited->child_action);
    sigaction(SIGPIPE, &ignore, &ret_inherited->pipe_action);
    sigprocmask(SIG_BLOCK, &set, &ret_inherited->mask);
    const int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : pt_fail(err, "cannot receive signals: %s", strerror(errno));
}

bool pt_signals_forward(int signal_fd, pid_t child)
{
    bool child_changed = false;
    struct signalfd_siginfo info;
    while (read(signal_fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            child_changed = true;
        else if (info.ssi_code != SI_KERNEL)
            kill(child, (int)info.ssi_signo);
    }
    return child_changed;
}

void pt_signals_release(const struct pt_inherited *inherited)
{
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}
