/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about objects that are handed from process to process, and what that costs. Threads: one. Never:
 * counts what a process computes with them, or the polls of those who wait for them.
 */
#include <math.h>
#include <string.h>

#include "custom.h"
#include "facts/python/frames.h"
#include "util/text/path.h"
#include "general.h"
#include "pickling.h"

/* In these files of Python's library is pickled, sent, received and unpickled; joblib has them under the same names. */
static bool is_of_transfer(const struct pt_stack_frame *frame)
{
    static const char *const files[] = {"connection.py", "reduction.py", "queues.py"};
    if (!pt_python_in_multiprocessing(frame->file) && !strstr(frame->file, "/loky/"))
        return false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!strcmp(pt_base_name(frame->file), files[i]))
            return true;
    return false;
}

/* "_poll" of "Connection._poll", as of "_poll": older versions of Python do not name the class. */
static bool is_of_polling(const struct pt_stack_frame *frame)
{
    static const char *const names[] = {"wait", "poll", "_poll", "empty"};
    const char *dot = strrchr(frame->function, '.'), *name = dot ? dot + 1 : frame->function;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* Of multiprocessing, one that begins so. */
static bool is_file(const struct pt_stack_frame *frame, const char *begin)
{
    const char *name = pt_python_in_multiprocessing(frame->file);
    return name && !strncmp(name, begin, strlen(begin));
}

/* A pool's own code does nothing by itself but free what it has handed on. */
static bool is_of_pool(const struct pt_stack_frame *frame)
{
    static const char *const names[] = {"worker", "Pool._handle_tasks", "Pool._handle_results", "_handle_tasks",
                                        "_handle_results"};
    const bool is_there = is_file(frame, "pool.py");
    for (size_t i = 0; is_there && i < sizeof names / sizeof *names; i++)
        if (!strcmp(frame->function, names[i]))
            return true;
    return false;
}

static bool is_transfer(const struct pt_stack *stack)
{
    bool is = false, is_innermost = true;
    for (pt_u32 i = 0; i < stack->n; i++) {
        const struct pt_stack_frame *frame = &stack->frames[i];
        if (!(frame->flags & PT_FRAME_OF_PYTHON) || !frame->file)
            continue;
        is |= is_innermost && is_of_pool(frame);
        is_innermost = false;
        if (!is_of_transfer(frame))
            continue;
        if (is_of_polling(frame))
            return false;
        is = true;
    }
    return is;
}

struct pt_pickling pt_pickling_of(const struct pt_profile *profile, pt_i64 stage)
{
    struct pt_pickling sum = {0};
    double all_fault_s = 0;
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage != stage)
            continue;
        all_fault_s += stack->cost[PT_STACK_FAULT_S];
        if (!(stack->cost[PT_STACK_CPU_S] > 0) || !is_transfer(stack))
            continue;
        sum.cpu_s += stack->cost[PT_STACK_CPU_S];
        sum.main_s += stack->cost[PT_STACK_CPU_S] - stack->cost[PT_STACK_IN_WORKER_S]; /* a pool has threads for it */
        sum.fault_s += stack->cost[PT_STACK_FAULT_S];
    }
    sum.fault_percent = all_fault_s > 0 ? 100 * sum.fault_s / all_fault_s : 0;
    return sum;
}

/* Who starts one pickles for it in _launch of popen_spawn_posix.py or popen_forkserver.py; it unpickles in _main of
 * spawn.py, which also imports the main module, in functions of its own. */
static bool is_start(const struct pt_stack *stack)
{
    bool is_innermost = true, pickles = false;
    for (pt_u32 i = 0; i < stack->n; i++) {
        const struct pt_stack_frame *frame = &stack->frames[i];
        if (!(frame->flags & PT_FRAME_OF_PYTHON) || !frame->file)
            continue;
        if (is_innermost && is_file(frame, "spawn.py") && !strcmp(frame->function, "_main"))
            return true;
        is_innermost = false;
        pickles |= is_of_transfer(frame);
        if (pickles && is_file(frame, "popen_") && strstr(frame->function, "_launch"))
            return true;
    }
    return false;
}

#define LEAST_PICKLING 0.15

double pt_pickling_at_start_s(const struct pt_profile *profile, pt_i64 stage, double waited_s)
{
    double s = 0;
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage == stage && stack->cost[PT_STACK_CPU_S] > 0 && is_start(stack))
            s += stack->cost[PT_STACK_CPU_S];
    }
    return s >= LEAST_PICKLING * waited_s ? s : 0;
}

/* What others do beside a main thread that does not wait for them costs nothing. */
static double waited_s(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    static const enum pt_time_part waits[] = {PT_PART_data_wait, PT_PART_workers,    PT_PART_lock,
                                              PT_PART_gil_wait,  PT_PART_child_wait, PT_PART_network};
    double s = 0;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        s += pt_finding_number_or_0(finding, metrics, pt_time_parts[waits[i]].metric);
    return s;
}

/* By the thousand, and each a few hundred bytes: what is handed over is small, and there is too much of it. */
static bool are_tiny(const struct pt_profile *profile, pt_i64 stage)
{
    enum { FEWEST_MESSAGES = 5000, TINY_BYTES = 1024 };
    const struct pt_table *files = pt_view_rows(&profile->metrics, (pt_u32)stage, PT_VIEW_files);
    for (size_t i = 0; files && i < files->n_rows; i++) {
        const char *path = pt_value_label(pt_table_cell(files, i, "path"));
        const double writes = pt_table_number(files, i, "writes");
        if (path && !strcmp(path, "(pipes)") && writes >= FEWEST_MESSAGES)
            return pt_table_number(files, i, "written_bytes") < TINY_BYTES * writes;
    }
    return false;
}

static void say_that_they_are_tiny(struct pt_finding *finding)
{
    finding->title = "Work is handed to processes in tiny pieces: that takes longer than the work";
    finding->remedy = "larger pieces: chunksize=100 or more in map and imap, or a list of items for each task";
    finding->advice =
        "Each piece is pickled, sent through a pipe, unpickled, and its result comes back the same way, some 20 us and "
        "more however small it is: let each piece take milliseconds. Pool.map chooses a chunksize itself if it is not "
        "given one; imap, imap_unordered and ProcessPoolExecutor.map take 1 unless they are told otherwise; with "
        "apply_async and "
        "submit hand over a list of items.";
}

bool pt_rule_pickled_data(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    if (stage < 0)
        return false;
    const struct pt_pickling pickling = pt_pickling_of(profile, stage);
    /* Not divided by the workers: those of a pool have one pipe for all tasks and one for all results, and take turns
     * there. */
    finding->gain_upper_s = fmin(pickling.cpu_s, pickling.main_s + waited_s(finding, metrics));
    if (!(finding->gain_upper_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    if (are_tiny(profile, stage))
        say_that_they_are_tiny(finding);
    pt_finding_add_evidence(finding, "pickling_s", pt_real(pickling.cpu_s));
    pt_finding_add_evidence(finding, "page_fault_cpu_s", pt_real(pickling.fault_s));
    pt_finding_add_metrics(
        finding, metrics,
        "cpu_s:cpu.total_s workers:helpers.workers.at_once workers_wait_s:helpers.wait_s where:place");
    return true;
}
