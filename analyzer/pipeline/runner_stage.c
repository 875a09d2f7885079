/* SPDX-License-Identifier: MIT
 *
 * runner_stage.c - Owns: one stage: its environment, its log, its sampler, its end. Threads: main only. Never: touches
 * a process that an earlier stage left.
 */
#include "runner_stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "cpu_profile/cpu_profile.h"
#include "launcher/environment.h"
#include "launcher/output/output.h"
#include "launcher/ring_space.h"
#include "sampler/process_tree.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/small_file.h"
#include "util/text/fmt.h"
#include "util/text/redact.h"
#include "util/text/sanitize.h"
#include "util/whole.h"
#include "stage_command.h"
#include "util/text/posix_names.h"

#define SETTLE_ROUNDS 10
#define SETTLE_NS 20000000

extern char **environ;

static void note(struct pt_runner *runner, const struct pt_run_stage *stage, const char *text)
{
    pt_runner_note(runner, pt_runner_format(runner, "stage '%s': %s", stage->name, text));
}

/* 0 = no limit. */
static pt_u64 timeout_ns(const struct pt_runner *runner, size_t index)
{
    const double timeout_s = runner->request->plan->items[index].stage->timeout_s;
    return isnan(timeout_s) ? 0 : pt_whole(timeout_s * 1e9);
}

/* ---- what the stage gets ---- */

static bool has_variable(const struct pt_config_pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (!strcmp(pairs->items[i].name, name))
            return true;
    return false;
}

static char **stage_environment(const struct pt_runner *runner, const struct pt_planned *planned, struct pt_error *err)
{
    const struct pt_config_pairs *users = &planned->stage->env;
    const bool preload = runner->request->library && planned->target.preload;
    PT_AUTO(pt_freep) struct pt_variable *more = pt_calloc(users->n + 2, sizeof *more);
    /* Existing stage programs read the first name; the second one is ours. */
    more[0] = (struct pt_variable){"PIPELINE_CONFIG", runner->isolated.config_path};
    more[1] = (struct pt_variable){"PROFTRACE_PIPELINE_CONFIG", runner->isolated.config_path};
    for (size_t i = 0; i < users->n; i++)
        more[i + 2] = (struct pt_variable){users->items[i].name, users->items[i].value};
    const struct pt_environment_request wanted = {
        .library = preload ? runner->request->library : NULL,
        .session = preload ? runner->request->dir->path : NULL,
        /* What is said of one stage is nearer than what is said of all. */
        .heap = preload && !has_variable(users, "PROFTRACE_HEAP") ? runner->request->config->heap : NULL,
        .stage = preload ? planned->stage->name : NULL,
        .more = more,
        .n_more = users->n + 2,
    };
    return pt_environment_make(environ, &wanted, err);
}

static char **stage_command(const struct pt_runner *runner, const struct pt_config_stage *stage)
{
    const struct pt_config *config = runner->request->config;
    const struct pt_stage_tokens tokens = {
        .config = runner->isolated.config_path,
        .dataset = config->dataset,
        .report_dir = config->report_dir ? config->report_dir : runner->request->dir->path,
        .train_epochs = config->train_epochs,
    };
    return pt_stage_command(stage->command, &tokens);
}

/* ---- how it ended ---- */

/* The command line as people write it, secrets blotted out; the name where there is none. */
static char *command_of(pid_t pid)
{
    char text[4096];
    const ssize_t n = pt_small_file_peek(text, sizeof text, "/proc/%d/cmdline", pid);
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    struct pt_redact_line so_far = {0};
    for (const char *word = text; word < text + (n > 0 ? n : 0); word += strlen(word) + 1) {
        PT_AUTO(pt_freep) char *shown = pt_redacted(word, &so_far);
        pt_str_printf(&line, "%s%s", word > text ? " " : "", shown ? shown : PT_REDACT_MASK);
    }
    return line.n ? pt_strdup(pt_str_text(&line)) : NULL;
}

