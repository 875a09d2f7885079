/* SPDX-License-Identifier: MIT
 *
 * launch.c - Owns: the launcher's one loop: signals, the child's changes of state, samples, the output that is passed
 * through, the end of a process tree that must stop. Threads: main only. Never: writes to the child's stdin, stdout or
 * stderr.
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

#include "cpu_profile/cpu_profile.h"
#include "launcher/output/output.h"
#include "sampler/memory_kills.h"
#include "sampler/memory_limit.h"
#include "sampler/process_tree.h"
#include "util/clock.h"
#include "util/text/wait_status.h"
#include "death.h"
#include "signals.h"
#include "status_line.h"
#include "tree_end.h"

/* CPU time is counted in ticks of 10 ms: a sample over less says nothing. */
#define LAST_SAMPLE_MIN_NS 100000000u

/* Sampling many processes costs more: then it is done less often, so that the sum, with the occasional PSS, stays
 * below 0.5 % of one core. */
#define COST_FACTOR 350

/* A reader of our stdout that does not read must not keep us for ever after the stage has ended. */
#define DRAIN_PATIENCE_NS 10000000000u

#define PROGRESS_NS 10000000000u

#define NEVER_NS (~(pt_u64)0)

struct watch {
    const struct pt_launch *launch;
    struct pt_sampler *sampler;
    const struct pt_signals *signals;
    pid_t pid;
    pt_u64 start_ns;
    pt_u64 last_sample_ns;
    pt_u64 sample_due_ns;
    pt_u64 output_due_ns;
    pt_u64 cpu_due_ns;
    pt_u64 status_due_ns;
    pt_u64 drain_due_ns;  /* when what the command wrote is given up; NEVER_NS = it still runs */
    bool is_asked_to_end; /* by a signal after the command has ended */
    pt_u64 progress_due_ns;
    pt_u64 end_due_ns; /* of the tree that we are ending */
    struct pt_stall_watch stall;
    pt_u64 duration_ns;
    pt_u64 stopped_ns; /* when the tree that we were ending was gone */
    int wait_status;
    bool ended;
    bool abandoned; /* it cannot be ended: another user's, or stuck in the kernel */
    bool was_away;  /* we were stopped, as the whole job is by Ctrl-Z: nothing could move meanwhile */
    struct pt_tree_end end;
    bool ending;
    struct pt_memory_kills kills_before;
    struct pt_launch_result *result;
};

/* ---- samples ---- */

/* Without perf events, the profile learns of processes only from this scan. */
static void see_threads(const struct watch *watch)
{
    struct pt_cpu_profile *profile = watch->launch->cpu_profile;
    const struct pt_tree *tree = pt_sampler_tree(watch->sampler);
    for (size_t i = 0; profile && pt_cpu_profile_needs_pids(profile) && i < tree->n; i++)
        if (tree->entries[i].ownership == PT_PROCESS_OURS)
            pt_cpu_profile_add_process(profile, tree->entries[i].pid);
}

static void check_stall(struct watch *watch)
{
    static const enum pt_launch_still whys[] = {
        [PT_STALL_STILL] = PT_LAUNCH_STALLED,
        [PT_STALL_NO_STEP] = PT_LAUNCH_NO_STEP,
    };
    const struct pt_launch *launch = watch->launch;
    if (!launch->still || watch->ended || watch->ending)
        return;
    if (watch->was_away)
        pt_stall_resume(&watch->stall, pt_monotonic_ns());
    watch->was_away = false;
    const enum pt_stall stall = pt_stall_check(&watch->stall, pt_sampler_last(watch->sampler)->values,
                                               launch->output ? launch->output->passed_bytes : 0, pt_monotonic_ns());
    if (stall != PT_STALL_NONE)
        launch->still(launch->still_context, watch->pid, whys[stall]);
}

