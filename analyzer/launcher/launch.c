/* SPDX-License-Identifier: MIT
 *
 * launch.c - Owns: the launcher's one loop: signals, the child's changes of state, samples. Threads: main only.
 * Never: writes to the child's stdin, stdout or stderr.
 */
#include "launch.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "signals.h"

/* CPU time is counted in ticks of 10 ms: a sample over less says nothing. */
#define LAST_SAMPLE_MIN_NS 100000000u

/* A look at many processes costs more: then look less often, so that it stays below 0.4 % of one core. */
#define COST_FACTOR 250

struct watch {
    const struct pt_launch *launch;
    struct pt_sampler *sampler;
    pid_t pid;
    pt_u64 start_ns;
    pt_u64 last_sample_ns;
    pt_u64 due_ns; /* when to take the next */
    pt_u64 duration_ns;
    int wait_status;
    bool ended;
};

static pt_u64 monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (pt_u64)now.tv_sec * 1000000000u + (pt_u64)now.tv_nsec;
}

static void take_sample(struct watch *watch)
{
    const pt_u64 now = monotonic_ns();
    const pt_u64 rest_ns = COST_FACTOR * pt_sampler_take(watch->sampler, now - watch->start_ns);
    watch->last_sample_ns = now;
    watch->due_ns = now + (rest_ns > watch->launch->interval_ns ? rest_ns : watch->launch->interval_ns);
}

/* The child is a zombie now: its times can be read for the last time. */
static void sample_end(struct watch *watch)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)watch->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != watch->pid)
        return;
    watch->duration_ns = monotonic_ns() - watch->start_ns;
    if (monotonic_ns() - watch->last_sample_ns >= LAST_SAMPLE_MIN_NS)
        take_sample(watch);
}

/* Wait for whatever changed. Orphans come to us because we are the subreaper. */
static void reap(struct watch *watch)
{
    int status;
    int stop_signal = 0;
    struct rusage usage;
    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG | WUNTRACED | WCONTINUED, &usage)) > 0;) {
        if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
            if (pid == watch->pid)
                stop_signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
            continue;
        }
        pt_sampler_reaped(watch->sampler, pid, &usage);
        if (pid == watch->pid) {
            watch->wait_status = status;
            watch->ended = true;
        }
    }
    /* Job control: the shell waits for us to stop, not for the child. Its `fg` wakes the whole group. */
    if (!watch->ended && (stop_signal == SIGTSTP || stop_signal == SIGTTIN || stop_signal == SIGTTOU))
        kill(getpid(), SIGSTOP);
}

static void loop(struct watch *watch, const struct pt_signals *signals)
{
    while (!watch->ended) {
        const pt_u64 now = monotonic_ns();
        const pt_u64 wait_ns = watch->due_ns > now ? watch->due_ns - now : 0;
        const struct timespec timeout = {(time_t)(wait_ns / 1000000000u), (long)(wait_ns % 1000000000u)};
        struct pollfd ready = {.fd = signals->fd, .events = POLLIN};
        const int n = ppoll(&ready, 1, &timeout, NULL);
        if (n > 0 && pt_signals_forward(signals, watch->pid)) {
            sample_end(watch);
            reap(watch);
        }
        if (!watch->ended && monotonic_ns() >= watch->due_ns)
            take_sample(watch);
    }
}

int pt_launch(const struct pt_launch *launch, struct pt_sampler *sampler, struct pt_launch_result *ret_result,
              struct pt_error *err)
{
    struct pt_signals signals = {.fd = -1};
    if (pt_signals_take(&signals, err) < 0)
        return -1;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pt_sampler_begin(sampler);
    struct watch watch = {.launch = launch, .sampler = sampler, .start_ns = monotonic_ns()};
    watch.last_sample_ns = watch.start_ns;
    watch.due_ns = watch.start_ns + launch->interval_ns;
    sigset_t early;
    pt_signals_collect(&signals, &early);
    watch.pid = pt_child_start(launch->path, launch->argv, launch->environment, &signals.inherited, err);
    if (watch.pid > 0) {
        pt_signals_deliver(&early, watch.pid);
        loop(&watch, &signals);
    }
    pt_signals_release(&signals);
    if (watch.pid < 0)
        return -1;
    ret_result->pid = watch.pid;
    ret_result->wait_status = watch.wait_status;
    ret_result->duration_ns = watch.duration_ns ? watch.duration_ns : monotonic_ns() - watch.start_ns;
    ret_result->samples = pt_sampler_samples(sampler);
    return 0;
}
