/* SPDX-License-Identifier: MIT
 *
 * witness.c - Owns: the witness process. Threads: main only. Never: outlives the launcher.
 *
 * The kernel signals a group from its youngest member to its oldest, so when we see a signal the witness has it
 * already.
 */
#include "witness.h"

#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ANSWER_MS 50

/* Each question names a signal; the answer is whether it was pending. */
__attribute__((noreturn)) static void bear_witness(int fd, const sigset_t *watched)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_NAME, "proftrace-group", 0, 0, 0);
    /* Nothing of the caller's stays open in a process that he does not know of: a reader of a pipe waits for its end.
     */
    if (dup2(fd, 0) == 0)
        syscall(SYS_close_range, 1, ~0u, 0); /* glibc before 2.34 has no function for it */
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (unsigned char number; read(0, &number, 1) == 1;) {
        const struct timespec at_once = {0, 0};
        unsigned char seen = 0;
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, number);
        if (sigismember(watched, number))
            seen = sigtimedwait(&one, NULL, &at_once) > 0;
        if (write(0, &seen, 1) != 1)
            break;
    }
    _exit(0);
}

void pt_witness_start(struct pt_witness *ret_witness, const sigset_t *watched)
{
    *ret_witness = (struct pt_witness){.fd = -1};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    const pid_t pid = fork();
    if (pid == 0)
        bear_witness(ends[1], watched);
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    else
        *ret_witness = (struct pt_witness){pid, ends[0]};
}

void pt_witness_end(struct pt_witness *witness)
{
    if (!witness->pid)
        return;
    kill(witness->pid, SIGKILL);
    waitpid(witness->pid, NULL, 0);
    close(witness->fd);
    *witness = (struct pt_witness){.fd = -1};
}

bool pt_witness_saw(const struct pt_witness *witness, int number)
{
    const unsigned char question = (unsigned char)number;
    unsigned char answer = 0;
    if (!witness->pid)
        return false;
    /* A late answer to an earlier question is none to this one. */
    while (recv(witness->fd, &answer, 1, MSG_DONTWAIT) > 0)
        ;
    if (send(witness->fd, &question, 1, MSG_NOSIGNAL) != 1)
        return false;
    struct pollfd ready = {.fd = witness->fd, .events = POLLIN};
    if (poll(&ready, 1, ANSWER_MS) != 1) {
        kill(witness->pid, SIGCONT); /* the whole group was stopped */
        return false;
    }
    return recv(witness->fd, &answer, 1, MSG_DONTWAIT) == 1 && answer;
}
