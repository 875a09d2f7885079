/* SPDX-License-Identifier: MIT
 *
 * run.c - Owns: `proftrace run`: the order of things around one traced command. Threads: main only. Never: prints to
 * stdout, changes the command's exit code.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proftrace/heap_modes.h"
#include "proftrace/limits.h"
#include "cpu_profile/cpu_profile.h"
#include "launcher/environment.h"
#include "launcher/launch.h"
#include "launcher/library.h"
#include "launcher/output/output.h"
#include "launcher/ring_space.h"
#include "launcher/run_record.h"
#include "launcher/session_dir.h"
#include "launcher/target.h"
#include "options/option_values.h"
#include "util/text/utf8.h"

#include "report/write.h"
#include "run_file/write.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/path.h"
#include "apart.h"
#include "cmd.h"

#include "arguments/keep.h"
#include "arguments/options.h"
#include "arguments/switches.h"
#include "stuck/done.h"
#include "stuck/stuck.h"

extern char **environ;

struct request {
    const char *output, *stage, *interval;
    int heap; /* index into pt_heap_modes; -1 = as it is in the environment */
    bool no_gpu_sampling, no_report, timeline, log;
    pt_u64 interval_ns, stall_s;
    struct pt_keep keep;
    char **argv;
};

static int parse_interval(struct request *request, struct pt_error *err)
{
    pt_i64 interval_ns = (pt_i64)pt_option_interval_ns();
    if (request->interval && pt_parse_milliseconds(request->interval, &interval_ns, err) < 0)
        return pt_error_context(err, "option '--interval'");
    if (interval_ns < PT_INTERVAL_MIN_MS * 1000000)
        return pt_fail(err, "an interval of %s is too short to measure in; use %d ms or more", request->interval,
                       PT_INTERVAL_MIN_MS);
    request->interval_ns = (pt_u64)interval_ns;
    return 0;
}