static pt_u64 mark_of_living(const struct pt_tree *tree)
{
    pt_u64 mark = 0;
    for (size_t i = 0; i < tree->n; i++)
        if (tree->entries[i].ownership == PT_PROCESS_OURS && pt_process_is_living(&tree->entries[i].now))
            mark = mark * 31 + (pt_u64)tree->entries[i].pid;
    return mark;
}

/* A daemon forks twice: the first scan would list the process in between, which is about to end. */
static void settle(struct pt_tree *tree)
{
    pt_u64 before = 0, mark = mark_of_living(tree);
    for (int round = 0; round < SETTLE_ROUNDS && mark != before; round++) {
        nanosleep(&(struct timespec){0, SETTLE_NS}, NULL);
        pt_tree_scan(tree);
        before = mark;
        mark = mark_of_living(tree);
    }
}

/* What is still there belongs to the stage, and stays: a daemon was started on purpose. */
static void list_left(struct pt_runner *runner, struct pt_run_stage *stage, struct pt_stage_run *run)
{
    struct pt_tree *tree = pt_sampler_tree(run->sampler);
    pt_tree_scan(tree); /* processes that were just ending are gone now */
    settle(tree);
    run->left = pt_calloc(tree->n, sizeof *run->left);
    for (size_t i = 0; i < tree->n; i++) {
        const struct pt_tree_entry *entry = &tree->entries[i];
        if (entry->ownership != PT_PROCESS_OURS || !pt_process_is_living(&entry->now))
            continue;
        run->left[run->n_left++] = (struct pt_run_left){entry->pid, command_of(entry->pid)};
    }
    stage->left = run->left;
    stage->n_left = run->n_left;
    if (run->n_left)
        note(runner, stage,
             pt_runner_format(runner, "%u %s still running when it ended, and %s left alone: %s%s", run->n_left,
                              run->n_left == 1 ? "process was" : "processes were", run->n_left == 1 ? "was" : "were",
                              run->left[0].command ? run->left[0].command : "?", run->n_left > 1 ? " ..." : ""));
}

/* How the tree of a stage that had to end did so. The time after the command's own end is in no duration. */
static const char *killed_text(struct pt_runner *runner, const struct pt_launch_result *result)
{
    enum { LEAST_REPORTED_STOP_NS = 50 * 1000 * 1000 };
    const char *how = result->n_killed ? "; not all of its processes ended when asked, and were killed" : "";
    if (result->n_survivors)
        how = pt_runner_format(runner, "; %u process%s could not be ended", result->n_survivors,
                               result->n_survivors == 1 ? "" : "es");
    if (result->stop_ns < LEAST_REPORTED_STOP_NS)
        return how;
    return pt_runner_format(runner, "%s; until they were gone it took another %s", how,
                            pt_fmt_duration((pt_i64)result->stop_ns).text);
}

static const char *keep_stacks(struct pt_runner *runner)
{
    const char *stacks = runner->request->stacks(runner->request->look_context);
    return *stacks ? pt_runner_format(runner, "%s", stacks) : NULL;
}

/* As its core dump has it; "" = it left none that can be found and read. */
static const char *where_it_died(struct pt_runner *runner, size_t index)
{
    const struct pt_runner_request *request = runner->request;
    const struct pt_launch_result *result = &runner->runs[index].result;
    const char *cwd = request->plan->items[index].stage->cwd, *where = "";
    if (WIFSIGNALED(result->wait_status) && WCOREDUMP(result->wait_status))
        where =
            request->look_at_core(request->look_context, runner->run.stages[index].name, result->pid, cwd ? cwd : ".");
    if (*where)
        runner->run.stages[index].stacks = keep_stacks(runner);
    return where;
}

static const char *why_it_failed(struct pt_runner *runner, size_t index)
{
    const struct pt_launch_result *result = &runner->runs[index].result;
    const char *where = where_it_died(runner, index);
    return *where ? pt_runner_format(runner, "%s: %s", result->why, where) : result->why;
}