static void take_sample(struct watch *watch)
{
    const pt_u64 now = pt_monotonic_ns();
    const pt_u64 rest_ns = COST_FACTOR * pt_sampler_take(watch->sampler, now - watch->start_ns);
    see_threads(watch);
    watch->last_sample_ns = now;
    watch->sample_due_ns = now + (rest_ns > watch->launch->interval_ns ? rest_ns : watch->launch->interval_ns);
    check_stall(watch);
    if (!watch->launch->status_line)
        return;
    const struct pt_sample *last = pt_sampler_last(watch->sampler);
    const struct pt_status_values values = {
        .cpu_percent = last->values[PT_RESOURCE_cpu_percent],
        .rss_bytes = last->values[PT_RESOURCE_rss_bytes],
        .gpu_percent = last->values[PT_RESOURCE_gpu_util_percent],
    };
    pt_status_line_values(watch->launch->status_line, &values);
}

/* If we are killed, the progress that was written last is all that remains. */
static void report_progress(struct watch *watch)
{
    const pt_u64 now = pt_monotonic_ns(), before = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct pt_launch_result *result = watch->result;
    result->pid = watch->pid;
    result->running = true;
    result->duration_ns = now - watch->start_ns;
    result->samples = pt_sampler_so_far(watch->sampler);
    watch->launch->progress(watch->launch->progress_context);
    const pt_u64 rest_ns = COST_FACTOR * (pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before);
    watch->progress_due_ns = now + (rest_ns > PROGRESS_NS ? rest_ns : PROGRESS_NS);
}

/* ---- the child's changes of state ---- */

static void note_end(struct watch *watch, int status)
{
    watch->wait_status = status;
    watch->ended = true;
    watch->end.child = 0;
    watch->abandoned = false;
    if (!watch->duration_ns)
        watch->duration_ns = pt_monotonic_ns() - watch->start_ns;
}

/* A zombie's files in /proc can be read for the last time. */
static void look_at_ended(struct watch *watch, pid_t pid)
{
    if (pid == watch->pid) {
        watch->duration_ns = pt_monotonic_ns() - watch->start_ns;
        if (pt_monotonic_ns() - watch->last_sample_ns >= LAST_SAMPLE_MIN_NS)
            take_sample(watch);
    }
    pt_sampler_ending(watch->sampler, pid);
    if (watch->launch->cpu_profile)
        pt_cpu_profile_ending(watch->launch->cpu_profile, pid);
}

static bool reap_ended(struct watch *watch)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
        return false;
    look_at_ended(watch, info.si_pid);
    int status;
    struct rusage usage;
    if (wait4(info.si_pid, &status, 0, &usage) != info.si_pid)
        return false;
    pt_sampler_reaped(watch->sampler, info.si_pid, &usage);
    if (info.si_pid == watch->pid)
        note_end(watch, status);
    return true;
}

