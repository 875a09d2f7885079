/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about short commands, by the hundred or for each sample. Threads: one. Never: complains of what the
 * training does not wait for.
 */
#include <math.h>

#include "rules/conditions.h"
#include "rules/custom.h"
#include "rules/finding_stacks.h"
#include "own_lines.h"

/* Of a line: what it does on a CPU, in calls that were sampled from outside, and in those that Python's places name.
 * The latter two are of the same time. */
enum { ON_CPU, SAMPLED, PLACED, KINDS, IN_COMMANDS = KINDS };

static void add_samples(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    static const struct pt_code_pattern commands[] = {
        {"/subprocess.py", ""}, {NULL, "os_system"}, {"os.py", "popen"}, {NULL, NULL}};
    const double in_loader_s =
        pt_is_in_loader(stack) ? stack->cost[PT_STACK_FETCH_S] + stack->cost[PT_STACK_MAIN_CALL_S] : 0;
    const double s = fmax(stack->cost[PT_STACK_WORKER_S], in_loader_s);
    if (!(s > 0))
        return;
    const bool is_command = pt_line_calls(stack, commands);
    if (!is_command && PT_PARTS_OF_IDLE_WORKERS >> stack->part & 1)
        return;
    const int kind = stack->part >= PT_PART__COUNT                 ? ON_CPU
                     : stack->frames[0].flags & PT_FRAME_OF_PYTHON ? PLACED
                                                                   : SAMPLED;
    sums[kind] += s;
    sums[IN_COMMANDS + kind] += is_command ? s : 0;
}

static void add_sums(double to[PT_LINE_SUMS], const double from[PT_LINE_SUMS])
{
    for (int i = 0; i < PT_LINE_SUMS; i++)
        to[i] += from[i];
}

static double in_commands_s(const double sums[PT_LINE_SUMS], bool is_placed)
{
    return sums[IN_COMMANDS + ON_CPU] + sums[IN_COMMANDS + (is_placed ? PLACED : SAMPLED)];
}

/* What making samples took in commands, and besides. A fork that lets its caller wait is in neither. */
struct samples {
    double in_commands_s, besides_s;
};

/* With the line that runs most of the commands. */
static struct samples samples_of(const struct pt_profile *profile, pt_i64 stage, struct pt_own_line *ret_line)
{
    double all[PT_LINE_SUMS] = {0}, most_s = 0;
    struct pt_own_lines lines;
    pt_own_lines(profile, stage, add_samples, &lines);
    for (size_t i = 0; i < lines.n; i++)
        add_sums(all, lines.items[i].sums);
    const bool is_placed = all[PLACED] > 0;
    for (size_t i = 0; i < lines.n; i++) {
        const double s = in_commands_s(lines.items[i].sums, is_placed);
        if (s > most_s)
            *ret_line = lines.items[i];
        most_s = fmax(most_s, s);
    }
    pt_own_lines_free(&lines);
    const double in_s = in_commands_s(all, is_placed);
    return (struct samples){in_s, all[ON_CPU] + all[is_placed ? PLACED : SAMPLED] - in_s};
}

/* What the training waits for its samples. */
static double waits_s(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const enum pt_worker_complaint complaint = pt_worker_complaint(profile, finding);
    const bool is_slow =
        complaint == PT_WORKERS_WAIT_FOR_FILES || complaint == PT_WORKERS_COMPUTE || complaint == PT_WORKERS_TOO_FEW;
    return fmax(is_slow ? pt_finding_number_or_0(finding, metrics, "helpers.wait_s") : 0,
                pt_steps_wait_for_data(profile, finding)
                    ? pt_finding_number_or_0(finding, metrics, "training.waits.cost_s")
                    : 0);
}

bool pt_rule_command_of_each_sample(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_own_line line = {0};
    const double wait_s = waits_s(profile, finding);
    const struct samples samples = wait_s > 0 ? samples_of(profile, stage, &line) : (struct samples){0};
    if (!line.file || samples.in_commands_s < samples.besides_s)
        return false;
    const double workers = fmax(pt_finding_number_or_0(finding, &profile->metrics, "training.workers.count"), 1);
    const double share = samples.in_commands_s / (samples.in_commands_s + samples.besides_s);
    finding->gain_upper_s = fmax(wait_s - samples.besides_s / workers, share * wait_s);
    finding->is_wait = true;
    pt_finding_is_of_line(finding, &line);
    pt_finding_add_evidence(finding, "of_loading_percent", pt_real(100 * share));
    pt_finding_add_metrics(finding, &profile->metrics,
                           "wait_s:child.wait_s workers:training.workers.count data_set:training.data_set "
                           "samples_per_s:training.samples_per_s");
    pt_finding_add_rows(finding, &profile->metrics, "child.commands", "total_s");
    return true;
}

bool pt_rule_many_short_commands(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    enum { FEWEST = 200 };
    struct pt_metrics *metrics = &profile->metrics;
    if (stage < 0 || !(pt_finding_number(finding, metrics, "child.short.calls") >= FEWEST))
        return false;
    finding->gain_upper_s = pt_finding_number(finding, metrics, "child.short.wait_s");
    if (pt_finding_number(finding, metrics, "child.short.python_percent") >= 50) {
        finding->place_kind = PT_PLACE_WAIT;
        finding->title = "Short commands are started by the hundred, one after another";
        finding->remedy = "do it in the process itself (shutil, hashlib, os), or hand all files to one command";
        finding->advice =
            "To start a command costs milliseconds, what it does much less: call a library instead (shutil.copyfile "
            "for "
            "cp, hashlib for md5sum, os and glob for ls and find, gzip, zipfile, re), or start one command for all of "
            "them.";
    }
    pt_finding_add_metrics(finding, metrics,
                           "commands:child.short.calls mean_s:child.short.mean_s wait_s:child.short.wait_s");
    pt_finding_add_rows(finding, metrics, "child.short_commands", "lived_s");
    return true;
}