static void judge(struct pt_runner *runner, size_t index)
{
    struct pt_run_stage *stage = &runner->run.stages[index];
    const struct pt_launch_result *result = &runner->runs[index].result;
    if (result->end_signal) /* however the stage ended: we were asked to end */
        runner->end_signal = result->end_signal;
    if (result->how == PT_LAUNCH_TIMED_OUT) {
        stage->status = "timeout";
        stage->reason =
            pt_runner_format(runner, "still running after %s: it was ended%s%s%s",
                             pt_fmt_duration((pt_i64)timeout_ns(runner, index)).text, killed_text(runner, result),
                             stage->stuck ? "; " : "", stage->stuck ? stage->stuck : "");
    } else if (result->how == PT_LAUNCH_INTERRUPTED) {
        stage->status = "failed";
        const char *where = stage->stuck ? stage->stuck : where_it_died(runner, index);
        stage->reason =
            pt_runner_format(runner, "interrupted (SIG%s): it was ended%s%s%s", pt_signal_name(result->end_signal),
                             killed_text(runner, result), *where ? "; " : "", where);
    } else if (pt_status_is_success(result->wait_status)) {
        stage->status = "ok";
    } else {
        stage->status = "failed";
        stage->reason = why_it_failed(runner, index);
    }
}

static void fail(struct pt_runner *runner, struct pt_run_stage *stage, const struct pt_error *err)
{
    stage->status = "failed";
    stage->reason = pt_runner_format(runner, "%s", err->text);
}

/* ---- running it ---- */

struct progress {
    struct pt_runner *runner;
    size_t index;
};

/* What is known of its command by now. */
static void take_result(const struct progress *progress)
{
    struct pt_run_stage *stage = &progress->runner->run.stages[progress->index];
    const struct pt_launch_result *result = &progress->runner->runs[progress->index].result;
    pt_run_stage_take(stage, result, progress->runner->request->dir);
    pt_run_take_gpus(&progress->runner->run, result->samples);
}

static void report_progress(void *context)
{
    const struct progress *progress = context;
    take_result(progress);
    pt_runner_record(progress->runner);
    pt_ring_space_return(progress->runner->request->dir);
}

static void say_look(struct pt_runner *runner, const char *stage, const char *heading, const char *found)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_sanitize_terminal(&text, stage);
    pt_str_printf(&text, ": %s%s%s", heading, *found ? ": " : "", found);
    pt_status_line_say(&runner->status_line, pt_str_text(&text), pt_monotonic_ns());
}

/* A stage that is slow is ended, or not: that is the configuration's. Why it is slow, its stacks say. */
static void look_at_stage(void *context, pid_t pid, enum pt_launch_still why)
{
    const struct progress *progress = context;
    struct pt_runner *runner = progress->runner;
    const struct pt_runner_request *request = runner->request;
    struct pt_run_stage *stage = &runner->run.stages[progress->index];
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const pt_u64 ns = why == PT_LAUNCH_TIMES_OUT ? timeout_ns(runner, progress->index) : request->stall_ns;
    pt_launch_still_text(why, ns, &text);
    const char *heading = pt_str_text(&text);
    const bool is_asked = why == PT_LAUNCH_ASKED || why == PT_LAUNCH_TIMES_OUT;
    bool is_new = false;
    const char *found = request->look(request->look_context, stage->name, pid, heading, is_asked, &is_new);
    if (!found)
        return;
    if (is_new && !runner->status_line.silent)
        say_look(runner, stage->name, heading, found);
    stage->stuck = *found ? pt_runner_format(runner, "%s", found) : NULL;
    stage->stacks = keep_stacks(runner);
    note(runner, stage,
         pt_runner_format(runner, "%s%s%s; stacks.txt has the stacks of all its threads", heading, *found ? ": " : "",
                          found));
}