/* Wait for children that ended or changed. Orphans are ours to wait for, because we are the subreaper. */
static void reap(struct watch *watch)
{
    while (reap_ended(watch))
        ;
    siginfo_t info = {0};
    int stop_signal = 0;
    while (!watch->ended && waitid(P_PID, (id_t)watch->pid, &info, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
           info.si_pid) {
        stop_signal = info.si_code == CLD_STOPPED ? info.si_status : 0;
        info.si_pid = 0;
    }
    /* Job control: the shell waits for us to stop, not for the child. Its `fg` wakes the whole group. */
    if (watch->ended || !(stop_signal == SIGTSTP || stop_signal == SIGTTIN || stop_signal == SIGTTOU))
        return;
    if (watch->launch->status_line)
        pt_status_line_erase(watch->launch->status_line);
    kill(getpid(), SIGSTOP);
    watch->was_away = true;
}

/* ---- ending what must not go on ---- */

static void end_tree(struct watch *watch, enum pt_launch_end how, int first_signal)
{
    struct pt_error ignored = {0};
    const pt_u64 now = pt_monotonic_ns();
    if (watch->ending) {
        pt_tree_end_hurry(&watch->end, now);
        watch->end_due_ns = now;
        return;
    }
    watch->result->how = how;
    const struct pt_tree_end_request request = {.known = pt_sampler_tree(watch->sampler),
                                                .child = watch->ended ? 0 : watch->pid,
                                                .first_signal = first_signal,
                                                .grace_ns = PT_TREE_END_GRACE_NS};
    watch->ending = pt_tree_end_begin(&watch->end, &request, now, &ignored) == 0;
    watch->end_due_ns = now;
    if (!watch->ending && !watch->ended)
        kill(watch->pid, SIGKILL); /* no memory to do better */
}

static void step_end(struct watch *watch)
{
    if (!watch->ending || pt_monotonic_ns() < watch->end_due_ns)
        return;
    watch->end_due_ns = pt_tree_end_step(&watch->end, pt_monotonic_ns());
    if (watch->end_due_ns)
        return;
    reap(watch);
    watch->stopped_ns = pt_monotonic_ns();
    watch->result->n_killed = watch->end.n_killed;
    watch->result->n_survivors = watch->end.n_survivors;
    pt_tree_end_close(&watch->end);
    watch->ending = false;
    watch->end_due_ns = NEVER_NS;
    watch->abandoned = !watch->ended;
    if (!watch->abandoned)
        return;
    watch->duration_ns = watch->stopped_ns - watch->start_ns;
    watch->result->n_survivors += !watch->result->n_survivors;
}

static void check_timeout(struct watch *watch)
{
    if (watch->launch->timeout_ns && !watch->ended && watch->result->how == PT_LAUNCH_ENDED &&
        pt_monotonic_ns() - watch->start_ns >= watch->launch->timeout_ns) {
        if (watch->launch->still)
            watch->launch->still(watch->launch->still_context, watch->pid, PT_LAUNCH_TIMES_OUT);
        end_tree(watch, PT_LAUNCH_TIMED_OUT, SIGTERM);
    }
}

static bool is_there(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid;
}

/* Ctrl-\: the stacks first, then what the signal is for. From a terminal the command has it already: one that dies of
 * it is gone in a moment, and then its dump says where it was, if it left one. */
static void say_where(struct watch *watch, const struct pt_signals_seen *seen)
{
    static const struct timespec moment = {.tv_nsec = 20000000};
    const struct pt_launch *launch = watch->launch;
    if (seen->asked_group)
        nanosleep(&moment, NULL);
    if (launch->still && !watch->ended && !watch->ending && is_there(watch->pid))
        launch->still(launch->still_context, watch->pid, PT_LAUNCH_ASKED);
    if (seen->asks_child && !watch->ended)
        kill(watch->pid, SIGQUIT);
}

/* Of a run whose command has ended nothing is left to be ended but our waiting for who reads its output. */
static void take_end_signals(struct watch *watch, const struct pt_signals_seen *seen)
{
    watch->is_asked_to_end |= watch->ended;
    if (watch->ended && !watch->launch->signals)
        return;
    if (!watch->result->end_signal)
        watch->result->end_signal = seen->end_signal;
    end_tree(watch, PT_LAUNCH_INTERRUPTED, seen->end_reached_group ? 0 : seen->end_signal);
    if (seen->n_end_signals > 1 && watch->ending)
        end_tree(watch, PT_LAUNCH_INTERRUPTED, 0);
}

static void take_signals(struct watch *watch)
{
    struct pt_signals_seen seen;
    const bool is_gone = watch->ended; /* its number may be another's now */
    pt_signals_read(watch->signals, is_gone ? 0 : watch->pid, is_gone || watch->launch->signals, &seen);
    if (seen.resized && watch->launch->output && pt_output_resize(watch->launch->output) && !is_gone)
        kill(watch->pid, SIGWINCH);
    if (seen.asked)
        say_where(watch, &seen);
    if (seen.end_signal)
        take_end_signals(watch, &seen);
    if (seen.child_changed)
        reap(watch);
}

/* ---- the loop ---- */

static void lower(pt_u64 *due_ns, pt_u64 other_ns)
{
    if (other_ns < *due_ns)
        *due_ns = other_ns;
}

static pt_u64 next_due_ns(const struct watch *watch)
{
    const bool is_over = watch->ended || watch->abandoned;
    pt_u64 due_ns = is_over ? NEVER_NS : watch->sample_due_ns;
    lower(&due_ns, is_over ? NEVER_NS : watch->progress_due_ns);
    lower(&due_ns, watch->output_due_ns);
    lower(&due_ns, watch->cpu_due_ns);
    lower(&due_ns, is_over ? watch->drain_due_ns : watch->status_due_ns);
    lower(&due_ns, watch->end_due_ns);
    if (watch->launch->timeout_ns && !watch->ended && watch->result->how == PT_LAUNCH_ENDED)
        lower(&due_ns, watch->start_ns + watch->launch->timeout_ns);
    return due_ns;
}

static void wait_for_something(struct watch *watch)
{
    struct pollfd fds[2 + PT_OUTPUT_POLL_MAX] = {{.fd = watch->signals->fd, .events = POLLIN},
                                                 {.fd = -1, .events = POLLIN}};
    int n = 2;
    const pt_u64 now = pt_monotonic_ns();
    watch->output_due_ns = NEVER_NS;
    if (watch->launch->cpu_profile)
        fds[1].fd = pt_cpu_profile_fd(watch->launch->cpu_profile);
    if (watch->launch->output)
        n += pt_output_poll_fds(watch->launch->output, now, fds + n, &watch->output_due_ns);
    const pt_u64 due_ns = next_due_ns(watch);
    const pt_u64 wait_ns = due_ns > now ? due_ns - now : 0;
    const struct timespec timeout = {(time_t)(wait_ns / 1000000000u), (long)(wait_ns % 1000000000u)};
    const int n_ready = ppoll(fds, (nfds_t)n, due_ns == NEVER_NS ? NULL : &timeout, NULL);
    if (due_ns != NEVER_NS && pt_monotonic_ns() > now + wait_ns + watch->launch->stall_ns / 2)
        watch->was_away = true;
    if (n_ready <= 0)
        return;
    if (fds[1].revents)
        watch->cpu_due_ns = now;
    if (fds[0].revents)
        take_signals(watch);
}

static void step_cpu_profile(struct watch *watch)
{
    const pt_u64 now = pt_monotonic_ns();
    if (watch->launch->cpu_profile && now >= watch->cpu_due_ns)
        watch->cpu_due_ns = pt_cpu_profile_step(watch->launch->cpu_profile, now);
}

static void loop(struct watch *watch)
{
    while (!(watch->ended || watch->abandoned) || watch->ending) {
        wait_for_something(watch);
        if (watch->launch->output)
            pt_output_pump(watch->launch->output, pt_monotonic_ns());
        check_timeout(watch);
        step_end(watch);
        step_cpu_profile(watch);
        if (!watch->ended && pt_monotonic_ns() >= watch->sample_due_ns)
            take_sample(watch);
        if (!watch->ended && pt_monotonic_ns() >= watch->progress_due_ns)
            report_progress(watch);
        if (watch->launch->status_line)
            watch->status_due_ns = pt_status_line_step(watch->launch->status_line, pt_monotonic_ns());
    }
    reap(watch);
    if (watch->launch->cpu_profile)
        pt_cpu_profile_end(watch->launch->cpu_profile);
    watch->cpu_due_ns = NEVER_NS;
}

/* What the command wrote before it ended is still on its way. */
static void drain(struct watch *watch)
{
    struct pt_output *output = watch->launch->output;
    pt_u64 patience_ns = pt_monotonic_ns() + DRAIN_PATIENCE_NS;
    pt_u64 passed_bytes = output ? output->passed_bytes : 0;
    const enum pt_launch_end how = watch->result->how;
    while (output && !pt_output_drain(output, pt_monotonic_ns()) && pt_monotonic_ns() < patience_ns &&
           watch->result->how == how && !watch->is_asked_to_end) {
        watch->drain_due_ns = patience_ns; /* a reader that has stopped wakes nobody */
        wait_for_something(watch);
        /* A reader that is only slow gets everything, unless the user interrupts. */
        if (output->passed_bytes != passed_bytes && how == PT_LAUNCH_ENDED)
            patience_ns = pt_monotonic_ns() + DRAIN_PATIENCE_NS;
        passed_bytes = output->passed_bytes;
    }
    watch->drain_due_ns = NEVER_NS;
    loop(watch); /* an end was requested in the meantime: end what the stage left */
}

static int start(struct watch *watch, struct pt_error *err)
{
    const struct pt_launch *launch = watch->launch;
    int fds[2];
    if (launch->output)
        pt_output_child_fds(launch->output, fds);
    const struct pt_child child = {launch->path, launch->argv, launch->environment, launch->cwd,
                                   launch->output ? fds : NULL};
    sigset_t early;
    struct pt_signals_seen seen = {0};
    sigemptyset(&early);
    if (!launch->signals)
        pt_signals_collect(watch->signals, &early);
    else
        pt_signals_read(watch->signals, 0, true, &seen);
    watch->result->end_signal = seen.end_signal;
    if (launch->cpu_profile)
        pt_cpu_profile_begin(launch->cpu_profile);
    watch->pid = pt_child_start(&child, &watch->signals->inherited, err);
    if (watch->pid < 0)
        return -1;
    if (launch->cpu_profile)
        pt_cpu_profile_started(launch->cpu_profile, watch->pid);
    pt_signals_deliver(&early, watch->pid);
    /* It reached the group, but the command was not in it yet. */
    if (seen.end_signal)
        end_tree(watch, PT_LAUNCH_INTERRUPTED, seen.end_signal);
    return 0;
}

static void say_why(struct watch *watch)
{
    struct pt_memory_kills now;
    struct pt_launch_result *result = watch->result;
    pt_memory_kills_read(&now, NULL, NULL);
    const struct pt_death death = {
        .wait_status = watch->wait_status,
        .group_kills = pt_memory_kills_in_groups(&watch->kills_before, &now),
        .machine_kills = now.machine - watch->kills_before.machine,
        .rss_max_bytes = result->samples->rss_max_bytes,
        .limit_bytes = pt_memory_limit_now(),
    };
    if (watch->abandoned)
        return;
    pt_status_text(watch->wait_status, result->exit, sizeof result->exit);
    pt_death_text(&death, result->why, sizeof result->why);
}

int pt_launch(const struct pt_launch *launch, struct pt_sampler *sampler, struct pt_launch_result *ret_result,
              struct pt_error *err)
{
    struct pt_signals own = {.fd = -1};
    if (!launch->signals && pt_signals_take(&own, err) < 0)
        return -1;
    *ret_result = (struct pt_launch_result){0};
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pt_sampler_begin(sampler);
    struct watch watch = {
        .launch = launch,
        .sampler = sampler,
        .signals = launch->signals ? launch->signals : &own,
        .start_ns = pt_monotonic_ns(),
        .stall = {.stall_ns = launch->stall_ns, .reader = launch->reader},
        .output_due_ns = NEVER_NS,
        .cpu_due_ns = launch->cpu_profile ? 0 : NEVER_NS,
        .status_due_ns = NEVER_NS,
        .drain_due_ns = NEVER_NS,
        .end_due_ns = NEVER_NS,
        .result = ret_result,
    };
    pt_stall_begin(&watch.stall, watch.start_ns);
    watch.last_sample_ns = ret_result->start_ns = watch.start_ns;
    watch.sample_due_ns = watch.start_ns + launch->interval_ns;
    watch.progress_due_ns = launch->progress ? watch.start_ns : NEVER_NS;
    pt_memory_kills_read(&watch.kills_before, NULL, NULL);
    const int started = start(&watch, err);
    if (started == 0) {
        loop(&watch);
        drain(&watch);
    }
    if (!launch->signals)
        pt_signals_release(&own);
    if (started < 0)
        return -1;
    ret_result->pid = watch.pid;
    ret_result->running = watch.abandoned;
    ret_result->wait_status = watch.wait_status;
    ret_result->duration_ns = watch.duration_ns;
    const pt_u64 ended_ns = watch.start_ns + watch.duration_ns;
    ret_result->stop_ns = watch.stopped_ns > ended_ns ? watch.stopped_ns - ended_ns : 0;
    ret_result->samples = pt_sampler_samples(sampler);
    say_why(&watch);
    return 0;
}
