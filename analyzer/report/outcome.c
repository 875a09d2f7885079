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
#include <time.h>

#include "util/text/redact.h"

const char pt_no_launcher_note[] =
    "no run.json: the library was preloaded without the launcher; CPU time and memory are what the processes noted "
    "themselves";

static const char no_end[] = "no end was seen: killed, crashed or still running";

struct pt_value pt_report_process_exit(const struct pt_process *process, struct pt_arena *arena)
{
    char text[32];
    switch (process->state) {
    case PT_PROCESS_EXITED:
        snprintf(text, sizeof text, "exit %d", process->exit_status);
        return pt_text(pt_arena_text(arena, text, strlen(text)));
    case PT_PROCESS_EXECED:
        return pt_text("exec");
    case PT_PROCESS_LIVE:
        return process->is_running ? pt_text("still running") : pt_unknown(no_end);
    }
    return pt_unknown(no_end);
}

struct pt_value pt_report_stage_exit(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    struct pt_process *root = profile->stages.items[stage].root;
    if (run && run->exit)
        return pt_text(run->exit);
    if (run && run->status)
        return pt_unknown(run->reason ? run->reason : run->status);
    return root ? pt_report_process_exit(pt_process_last_image(profile->session, root), arena) : pt_unknown(no_end);
}

const char *pt_report_stage_status(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const struct pt_value ended = pt_report_stage_exit(profile, stage, arena);
    if (run && run->status)
        return run->status;
    return ended.type == PT_VALUE_TEXT && !strcmp(ended.text, "exit 0") ? "ok" : "failed";
}

struct pt_value pt_report_stage_reason(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const struct pt_value ended = pt_report_stage_exit(profile, stage, arena);
    if (!strcmp(pt_report_stage_status(profile, stage, arena), "ok"))
        return pt_unknown(NULL);
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
    enum pt_redact_next next = PT_REDACT_PLAIN;
    for (int i = 0; i < n; i++) {
        char *masked = pt_redacted(argv[i], &next);
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