static int launch(struct pt_runner *runner, size_t index, struct pt_output *output, struct pt_error *err)
{
    const struct pt_planned *planned = &runner->request->plan->items[index];
    struct pt_run_stage *stage = &runner->run.stages[index];
    struct pt_stage_run *run = &runner->runs[index];
    const struct pt_sampler_options looking = {.no_gpu = !runner->request->config->gpu_sampling};
    PT_AUTO(pt_environment_freep) char **environment = stage_environment(runner, planned, err);
    run->argv = stage_command(runner, planned->stage);
    run->sampler = pt_sampler_new(&looking, err);
    if (!environment || !run->sampler)
        return -1;
    stage->command = (const char **)run->argv;
    stage->status = stage->reason = NULL;
    struct progress progress = {runner, index};
    PT_AUTO(pt_cpu_profile_freep)
    struct pt_cpu_profile *cpu_profile = pt_cpu_profile_new(runner->request->dir->fd, (pt_u32)index);
    static const struct pt_launch_reader no_reader;
    const struct pt_launch what = {
        .path = planned->target.path,
        .argv = run->argv,
        .environment = environment,
        .cwd = planned->stage->cwd,
        .interval_ns = runner->request->config->interval_ns,
        .signals = runner->request->signals,
        .output = output,
        .status_line = &runner->status_line,
        .timeout_ns = timeout_ns(runner, index),
        .cpu_profile = cpu_profile,
        .progress = report_progress,
        .progress_context = &progress,
        .still = runner->request->look ? look_at_stage : NULL,
        .still_context = &progress,
        .stall_ns = runner->request->stall_ns,
        .reader = planned->target.preload ? runner->request->reader : no_reader,
    };
    /* Before it runs: that it is not reached would be wrong from then on, however soon we are killed. */
    stage->start_ns = (double)pt_runner_now_ns(runner);
    pt_run_take_target(&runner->run, stage->name, &planned->target);
    pt_runner_record(runner);
    const int launched = pt_launch(&what, run->sampler, &run->result, err);
    if (launched == 0)
        take_result(&progress);
    if (pt_cpu_profile_note(cpu_profile))
        note(runner, stage, pt_cpu_profile_note(cpu_profile));
    return launched;
}

static void note_output(struct pt_runner *runner, const struct pt_run_stage *stage, const struct pt_output *output)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_output_notes(output, &text);
    if (text.n)
        note(runner, stage, pt_str_text(&text));
}

void pt_runner_stage(struct pt_runner *runner, size_t index)
{
    struct pt_run_stage *stage = &runner->run.stages[index];
    struct pt_stage_run *run = &runner->runs[index];
    struct pt_error err = {0};
    struct pt_output output;
    const pt_u64 begin_ns = pt_monotonic_ns();
    if (pt_output_open(&output, runner->logs_fd, stage->name, &err) < 0) {
        fail(runner, stage, &err);
        return;
    }
    output.status_line = &runner->status_line;
    stage->log = pt_runner_format(runner, "logs/%s", output.log.name);
    pt_status_line_begin(&runner->status_line, stage->name, (unsigned)index + 1, runner->run.n_stages, begin_ns);
    const bool is_launched = launch(runner, index, &output, &err) == 0;
    if (is_launched) {
        judge(runner, index);
        list_left(runner, stage, run);
    } else {
        runner->end_signal = run->result.end_signal;
        pt_run_drop_target(&runner->run, stage->name);
        fail(runner, stage, &err);
    }
    /* Its files and helpers are not the next stage's. */
    if (run->sampler)
        pt_sampler_stop(run->sampler);
    pt_output_finish(&output);
    note_output(runner, stage, &output);
    const char *ended = stage->reason ? pt_runner_format(runner, "%s: %s", stage->status, stage->reason) : "ok";
    /* What reports say, not what the end of its tree took besides. */
    pt_status_line_end(&runner->status_line, ended,
                       is_launched ? begin_ns + run->result.duration_ns : pt_monotonic_ns());
}

void pt_runner_stage_fini(struct pt_stage_run *run)
{
    for (pt_u32 i = 0; i < run->n_left; i++)
        free((void *)(size_t)run->left[i].command);
    free(run->left);
    free(run->argv);
    pt_sampler_free(run->sampler);
}
