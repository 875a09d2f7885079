/* SPDX-License-Identifier: MIT
 *
 * pipeline.c - Owns: `proftrace pipeline`: configuration, plan, run, reports, exit code. Threads: main only. Never:
 * prints to stdout while stages run; it is theirs.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proftrace/heap_modes.h"
#include "launcher/child.h"
#include "launcher/environment.h"
#include "launcher/library.h"
#include "options/option_values.h"
#include "pipeline/config_read.h"
#include "pipeline/runner.h"
#include "regression/baseline.h"
#include "report/copy.h"
#include "report/github.h"
#include "report/write.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "apart.h"
#include "cmd.h"
#include "comparison/show_check.h"
#include "quality/grade_report.h"
#include "stuck/done.h"
#include "stuck/stuck.h"
#include "arguments/keep.h"
#include "arguments/options.h"
#include "arguments/switches.h"

enum { EXIT_STAGE_FAILED = 1, EXIT_USAGE = 2, EXIT_QUALITY = 5 };

static const char default_config[] = "config.json";

struct request {
    const char *config, *baseline_file;
    cJSON *baseline; /* NULL = none was named */
    struct pt_config_overrides overrides;
    int ci; /* index into ci_forms, 0 = not given */
    pt_u64 stall_s;
    struct pt_keep keep;
    bool dry_run, keep_temp;
};

enum { CI_AUTO, CI_GITHUB, CI_NONE };

/* Now, so that a mistake is not told after hours of training, and only now: a pipe can be read only once. */
static int read_baseline(struct request *request, struct pt_error *err)
{
    if (request->baseline_file)
        request->baseline = pt_baseline_read(request->baseline_file, false, err);
    return request->baseline_file && !request->baseline ? -1 : 0;
}

static void request_fini(struct request *request)
{
    pt_baseline_freep(&request->baseline);
}

