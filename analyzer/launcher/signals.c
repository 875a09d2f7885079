/* SPDX-License-Identifier: MIT
 *
 * signals.c - Owns: the launcher's signal mask and the descriptor in which signals wait. Threads: main only. Never:
 * installs a handler while a command runs.
 */
#include "signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* By SIGTTIN and SIGTTOU a server has one worker more or less. Where the terminal sent them to the group, they stop the
 * command, and we stop with it. */
static bool is_forwarded(int number)
{
    static const int forwarded[] = {SIGINT,   SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,
                                    SIGWINCH, SIGCONT, SIGTSTP, SIGALRM, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        if (number == forwarded[i])
            return true;
    return number >= SIGRTMIN && number <= SIGRTMAX;
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define N_ENDS (sizeof ends / sizeof ends[0])

static volatile sig_atomic_t kept_signal;
static const char *kept_text;
static pid_t kept_by; /* a process that we have made hears the same key, and says nothing */

static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int pt_signals_take(struct pt_signals *ret_signals, struct pt_error *err)
{
    struct pt_inherited *inherited = &ret_signals->inherited;
    sigset_t set;
    sigemptyset(&set);
    sigemptyset(&ret_signals->ignored);
    for (int number = 1; number <= SIGRTMAX; number++) {
        if (!is_forwarded(number))
            continue;
        sigaddset(&set, number);
        if (is_ignored(number))
            sigaddset(&ret_signals->ignored, number);
    }
    /* Inherited as ignored, SIGCHLD would make the kernel throw the child's exit status away. */
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGCHLD, &plain, &inherited->child_action);
    sigaction(SIGPIPE, &ignore, &inherited->pipe_action);
    /* `ulimit -f`: a log that may not grow is a note, not our end. */
    sigaction(SIGXFSZ, &ignore, &inherited->size_action);
    sigprocmask(SIG_BLOCK, &set, &inherited->mask);
    pt_witness_start(&ret_signals->witness, &set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    ret_signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (ret_signals->fd >= 0)
        return 0;
    pt_fail(err, "cannot receive signals: %s", strerror(errno));
    pt_signals_release(ret_signals);
    return -1;
}

void pt_signals_collect(const struct pt_signals *signals, sigset_t *ret_early)
{
    struct signalfd_siginfo info;
    sigemptyset(ret_early);
    while (read(signals->fd, &info, sizeof info) == sizeof info) {
        (void)pt_witness_saw(&signals->witness, (int)info.ssi_signo);
        sigaddset(ret_early, (int)info.ssi_signo);
    }
}

void pt_signals_deliver(const sigset_t *early, pid_t child)
{
    for (int number = 1; number <= SIGRTMAX; number++)
        if (is_forwarded(number) && sigismember(early, number))
            kill(child, number);
}

static void pass_on(const struct signalfd_siginfo *info, pid_t child)
{
    if (info->ssi_code == SI_QUEUE)
        sigqueue(child, (int)info->ssi_signo, (union sigval){.sival_ptr = (void *)(uintptr_t)info->ssi_ptr});
    else
        kill(child, (int)info->ssi_signo);
}

/* The kernel keeps a blocked signal although it is ignored. */
static bool asks_for_end(const struct pt_signals *signals, int number)
{
    for (size_t i = 0; i < N_ENDS; i++)
        if (number == ends[i])
            return !sigismember(&signals->ignored, number);
    return false;
}

void pt_signals_read(const struct pt_signals *signals, pid_t child, bool keep_end, struct pt_signals_seen *ret_seen)
{
    struct signalfd_siginfo info;
    *ret_seen = (struct pt_signals_seen){0};
    while (read(signals->fd, &info, sizeof info) == sizeof info) {
        const int number = (int)info.ssi_signo;
        if (number == SIGCHLD) {
            ret_seen->child_changed = true;
            continue;
        }
        /* Asked each time: an answer that is not fetched would count for the next signal of this kind. */
        const bool witnessed = pt_witness_saw(&signals->witness, number);
        /* A key's signal is for the group. A hangup is for the leader of the session, and a timer's for its process: of
         * these the witness alone knows. */
        const bool is_of_key = info.ssi_code == SI_KERNEL && number != SIGHUP && number != SIGALRM && number != SIGCONT;
        const bool reached_group = witnessed || is_of_key;
        ret_seen->resized |= number == SIGWINCH;
        ret_seen->asked |= number == SIGQUIT;
        ret_seen->asked_group |= number == SIGQUIT && reached_group;
        if (keep_end && asks_for_end(signals, number)) {
            ret_seen->end_signal = number;
            ret_seen->end_reached_group = reached_group;
            ret_seen->n_end_signals++;
        } else if (number == SIGQUIT) {
            ret_seen->asks_child |= !reached_group && child > 0;
        } else if (!reached_group && child > 0) {
            pass_on(&info, child);
        }
    }
}

void pt_signals_release(struct pt_signals *signals)
{
    if (signals->fd >= 0)
        close(signals->fd);
    signals->fd = -1;
    pt_witness_end(&signals->witness);
    sigprocmask(SIG_SETMASK, &signals->inherited.mask, NULL);
}

static void keep(int number)
{
    if (kept_signal) {
        signal(number, SIG_DFL);
        raise(number); /* waits until we return */
        return;
    }
    kept_signal = number;
    const int problem = errno;
    if (kept_text && getpid() == kept_by && write(STDERR_FILENO, kept_text, strlen(kept_text)) < 0)
        errno = problem;
}

void pt_signals_linger(struct pt_signals *signals, const char *text)
{
    struct sigaction action = {.sa_handler = keep, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    kept_text = text;
    kept_by = getpid();
    for (size_t i = 0; i < N_ENDS; i++)
        if (!sigismember(&signals->ignored, ends[i]))
            sigaction(ends[i], &action, NULL);
    pt_signals_release(signals);
}

int pt_signals_kept(void)
{
    return kept_signal;
}
