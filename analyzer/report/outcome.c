/* SPDX-License-Identifier: MIT
 *
 * Owns: the words for results of runs, stages and processes. Threads: one per arena. Never: prints 0 for what was not
 * measured.
 */
#include "outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "model/window.h"
#include "util/auto.h"
#include "util/str.h"
#include "util/text/fmt.h"
#include "util/text/path.h"
#include "util/text/redact.h"
#include "util/text/wait_status.h"

static const char out_of_sight[] = "it may go on in a container or on another machine";
static const char nobody[] = "no process of it was traced, and no launcher saw its end";

static struct pt_value text_in(struct pt_arena *arena, const char *text)
{
    return pt_text(pt_arena_text(arena, text, strlen(text)));
}

const char *pt_report_no_launcher_note(const struct pt_session *session, struct pt_arena *arena)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_str_printf(&text, "%s; CPU time and memory are what the processes noted themselves",
                  session->why_no_run ? session->why_no_run
                                      : "no run.json: the library was preloaded without the launcher");
    return pt_arena_text(arena, pt_str_text(&text), text.n);
}

/* It noted no end, and nobody was told how it ended: when it did is all that can be said. */
static struct pt_value unknown_exit(const struct pt_process *process, struct pt_arena *arena)
{
    const struct pt_fmt lived = pt_fmt_duration(process->alive_ns - process->start_ns);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (process->is_beginning)
        pt_str_add(&text, "not known: its trace went on in a file of its own, which is missing or cannot be read");
    else if (process->is_out_of_sight)
        pt_str_add(&text, out_of_sight);
    else if (process->session->is_out_of_sight)
        pt_str_add(&text, "not known: the run goes on in another container or on another machine");
    else if (process->gone_ns == PT_NEVER_NS)
        pt_str_printf(&text, "no end was seen: killed or crashed after %s, or later", lived.text);
    else if (pt_process_end_is_open(process))
        pt_str_printf(&text, "killed or crashed between %s and %s after its start", lived.text,
                      pt_fmt_duration(process->gone_ns - process->start_ns).text);
    else
        pt_str_add(&text, "killed or crashed: nobody was told how");
    return pt_unknown(pt_arena_text(arena, pt_str_text(&text), text.n));
}

/* Of one that ended by itself or by a signal. */
static int wait_status_of(const struct pt_process *process)
{
    return process->state == PT_PROCESS_EXITED ? W_EXITCODE(process->exit_status & 0xff, 0) : process->wait_status;
}

bool pt_report_process_failed(const struct pt_process *process)
{
    const bool still_runs = process->state == PT_PROCESS_LIVE && process->is_running;
    return process->state != PT_PROCESS_EXECED && !still_runs && wait_status_of(process) > 0;
}

struct pt_value pt_report_process_exit(const struct pt_process *process, struct pt_arena *arena)
{
    char text[PT_STATUS_TEXT_BYTES];
    if (process->state == PT_PROCESS_EXECED)
        return pt_text("exec");
    if (process->state == PT_PROCESS_LIVE && process->is_running)
        return pt_text("still running");
    if (process->state == PT_PROCESS_LIVE && process->wait_status < 0)
        return unknown_exit(process, arena);
    pt_status_text(wait_status_of(process), text, sizeof text);
    return text_in(arena, text);
}

/* The last image of its first process; NULL = none was traced. */
static const struct pt_process *root_of(const struct pt_profile *profile, pt_u32 stage)
{
    struct pt_process *root = profile->stages.items[stage].root;
    return root ? pt_process_last_image(profile->session, root) : NULL;
}

/* It became a program of which there is no trace: how that one ended is not known, unless its parent was told. A
 * program that cannot be traced was noted right before the exec. */
static struct pt_value next_image_exit(const struct pt_process *process, struct pt_arena *arena)
{
    enum { MOST_BEFORE_END_NS = 10000000 };
    char status[PT_STATUS_TEXT_BYTES];
    if (process->next_status >= 0) {
        pt_status_text(process->next_status, status, sizeof status);
        return text_in(arena, status);
    }
    const struct pt_untraced *last = process->n_untraced ? &process->untraced[process->n_untraced - 1] : NULL;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (last && process->end_ns - last->at_ns <= MOST_BEFORE_END_NS)
        pt_str_printf(&text, "it became %s, which was not traced (%s)", pt_base_name(last->path), last->reason);
    else
        pt_str_add(&text, "it became another program, whose trace is not here");
    return pt_unknown(pt_arena_text(arena, pt_str_text(&text), text.n));
}

/* Without a launcher, which would know. */
static bool may_run(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_process *root = root_of(profile, stage);
    return !profile->run && root && root->is_out_of_sight && root->wait_status < 0;
}

static bool is_running(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const struct pt_process *root = root_of(profile, stage);
    return run && run->status ? false
                              : (run && run->is_running) || (root && root->is_running) || may_run(profile, stage);
}

struct pt_value pt_report_stage_exit(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const struct pt_process *root = root_of(profile, stage);
    if (run && run->exit)
        return pt_text(run->exit);
    if (run && run->status)
        return pt_unknown(run->reason ? run->reason : run->status);
    if (is_running(profile, stage))
        return pt_unknown(may_run(profile, stage) ? out_of_sight : "still running");
    if (root && root->state == PT_PROCESS_EXECED)
        return next_image_exit(root, arena);
    return root ? pt_report_process_exit(root, arena) : pt_unknown(nobody);
}