/* 0 = parsed, 1 = help was printed, -1 = error. */
static int parse(int argc, char **argv, struct request *request, struct pt_error *err)
{
    const struct pt_opt table[] = {
        PT_OPT_TEXT("output", 'o', &request->output, "RUN", "the run directory (default: a new one in proftrace.data)"),
        PT_OPT_TEXT("stage", 0, &request->stage, "NAME", "name of the pipeline stage (default: the command's name)"),
        PT_OPT_CHOICE("heap", 0, &request->heap, PT_HEAP_MODES, "how to record heap calls (default: sampled)"),
        PT_OPT_FLAG("no-gpu-sampling", 0, &request->no_gpu_sampling, "do not look at GPUs"),
        PT_OPT_TEXT("interval", 0, &request->interval, "MS", "time between samples (default: 500)"),
        PT_OPT_COUNT("stall", 0, &request->stall_s, "SECONDS",
                     "when nothing has moved for so long, say where it hangs; it goes on"),
        PT_OPT_KEEP(&request->keep),
        PT_OPT_FLAG("timeline", 0, &request->timeline, "write the timeline, trace.json.gz, afterwards"),
        PT_OPT_FLAG("log", 0, &request->log, "keep what the command writes to stdout and stderr in logs/, too"),
        PT_OPT_FLAG("no-report", 0, &request->no_report, "write no report afterwards"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 0, .max = -1, .stop_at_first = true};
    request->heap = -1;
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done;
    if (!args.n)
        return pt_fail(err, "no command to run; usage: proftrace run [OPTIONS] -- COMMAND [ARGUMENTS]");
    request->argv = args.values;
    if (request->stage && strlen(request->stage) > PT_STAGE_MAX_BYTES)
        return pt_fail(err, "option '--stage': the name is too long; use at most %d bytes", PT_STAGE_MAX_BYTES);
    return pt_keep_apply(&request->keep, err) < 0 ? -1 : parse_interval(request, err);
}

static const char *wanted_name(const struct request *request)
{
    const char *stage = request->stage ? request->stage : getenv("PROFTRACE_STAGE");
    if (stage && *stage && strlen(stage) <= PT_STAGE_MAX_BYTES)
        return stage;
    return pt_base_name(request->argv[0]);
}

/* Text, and short enough for the library: it writes the name into the trace, the launcher into run.json, and by these
 * two the report knows that they are of one stage. */
static void name_stage(const struct request *request, char ret_name[static PT_STAGE_MAX_BYTES + 1])
{
    const char *from = wanted_name(request);
    size_t n = 0, left = strlen(from);
    while (left) {
        uint32_t code;
        const size_t bytes = pt_utf8_next(from, left, &code);
        const char *character = bytes ? from : PT_UTF8_REPLACEMENT;
        const size_t more = bytes ? bytes : strlen(PT_UTF8_REPLACEMENT);
        if (n + more > PT_STAGE_MAX_BYTES)
            break;
        memcpy(ret_name + n, character, more);
        n += more;
        from += bytes ? bytes : 1;
        left -= bytes ? bytes : 1;
    }
    ret_name[n] = 0;
}

/* By itself the library takes the kernel's name of the first program that it is in. */
static bool is_known_to_library(const struct request *request, const struct pt_target *target, const char *name)
{
    enum { COMM_BYTES = 15 };
    return !request->stage && target->traced_by_name && strlen(name) <= COMM_BYTES &&
           !strcmp(name, wanted_name(request));
}

/* One traced command, and what it needs. */
struct traced {
    const struct request *request;
    const struct pt_target *target;
    const char *library;
    const struct pt_session_dir *dir;
    const char *stage;
    struct pt_sampler *sampler;
    struct pt_launch_result result;
    struct pt_run_stage recorded_stage;
    struct pt_run_untraced untraced;
    struct pt_run_info recorded;
    /* With --log. */
    bool is_logged;
    struct pt_output output;
    struct pt_str log, log_notes;
    struct pt_str stalls; /* what was seen when nothing moved */
    struct pt_str why;    /* it failed, with the place */
    struct pt_stuck stuck;
    struct pt_str hang; /* why it did not go on; what is asked for later is another's reason */
    bool was_asked;     /* the last look was for a SIGQUIT */
};

/* If we are killed, this is all that remains; a report that is asked for meanwhile is made from it. */
static void report_progress(void *context)
{
    struct traced *traced = context;
    struct pt_error ignored = {0};
    pt_run_stage_take(&traced->recorded_stage, &traced->result, traced->dir);
    pt_run_record_write(traced->dir, &traced->recorded, &ignored);
    pt_ring_space_return(traced->dir);
}

static const char *reason_of(const struct pt_stuck *stuck)
{
    return *stuck->reason ? stuck->reason : "it was looked at, and nothing is known";
}

static void say_where_it_hangs(void *context, pid_t pid, enum pt_launch_still why)
{
    struct traced *traced = context;
    struct pt_stuck *stuck = &traced->stuck;
    PT_AUTO(pt_str_fini) struct pt_str heading = {0};
    pt_launch_still_text(why, (pt_u64)(traced->request->stall_s * 1000000000), &heading);
    stuck->run_fd = traced->dir->fd;
    pt_stuck_begin(stuck, traced->stage);
    const enum pt_stuck_seen seen = pt_stuck_look(stuck, pid, pt_str_text(&heading), why == PT_LAUNCH_ASKED);
    if (seen == PT_STUCK_NOT_SEEN)
        return;
    traced->was_asked = why == PT_LAUNCH_ASKED;
    traced->recorded_stage.stacks = stuck->folded.n ? pt_str_text(&stuck->folded) : NULL;
    /* Who asks where a program is, is told; that it hangs is not said by that. */
    if (why != PT_LAUNCH_ASKED) {
        pt_str_clear(&traced->hang);
        pt_str_add(&traced->hang, reason_of(stuck));
        traced->recorded_stage.stuck = pt_str_text(&traced->hang);
    }
    if (seen != PT_STUCK_NEW)
        return;
    pt_str_printf(&traced->stalls, "%s%s%s%s; stacks.txt has the stacks of all threads", traced->stalls.n ? "; " : "",
                  pt_str_text(&heading), *stuck->reason ? ": " : "", stuck->reason);
    if (!pt_environment_says_quiet())
        pt_command_say("%s%s%s", pt_str_text(&heading), *stuck->reason ? ": " : "", stuck->reason);
}

static int launch(struct traced *traced, struct pt_cpu_profile *cpu_profile, struct pt_error *err)
{
    const struct request *request = traced->request;
    const bool preload = traced->target->preload;
    const struct pt_environment_request wanted = {
        .library = preload ? traced->library : NULL,
        .session = preload ? traced->dir->path : NULL,
        .heap = preload && request->heap >= 0 ? pt_heap_modes[request->heap] : NULL,
        .stage = preload && !is_known_to_library(request, traced->target, traced->stage) ? traced->stage : NULL,
    };
    PT_AUTO(pt_environment_freep) char **environment = pt_environment_make(environ, &wanted, err);
    if (!environment)
        return -1;
    static const struct pt_launch_reader no_reader;
    const struct pt_launch launch = {.path = traced->target->path,
                                     .argv = request->argv,
                                     .environment = environment,
                                     .interval_ns = request->interval_ns,
                                     .cpu_profile = cpu_profile,
                                     .output = traced->is_logged ? &traced->output : NULL,
                                     .progress = report_progress,
                                     .progress_context = traced,
                                     .still = say_where_it_hangs,
                                     .still_context = traced,
                                     .stall_ns = request->stall_s * 1000000000,
                                     .reader = preload ? pt_stuck_reader(traced->dir->path) : no_reader};
    return pt_launch(&launch, traced->sampler, &traced->result, err);
}

/* What passes through it is no longer the caller's own terminal, file or pipe: only where that was asked for. */
static int open_log(struct traced *traced, struct pt_error *err)
{
    if (!traced->request->log)
        return 0;
    PT_AUTO(pt_closep) int logs_fd = pt_session_dir_logs(traced->dir, err);
    if (logs_fd < 0 || pt_output_open(&traced->output, logs_fd, traced->stage, err) < 0)
        return -1;
    traced->is_logged = traced->output.ends_with_reader = true;
    pt_str_printf(&traced->log, "logs/%s", traced->output.log.name);
    traced->recorded_stage.log = pt_str_text(&traced->log);
    return 0;
}

static void close_log(struct traced *traced)
{
    if (!traced->is_logged)
        return;
    pt_output_finish(&traced->output);
    pt_output_notes(&traced->output, &traced->log_notes);
}

static int launch_logged(struct traced *traced, struct pt_cpu_profile *cpu_profile, struct pt_error *err)
{
    if (open_log(traced, err) < 0)
        return -1;
    const int launched = launch(traced, cpu_profile, err);
    close_log(traced);
    return launched;
}

static void record_plan(struct traced *traced)
{
    struct pt_run_stage *stage = &traced->recorded_stage;
    struct pt_run_info *run = &traced->recorded;
    pt_run_stage_forget(stage);
    pt_run_forget(run);
    stage->name = traced->stage;
    stage->command = (const char **)traced->request->argv;
    run->interval_ns = (double)traced->request->interval_ns;
    run->stages = stage;
    run->n_stages = 1;
    run->untraced = &traced->untraced;
    pt_run_take_target(run, stage->name, traced->target);
}

static const char *why_it_failed(struct traced *traced)
{
    const struct pt_launch_result *result = &traced->result;
    traced->stuck.run_fd = traced->dir->fd;
    pt_stuck_begin(&traced->stuck, traced->stage);
    if (WIFSIGNALED(result->wait_status) && WTERMSIG(result->wait_status) == SIGQUIT && traced->was_asked &&
        *traced->stuck.reason) {
        traced->recorded_stage.stuck = traced->stuck.reason;
        pt_str_printf(&traced->why, "%s: %s", result->why, traced->stuck.reason);
        return pt_str_text(&traced->why);
    }
    if (!WIFSIGNALED(result->wait_status) || !WCOREDUMP(result->wait_status) ||
        !pt_stuck_core(&traced->stuck, result->pid, "."))
        return result->why;
    traced->recorded_stage.stacks = pt_str_text(&traced->stuck.folded);
    pt_str_printf(&traced->why, "%s: %s", result->why, traced->stuck.reason);
    return pt_str_text(&traced->why);
}

/* The record of before the start would say that it ran untraced, and that nobody saw its end. */
static void record_that_it_never_ran(struct traced *traced, const struct pt_error *why)
{
    struct pt_run_stage *stage = &traced->recorded_stage;
    struct pt_error ignored = {0};
    stage->status = "failed";
    stage->reason = why->text;
    pt_run_drop_target(&traced->recorded, stage->name);
    pt_run_record_write(traced->dir, &traced->recorded, &ignored);
}

static int run_traced(struct traced *traced, struct pt_error *err)
{
    const struct pt_launch_result *result = &traced->result;
    struct pt_run_stage *stage = &traced->recorded_stage;
    struct pt_run_info *run = &traced->recorded;
    record_plan(traced);
    /* Written before the start too: if we are killed, the command and its start are known. */
    if (pt_run_record_write(traced->dir, run, err) < 0)
        return -1;
    PT_AUTO(pt_cpu_profile_freep) struct pt_cpu_profile *cpu_profile = pt_cpu_profile_new(traced->dir->fd, 0);
    if (launch_logged(traced, cpu_profile, err) < 0) {
        record_that_it_never_ran(traced, err);
        return -1;
    }
    char left[96];
    const char *notes[5] = {pt_cpu_profile_note(cpu_profile)};
    if (traced->stalls.n)
        notes[notes[0] != NULL] = pt_str_text(&traced->stalls);
    if (traced->log_notes.n)
        notes[(notes[0] != NULL) + (notes[1] != NULL)] = pt_str_text(&traced->log_notes);
    if (result->samples->living) {
        snprintf(left, sizeof left, "%u %s still running when the command ended", result->samples->living,
                 result->samples->living == 1 ? "descendant was" : "descendants were");
        notes[(notes[0] != NULL) + (notes[1] != NULL) + (notes[2] != NULL)] = left;
    }
    pt_run_stage_take(stage, result, traced->dir);
    stage->status = pt_status_is_success(result->wait_status) ? "ok" : "failed";
    stage->reason = pt_status_is_success(result->wait_status) ? NULL : why_it_failed(traced);
    pt_run_take_gpus(run, result->samples);
    run->duration_ns = (double)result->duration_ns;
    run->notes = notes;
    struct pt_error late = {0};
    if (pt_run_record_write(traced->dir, run, &late) < 0)
        pt_command_say("%s", late.text);
    return 0;
}

/* What is made of a run when it is over. */
struct afterwards {
    const struct traced *traced;
    struct pt_str headlines;
    pt_u64 cpu_ns;
    bool is_reported;
};

static void write_timeline(const struct pt_session_dir *dir)
{
    struct pt_error err = {0};
    if (pt_export_timeline(dir->path, pt_environment_says_quiet(), &err) < 0)
        pt_command_say("no timeline was written: %s", err.text);
}

static void write_reports(const struct pt_session_dir *dir, struct afterwards *afterwards)
{
    struct pt_error err = {0};
    const struct pt_written written = {.headlines = &afterwards->headlines, .cpu_ns = &afterwards->cpu_ns};
    afterwards->is_reported =
        pt_session_dir_check(dir, &err) == 0 && pt_write_reports(dir->path, dir->fd, &written, &err) == 0;
    if (!afterwards->is_reported)
        pt_command_say("no report was written: %s", err.text);
}

static void print_end(const struct afterwards *afterwards)
{
    const struct traced *traced = afterwards->traced;
    const struct pt_launch_result *result = &traced->result;
    const struct pt_samples *samples = result->samples;
    const struct pt_target *target = traced->target;
    const char *reason = traced->recorded_stage.reason;
    pt_command_say("%s%s%s, CPU %s, memory %s", reason ? reason : "", reason ? " after " : "",
                   pt_fmt_duration((pt_i64)result->duration_ns).text, pt_fmt_duration((pt_i64)afterwards->cpu_ns).text,
                   pt_fmt_bytes(samples->rss_max_bytes).text);
    fputs(pt_str_text(&afterwards->headlines), stderr);
    if (!target->traced)
        pt_command_say("%s was not traced: %s", target->binary, target->reason);
    pt_session_dir_print_problem(traced->dir);
    pt_command_say_next(traced->dir->shown, traced->dir->shown, afterwards->is_reported);
}

static int write_and_print(void *context)
{
    struct afterwards *afterwards = context;
    const struct traced *traced = afterwards->traced;
    if (!traced->request->no_report)
        write_reports(traced->dir, afterwards);
    if (traced->request->timeline)
        write_timeline(traced->dir);
    if (!pt_environment_says_quiet())
        print_end(afterwards);
    pt_str_fini(&afterwards->headlines);
    return 0;
}

/* Whatever becomes of the reports, the exit code is the command's. */
static void end_run(const struct traced *traced)
{
    struct afterwards afterwards = {.traced = traced, .cpu_ns = traced->result.samples->cpu_ns};
    char how[PT_STATUS_TEXT_BYTES];
    int code = 0;
    if (traced->request->no_report && !traced->request->timeline) {
        write_and_print(&afterwards);
    } else if (!pt_apart(write_and_print, &afterwards, &code, how)) {
        pt_apart_say(how, traced->dir->shown);
        if (!pt_environment_says_quiet())
            print_end(&afterwards);
    }
}

static int run(const struct request *request, struct pt_error *err)
{
    struct pt_target target;
    if (pt_target_inspect(request->argv[0], NULL, &target, err) < 0)
        return -1;
    if (pt_environment_disabled_by()) {
        pt_say_disabled("the command runs alone, nothing is recorded");
        return pt_child_become(target.path, request->argv, environ, err);
    }
    pt_warn_of_option_values(environ);
    PT_AUTO(pt_freep) char *library = pt_library_find(err);
    if (!library)
        return -1;
    struct pt_session_dir dir;
    if (pt_session_dir_create(request->output, request->argv[0], &dir, err) < 0)
        return -1;
    const struct pt_sampler_options looking = {.no_gpu = request->no_gpu_sampling};
    char stage[PT_STAGE_MAX_BYTES + 1];
    name_stage(request, stage);
    struct traced traced = {request, &target, library, &dir, stage, pt_sampler_new(&looking, err), .result = {0}};
    const int done = traced.sampler ? run_traced(&traced, err) : -1;
    if (done == 0)
        end_run(&traced);
    pt_str_fini(&traced.log);
    pt_str_fini(&traced.log_notes);
    pt_str_fini(&traced.stalls);
    pt_str_fini(&traced.why);
    pt_str_fini(&traced.stuck.folded);
    pt_str_fini(&traced.hang);
    pt_session_dir_close(&dir);
    pt_sampler_free(traced.sampler);
    return done < 0 ? -1 : pt_end_as(traced.result.wait_status);
}

int pt_cmd_run(int argc, char **argv, struct pt_error *err)
{
    pt_fill_standard_descriptors();
    struct request request = {0};
    const int parsed = parse(argc, argv, &request, err);
    if (parsed > 0)
        return 0;
    const int code = parsed < 0 ? -1 : run(&request, err);
    if (code < 0 && err->exit_code != 126 && err->exit_code != 127)
        err->exit_code = PT_EXIT_OWN_FAILURE; /* codes 1 to 5 could be the command's own */
    return code;
}