/* 0 = parsed, 1 = help was printed, -1 = error. */
static int parse(int argc, char **argv, struct request *request, struct pt_error *err)
{
    struct pt_config_overrides *o = &request->overrides;
    const struct pt_opt table[] = {
        PT_OPT_TEXT("config", 'c', &request->config, "FILE", "the pipeline's configuration (default: config.json)"),
        PT_OPT_TEXT("dataset", 0, &o->dataset, "NAME", "profile on this data set"),
        PT_OPT_TEXT("train-epochs", 0, &o->train_epochs, "N", "train for so many epochs"),
        PT_OPT_FLAG("no-gpu-sampling", 0, &o->no_gpu_sampling, "do not look at GPUs"),
        PT_OPT_TEXT("report-dir", 0, &o->report_dir, "DIR", "put the reports there too"),
        PT_OPT_TEXT("default-report-dir", 0, &o->default_report_dir, "DIR",
                    "the same, where the configuration has no report_dir"),
        PT_OPT_TEXT("only", 0, &o->stages.only, "S,..", "run only these stages"),
        PT_OPT_TEXT("skip", 0, &o->stages.skip, "S,..", "leave these stages out"),
        PT_OPT_TEXT("from", 0, &o->stages.from, "S", "begin with this stage"),
        PT_OPT_TEXT("interval", 0, &o->interval, "MS", "time between samples (default: 500)"),
        PT_OPT_TEXT("heap", 0, &o->heap, PT_HEAP_MODES, "how to record heap calls (default: sampled)"),
        PT_OPT_COUNT("stall", 0, &request->stall_s, "SECONDS",
                     "when nothing of a stage has moved for so long, say where it hangs"),
        PT_OPT_KEEP(&request->keep),
        PT_OPT_FLAG("dry-run", 'n', &request->dry_run, "show what would run, and run nothing"),
        PT_OPT_FLAG("keep-temp", 0, &request->keep_temp, "keep the temporary configuration"),
        PT_OPT_TEXT("baseline", 0, &request->baseline_file, "FILE",
                    "afterwards, check the run against this baseline (proftrace check)"),
        PT_OPT_CHOICE("ci", 0, &request->ci, "auto|github|none",
                      "say results the way a CI system shows (default: auto)"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 0, .max = 0};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done;
    if (pt_keep_apply(&request->keep, err) < 0)
        return -1;
    if (!request->config && access(default_config, F_OK) < 0)
        return pt_fail_code(err, EXIT_USAGE, "no configuration; name it with --config FILE");
    if (!request->config)
        request->config = default_config;
    return read_baseline(request, err);
}

static bool wants_github(const struct request *request)
{
    const char *there = getenv("GITHUB_ACTIONS");
    return request->ci == CI_GITHUB || (request->ci == CI_AUTO && there && !strcmp(there, "true"));
}

/* ---- afterwards ---- */

struct outcome {
    bool reported, is_copy_missing;
    int checked; /* the exit code of the check against a baseline */
    struct pt_self_check check;
    struct pt_str summary, headlines, annotations;
};

/* A grade report that the configuration does not name is searched for among the files that the pass over the events
 * has found. */
static int write_in_run(const struct pt_runner_request *what, const struct pt_written *written,
                        struct pt_runner_result *result, struct pt_error *err)
{
    struct pt_report report = {0};
    struct pt_quality_metrics quality = {0};
    int code = pt_session_dir_check(what->dir, err);
    if (code == 0)
        code = pt_report_open(what->dir->path, &report, err);
    if (code == 0 && !what->config->quality.file)
        pt_grade_report_find(what, &report, result, &quality);
    if (code == 0)
        code = pt_write_open_reports(&report, what->dir->fd, written, err);
    pt_report_close(&report);
    pt_quality_fini(&quality);
    return code;
}

/* Against the baseline, if there is one; where a stage has failed, that is said already. Its verdict comes first in
 * report.md. */
static void check_baseline(const struct request *request, const struct pt_runner_request *what,
                           const struct pt_runner_result *result, struct outcome *outcome)
{
    struct pt_error err = {0};
    if (!request->baseline || result->n_failed || result->end_signal)
        return;
    if (pt_self_check(request->baseline, what->dir->path, wants_github(request), &outcome->check, &err) < 0) {
        outcome->checked = err.exit_code ? err.exit_code : 3;
        pt_command_say("%s", err.text);
        return;
    }
    outcome->checked = outcome->check.result;
    if (outcome->reported && pt_write_first_line(what->dir->fd, pt_str_text(&outcome->check.verdict), &err) < 0)
        pt_command_say("%s", err.text);
}

static void write_reports(const struct request *request, const struct pt_runner_request *what,
                          struct pt_runner_result *result, struct outcome *outcome)
{
    const char *copy_to = what->config->report_dir;
    struct pt_error err = {0};
    const bool github = wants_github(request);
    const struct pt_written written = {.headlines = &outcome->headlines,
                                       .summary = &outcome->summary,
                                       .annotations = github ? &outcome->annotations : NULL};
    outcome->reported = write_in_run(what, &written, result, &err) == 0;
    check_baseline(request, what, result, outcome);
    if (outcome->reported && copy_to)
        outcome->is_copy_missing = pt_report_copy(what->dir->fd, copy_to, &err) < 0;
    if (!outcome->reported)
        pt_error_context(&err, "no report was written");
    else if (outcome->is_copy_missing)
        pt_error_context(&err, "the reports are in %s, but were not copied", what->dir->path);
    if (!outcome->reported || outcome->is_copy_missing)
        pt_command_say("%s", err.text);
    fputs(pt_str_text(&outcome->annotations), stdout);
    struct pt_error late = {0};
    if (github && outcome->reported &&
        pt_github_step_summary(what->dir->fd, pt_str_text(&outcome->check.md), &late) < 0)
        pt_command_say("%s", late.text);
}

static void print_end(const struct pt_runner_request *what, const struct pt_runner_result *result,
                      const struct outcome *outcome)
{
    const char *directory = what->dir->path;
    const char *copied_to = outcome->reported && !outcome->is_copy_missing ? what->config->report_dir : NULL;
    if (!pt_environment_says_quiet()) {
        if (result->recorded) /* else it would be that of an earlier state, with stages that have ended as skipped */
            fprintf(stderr, "\n%s\n%s", pt_str_text(&outcome->summary), pt_str_text(&outcome->headlines));
        pt_session_dir_print_problem(what->dir);
        /* Absolute: a script that changes its folder calls us, and its user copies the line. */
        pt_command_say_next(copied_to ? copied_to : directory, directory, outcome->reported);
    }
    for (size_t i = 0; i < result->broken_floors.n; i++)
        pt_command_say("%s", result->broken_floors.items[i]);
}

static int code_of(const struct pt_runner_result *result, const struct outcome *outcome)
{
    if (result->n_failed)
        return EXIT_STAGE_FAILED;
    if (result->broken_floors.n)
        return EXIT_QUALITY;
    if (outcome->checked)
        return outcome->checked;
    return outcome->reported && !outcome->is_copy_missing ? 0 : PT_EXIT_OWN_FAILURE;
}

/* What comes after the stages, in a process of its own. */
struct ending {
    const struct request *request;
    const struct pt_runner_request *what;
    struct pt_runner_result *result;
    struct outcome outcome;
};

static int end_apart(void *context)
{
    struct ending *ending = context;
    struct outcome *outcome = &ending->outcome;
    write_reports(ending->request, ending->what, ending->result, outcome);
    print_end(ending->what, ending->result, outcome);
    fputs(pt_str_text(&outcome->check.all), stdout);
    const int code = pt_command_flush("pipeline", code_of(ending->result, outcome));
    pt_str_fini(&outcome->summary);
    pt_str_fini(&outcome->headlines);
    pt_str_fini(&outcome->annotations);
    pt_self_check_fini(&outcome->check);
    return code;
}

/* A stage that failed is told by the exit code, whatever becomes of the reports. */
static int end_pipeline(struct ending *ending)
{
    char how[PT_STATUS_TEXT_BYTES];
    int code = 0;
    if (!pt_apart(end_apart, ending, &code, how)) {
        pt_apart_say(how, ending->what->dir->path);
        code = code_of(ending->result, &ending->outcome);
    }
    const int end_signal = ending->result->end_signal ? ending->result->end_signal : pt_signals_kept();
    return end_signal ? pt_end_as(end_signal) : code; /* a wait status that says so */
}

static const char writing_reports[] = "\nproftrace: the reports are being written; once more ends that\n";

static int run_in(const struct request *request, const struct pt_runner_request *what, struct pt_signals *signals,
                  struct pt_error *err)
{
    struct pt_runner_result result = {0};
    struct ending ending = {.request = request, .what = what, .result = &result};
    int code = pt_pipeline_run(what, &result, err);
    pt_signals_linger(signals, pt_environment_says_quiet() ? NULL : writing_reports);
    if (code == 0)
        code = end_pipeline(&ending);
    pt_runner_result_fini(&result);
    return code;
}

static const char *look(void *context, const char *stage, pid_t pid, const char *why, bool is_asked, bool *ret_is_new)
{
    struct pt_stuck *stuck = context;
    pt_stuck_begin(stuck, stage);
    const enum pt_stuck_seen seen = pt_stuck_look(stuck, pid, why, is_asked);
    *ret_is_new = seen == PT_STUCK_NEW;
    return seen == PT_STUCK_NOT_SEEN ? NULL : stuck->reason;
}

static const char *look_at_core(void *context, const char *stage, pid_t pid, const char *cwd)
{
    struct pt_stuck *stuck = context;
    pt_stuck_begin(stuck, stage);
    return pt_stuck_core(stuck, pid, cwd) ? stuck->reason : "";
}

static const char *stacks(void *context)
{
    const struct pt_stuck *stuck = context;
    return pt_str_text(&stuck->folded);
}

static int run(const struct request *request, const struct pt_config *config, const struct pt_plan *plan,
               struct pt_error *err)
{
    PT_AUTO(pt_freep) char *library = NULL;
    pt_say_disabled("nothing is traced, only times and samples follow");
    if (!pt_environment_disabled_by()) {
        if (!(library = pt_library_find(err)))
            return -1;
        pt_warn_of_option_values(environ);
    }
    struct pt_signals signals;
    struct pt_session_dir dir;
    if (pt_signals_take(&signals, err) < 0)
        return -1;
    if ((config->report_dir && pt_report_prepare_copy(config->report_dir, err) < 0) ||
        pt_session_dir_create(NULL, "pipeline", &dir, err) < 0) {
        pt_signals_release(&signals);
        return -1;
    }
    struct pt_stuck stuck = {.run_fd = dir.fd};
    const struct pt_runner_request what = {config,
                                           plan,
                                           &dir,
                                           library,
                                           &signals,
                                           request->keep_temp,
                                           request->stall_s * 1000000000,
                                           look,
                                           look_at_core,
                                           stacks,
                                           &stuck,
                                           pt_stuck_reader(dir.path)};
    const int code = run_in(request, &what, &signals, err);
    pt_str_fini(&stuck.folded);
    pt_session_dir_close(&dir);
    return code;
}

int pt_cmd_pipeline(int argc, char **argv, struct pt_error *err)
{
    PT_AUTO(request_fini) struct request request = {0};
    pt_fill_standard_descriptors();
    const int parsed = parse(argc, argv, &request, err);
    if (parsed)
        return parsed < 0 ? -1 : 0;
    PT_AUTO(pt_config_freep) struct pt_config *config = NULL;
    struct pt_plan plan = {0};
    int code = pt_config_read(request.config, &request.overrides, &config, err);
    for (size_t i = 0; code == 0 && i < config->warnings.n; i++)
        pt_command_say("%s", config->warnings.items[i]);
    if (code == 0)
        code = pt_plan_make(config, &plan, err);
    for (size_t i = 0; i < plan.problems.n; i++)
        pt_command_say("%s", plan.problems.items[i]);
    if (code == 0 && request.dry_run) {
        PT_AUTO(pt_str_fini) struct pt_str text = {0};
        pt_plan_show(config, &plan, &text);
        fputs(pt_str_text(&text), stdout);
    } else if (code == 0) {
        code = run(&request, config, &plan, err);
    }
    pt_plan_fini(&plan);
    if (code < 0 && !err->exit_code)
        err->exit_code = EXIT_USAGE; /* the directory or the library: nothing was run */
    return code;
}
