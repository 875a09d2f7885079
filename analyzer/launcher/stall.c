/* SPDX-License-Identifier: MIT
 *
 * stall.c - Owns: what counts as moving. Threads: main only. Never: calls a command stuck that has a reason to be slow:
 * a pause between steps as long as three that it came back from is none.
 */
#include "stall.h"

#include <math.h>

#include "run_file/resources.h"
#include "util/clock.h"
#include "util/text/fmt.h"

/* A thread that looks at a clock now and then uses less. CPU time comes in ticks of 10 ms, so that of one short sample
 * is 0 or far more. */
static const double still_cpu_percent = 3;
#define LEAST_JUDGED_NS 400000000u

/* Samples that only grow while something moves, and the number of processes. Of a terminal, a pipe, and of what lives
 * and ends between two samples, they say nothing: the trace files do. */
static const int movements[] = {PT_RESOURCE_disk_read_bytes, PT_RESOURCE_disk_write_bytes, PT_RESOURCE_processes};
#define N_MOVEMENTS (sizeof movements / sizeof *movements)

/* Trace files of many processes cost more to read: then it is done less often, to stay at 1 % of a core. */
#define COST_FACTOR 100

#define PAUSES_LIKE_BEFORE 3

/* Of the last parts of steps. */
#define LEAST_WINDOW_NS 60000000000u
#define PAUSES_OF_WINDOW 20

static void begin_pause(struct pt_stall_watch *watch, pt_u64 now_ns)
{
    watch->moved_ns = now_ns;
    watch->is_told = false;
}

static void note_progress(struct pt_stall_watch *watch, pt_u64 now_ns)
{
    watch->progress_ns = now_ns;
    watch->is_asked = false;
    begin_pause(watch, now_ns);
}

void pt_stall_begin(struct pt_stall_watch *watch, pt_u64 now_ns)
{
    watch->steps.last_ns = watch->phases.last_ns = watch->sampled_ns = now_ns;
    note_progress(watch, now_ns);
}

void pt_stall_resume(struct pt_stall_watch *watch, pt_u64 now_ns)
{
    pt_stall_begin(watch, now_ns);
}

static void take_pace(struct pt_stall_pace *pace, bool is_first, pt_u64 now_ns)
{
    if (!is_first && now_ns - pace->last_ns > pace->longest_ns)
        pace->longest_ns = now_ns - pace->last_ns;
    pace->last_ns = now_ns;
}

static bool has_moved_since(const struct pt_launch_done *before, const struct pt_launch_done *now)
{
    return now->steps > before->steps || now->phases > before->phases || now->network_bytes > before->network_bytes ||
           now->written_bytes > before->written_bytes || now->images > before->images;
}

/* From the trace files, as a machine's network is everybody's. */
static bool has_done_more(struct pt_stall_watch *watch, pt_u64 now_ns)
{
    struct pt_launch_done done;
    if (!watch->reader.read_done || now_ns < watch->done_due_ns)
        return false;
    const pt_u64 before_ns = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const bool is_read = watch->reader.read_done(watch->reader.context, &done);
    const pt_u64 rest_ns = COST_FACTOR * (pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns);
    watch->done_due_ns = now_ns + (rest_ns < watch->stall_ns / 4 ? rest_ns : watch->stall_ns / 4);
    if (!is_read)
        return false;
    if (!watch->has_done)
        watch->first = watch->done = done;
    watch->has_done = true;
    const bool has_moved = has_moved_since(&watch->done, &done);
    if (done.steps > watch->done.steps)
        take_pace(&watch->steps, watch->done.steps == watch->first.steps, now_ns);
    if (done.phases > watch->done.phases)
        take_pace(&watch->phases, watch->done.phases == watch->first.phases, now_ns);
    watch->done = done;
    return has_moved;
}

static bool has_progress(struct pt_stall_watch *watch, const double *values, pt_u64 output_bytes)
{
    bool has_moved = output_bytes != watch->output_bytes;
    watch->output_bytes = output_bytes;
    for (size_t i = 0; i < N_MOVEMENTS; i++) {
        const double value = values[movements[i]];
        has_moved |= isfinite(value) && value != watch->values[i];
        watch->values[i] = value;
    }
    return has_moved;
}

