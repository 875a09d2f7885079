/* SPDX-License-Identifier: MIT
 *
 * launcher.c - Owns: how a launcher is known again. Threads: main for noting, any for the rest. Never: takes an equal
 * pid alone for the same process.
 */
#include "launcher.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/process_stat.h"
#include "util/small_file.h"

enum { TEXT_BYTES = 48 };

static void read_pid_namespace(char text[static TEXT_BYTES])
{
    const ssize_t n = readlink("/proc/self/ns/pid", text, TEXT_BYTES - 1);
    text[n > 0 ? n : 0] = 0;
}

/* In ticks of the clock since the boot: with the pid it is of one process only. NAN = there is none. */
static double start_of(double pid)
{
    struct pt_process_stat stat;
    if (!(pid > 0 && pid < INT32_MAX) || !pt_process_stat_of((pid_t)pid, &stat) || !pt_process_is_living(&stat))
        return NAN;
    return (double)stat.start_ticks;
}

void pt_run_launcher_note(struct pt_run_launcher *ret_launcher)
{
    static char boot_id[TEXT_BYTES], pid_namespace[TEXT_BYTES];
    pt_boot_id(boot_id, TEXT_BYTES);
    read_pid_namespace(pid_namespace);
    *ret_launcher = (struct pt_run_launcher){
        .pid = getpid(),
        .start_ticks = start_of(getpid()),
        .boot_id = *boot_id ? boot_id : NULL,
        .pid_namespace = *pid_namespace ? pid_namespace : NULL,
    };
}

static pid_t over_pid; /* of this process, or of the one that it was forked from */

void pt_run_launcher_over(void)
{
    over_pid = getpid();
}

static bool is_recent(pt_u64 realtime_ns)
{
    const double age_ns = (double)(pt_i64)(pt_clock_ns(CLOCK_REALTIME) - realtime_ns);
    return fabs(age_ns) < PT_MOST_QUIET_NS; /* the clock of another machine may be ahead */
}

/* Written every ten seconds or so, after long ones of a run with many samples less often. A copy is as new as the
 * copying. */
static bool was_just_written(const struct pt_run_info *run)
{
    return is_recent(run->changed_realtime_ns) && (!run->written_realtime_ns || is_recent(run->written_realtime_ns));
}

enum pt_run_launcher_state pt_run_launcher_state(const struct pt_run_info *run)
{
    const struct pt_run_launcher *launcher = &run->launcher;
    char boot_id[TEXT_BYTES], pid_namespace[TEXT_BYTES];
    if (!launcher->boot_id || !launcher->pid_namespace || isnan(launcher->start_ticks))
        return PT_RUN_LAUNCHER_UNKNOWN;
    pt_boot_id(boot_id, TEXT_BYTES);
    read_pid_namespace(pid_namespace);
    if (strcmp(boot_id, launcher->boot_id) != 0 || strcmp(pid_namespace, launcher->pid_namespace) != 0)
        return was_just_written(run) ? PT_RUN_LAUNCHER_WRITES_ELSEWHERE : PT_RUN_LAUNCHER_SILENT_ELSEWHERE;
    if (over_pid && launcher->pid == over_pid)
        return PT_RUN_LAUNCHER_GONE;
    return start_of(launcher->pid) == launcher->start_ticks ? PT_RUN_LAUNCHER_LIVES : PT_RUN_LAUNCHER_GONE;
}