static bool is_open_beginning(const struct pt_process *process)
{
    return process->is_beginning && process->state == PT_PROCESS_LIVE && process->wait_status < 0;
}

/* Nobody saw it fail: it only went on out of sight. A launcher that notes no end was killed, with its command. */
static bool became_unknown(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const struct pt_process *root = root_of(profile, stage);
    return !(run && (run->exit || run->status)) && root &&
           ((root->state == PT_PROCESS_EXECED && root->next_status < 0) || (!run && is_open_beginning(root)));
}

const char *pt_report_stage_status(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    if (run && run->status)
        return run->status;
    if (is_running(profile, stage))
        return "running";
    const struct pt_value ended = pt_report_stage_exit(profile, stage, arena);
    const bool is_well = ended.type == PT_VALUE_TEXT && !strcmp(ended.text, "exit 0");
    return is_well || became_unknown(profile, stage) ? "ok" : "failed";
}

/* Up to when the report looks. */
static struct pt_value why_running(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena)
{
    char text[160];
    const bool is_cut = pt_session_is_window(profile->session) &&
                        profile->stages.items[stage].start_ns <= profile->session->window_from_ns;
    snprintf(text, sizeof text, "%s: this is what was recorded in its %s %s",
             may_run(profile, stage) ? out_of_sight : "still running", is_cut ? "last" : "first",
             pt_fmt_duration(pt_profile_stage_wall_ns(profile, stage)).text);
    return text_in(arena, text);
}

struct pt_value pt_report_stage_reason(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const struct pt_value ended = pt_report_stage_exit(profile, stage, arena);
    const char *status = pt_report_stage_status(profile, stage, arena);
    if (!strcmp(status, "ok"))
        return became_unknown(profile, stage) ? pt_text(ended.reason) : pt_unknown(NULL);
    if (!strcmp(status, "running"))
        return why_running(profile, stage, arena);
    return pt_text(run && run->reason ? run->reason : ended.type == PT_VALUE_TEXT ? ended.text : ended.reason);
}

struct pt_value pt_report_stage_duration(const struct pt_profile *profile, pt_u32 stage)
{
    if (pt_stage_was_skipped(&profile->stages.items[stage]))
        return pt_unknown("the stage was skipped");
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    if (run && isnan(run->duration_ns) && !profile->stages.items[stage].root)
        return pt_unknown("the stage was never started");
    const pt_i64 wall_ns = pt_profile_stage_wall_ns(profile, stage);
    return wall_ns > 0 ? pt_seconds(wall_ns) : pt_unknown(pt_end_unknown_reason);
}

const char **pt_masked_arguments(const char *const *argv, int argc, struct pt_arena *arena)
{
    int n = 0;
    while (n < argc && argv[n])
        n++;
    const char **words = pt_arena_alloc(arena, (size_t)(n + 1) * sizeof *words);
    struct pt_redact_line line = {0};
    for (int i = 0; i < n; i++) {
        char *masked = pt_redacted(argv[i], &line);
        words[i] = masked ? pt_arena_text(arena, masked, strlen(masked)) : PT_REDACT_MASK;
        free(masked);
    }
    words[n] = NULL;
    return words;
}

const char **pt_report_stage_command(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const struct pt_process *root = profile->stages.items[stage].root;
    if (run && run->command[0])
        return pt_masked_arguments(run->command, INT32_MAX, arena);
    return pt_masked_arguments(root ? (const char *const *)root->argv : NULL, root ? root->argc : 0, arena);
}

struct pt_value pt_report_started(const struct pt_profile *profile, struct pt_arena *arena)
{
    const struct pt_run_info *run = profile->run;
    const pt_u64 ns = run && run->start_realtime_ns > 0 ? run->start_realtime_ns : profile->session->start_realtime_ns;
    const time_t seconds = (time_t)(ns / 1000000000);
    struct tm utc;
    char text[32];
    if (!ns || !gmtime_r(&seconds, &utc) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
        return pt_unknown("no process noted the time");
    return pt_text(pt_arena_text(arena, text, strlen(text)));
}

struct pt_value pt_report_commit(const struct pt_profile *profile, struct pt_arena *arena)
{
    enum { SHOWN = 12 };
    const char *commit = profile->run ? profile->run->git_commit : NULL;
    if (!commit || !*commit)
        return pt_unknown("not started in a git repository");
    return pt_text(pt_arena_text(arena, commit, strnlen(commit, SHOWN)));
}

struct pt_value pt_report_duration(const struct pt_profile *profile)
{
    const pt_i64 wall_ns = pt_profile_wall_ns(profile);
    return wall_ns > 0 ? pt_seconds(wall_ns) : pt_unknown(pt_end_unknown_reason);
}

struct pt_value pt_report_window(const struct pt_profile *profile, struct pt_arena *arena)
{
    const struct pt_session *session = profile->session;
    char text[120];
    if (!pt_session_is_window(session))
        return pt_unknown("the whole run");
    snprintf(text, sizeof text, "the last %s, from %s after its start on",
             pt_fmt_duration(session->duration_ns - session->window_from_ns).text,
             pt_fmt_duration(session->window_from_ns).text);
    return text_in(arena, text);
}

struct pt_value pt_report_lost(const struct pt_session *session, pt_u64 events)
{
    return events && pt_session_is_window(session) ? pt_unknown(pt_window_no_losses) : pt_integer(events);
}