static bool is_overdue(const struct pt_stall_watch *watch, const struct pt_stall_pace *pace, pt_u64 now_ns)
{
    const pt_u64 usual_ns = PAUSES_LIKE_BEFORE * pace->longest_ns;
    const pt_u64 patience_ns = usual_ns > watch->stall_ns ? usual_ns : watch->stall_ns;
    return now_ns - watch->progress_ns >= patience_ns;
}

/* Where steps are not marked, only phases are known. What computes between them may be no training any more; within
 * the parts of a step it is. Nothing moved since it was asked, so that the answer is the same. */
static bool hangs_in_step(struct pt_stall_watch *watch, pt_u64 now_ns)
{
    if (!watch->reader.is_in_step || watch->is_asked || watch->is_told || watch->done.phases == watch->first.phases ||
        !is_overdue(watch, &watch->phases, now_ns))
        return false;
    watch->is_asked = true;
    return watch->reader.is_in_step(watch->reader.context, now_ns - watch->progress_ns + LEAST_WINDOW_NS +
                                                               PAUSES_OF_WINDOW * watch->phases.longest_ns);
}

/* It made steps, and computes as long as never before without one. A GPU that is busy proves nothing: a kernel that
 * waits for other ranks keeps it so. */
static bool lacks_steps(struct pt_stall_watch *watch, pt_u64 now_ns)
{
    if (watch->done.steps > watch->first.steps)
        return is_overdue(watch, &watch->steps, now_ns);
    return hangs_in_step(watch, now_ns);
}

/* Of the samples since it was judged last. False: too short a time to say. */
static bool takes_cpu_percent(struct pt_stall_watch *watch, double percent, pt_u64 now_ns, double *ret_percent)
{
    const pt_u64 sample_ns = now_ns - watch->sampled_ns;
    watch->sampled_ns = now_ns;
    watch->judged_ns += sample_ns;
    watch->cpu_ns += isfinite(percent) ? percent / 100 * (double)sample_ns : 0;
    if (watch->judged_ns < LEAST_JUDGED_NS)
        return false;
    *ret_percent = 100 * watch->cpu_ns / (double)watch->judged_ns;
    watch->judged_ns = 0;
    watch->cpu_ns = 0;
    return true;
}

enum pt_stall pt_stall_check(struct pt_stall_watch *watch, const double *values, pt_u64 output_bytes, pt_u64 now_ns)
{
    if (!watch->stall_ns)
        return PT_STALL_NONE;
    const bool has_done = has_done_more(watch, now_ns), has_moved = has_progress(watch, values, output_bytes);
    double cpu_percent;
    const bool is_judged = takes_cpu_percent(watch, values[PT_RESOURCE_cpu_percent], now_ns, &cpu_percent);
    if (has_done || has_moved) {
        note_progress(watch, now_ns);
        return PT_STALL_NONE;
    }
    watch->has_used_gpu |= values[PT_RESOURCE_gpu_util_percent] > 0;
    if (!is_judged)
        return PT_STALL_NONE;
    const bool computes = cpu_percent > still_cpu_percent || watch->has_used_gpu;
    watch->has_used_gpu = false;
    enum pt_stall found = PT_STALL_NONE;
    if (computes && lacks_steps(watch, now_ns))
        found = PT_STALL_NO_STEP;
    else if (computes)
        begin_pause(watch, now_ns);
    else if (now_ns - watch->moved_ns >= watch->stall_ns)
        found = PT_STALL_STILL;
    if (found == PT_STALL_NONE || watch->is_told)
        return PT_STALL_NONE;
    /* What moved since the files were read last is no reason to say that nothing did. */
    watch->done_due_ns = 0;
    if (has_done_more(watch, now_ns)) {
        note_progress(watch, now_ns);
        return PT_STALL_NONE;
    }
    watch->is_told = true;
    return found;
}

void pt_launch_still_text(enum pt_launch_still why, pt_u64 ns, struct pt_str *out)
{
    static const char *const texts[] = {
        [PT_LAUNCH_STALLED] = "nothing has moved for ",
        [PT_LAUNCH_NO_STEP] = "although it computes, it made no step for longer than ",
        [PT_LAUNCH_ASKED] = "SIGQUIT asked where it is",
        [PT_LAUNCH_TIMES_OUT] = "still running after ",
    };
    pt_str_add(out, texts[why]);
    if (why != PT_LAUNCH_ASKED)
        pt_str_add(out, pt_fmt_duration((pt_i64)ns).text);
}
