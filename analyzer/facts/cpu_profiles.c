/* SPDX-License-Identifier: MIT
 *
 * Owns: the CPU profiles of a run. Threads: one while there are events, then any. Never: fails for a profile that
 * cannot be read: it says so.
 */
#include "cpu_profiles.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_file/read.h"
#include "model/window.h"
#include "util/mem.h"

void pt_cpu_profiles_open(struct pt_cpu_profiles *profiles, const struct pt_session *session,
                          const struct pt_stages *stages, const struct pt_thread_ids *ids, const char *only_stage)
{
    *profiles = (struct pt_cpu_profiles){.n_stages = (pt_u32)stages->n, .stage_of = stages->of_process};
    profiles->timelines = pt_calloc(stages->n, sizeof *profiles->timelines);
    profiles->off_calls = pt_calloc(stages->n, sizeof *profiles->off_calls);
    profiles->problems = pt_calloc(stages->n, sizeof *profiles->problems);
    for (pt_u32 stage = 0; stage < stages->n; stage++) {
        const struct pt_stage *one = &stages->items[stage];
        struct pt_cpu_data *data = NULL;
        /* The launcher's stages come first, in its order: a stage that it does not know has no profile. */
        if (pt_session_is_window(session))
            pt_fail(&profiles->problems[stage], "%s", pt_window_no_counters);
        else if (one->run && (!only_stage || !strcmp(only_stage, one->name)))
            pt_cpu_data_read(session->path, stage, &data, &profiles->problems[stage]);
        pt_cpu_timeline_open(&profiles->timelines[stage], data, session, one->root);
        pt_off_calls_open(&profiles->off_calls[stage], data);
    }
    profiles->numbers = pt_calloc(pt_n_threads(ids) + 1, sizeof *profiles->numbers);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        for (pt_u32 j = 0; j < session->processes[i]->n_threads; j++)
            profiles->numbers[ids->first[i] + j] =
                pt_cpu_timeline_thread(&profiles->timelines[stages->of_process[i]], &session->processes[i]->threads[j]);
}

void pt_cpu_profiles_close(struct pt_cpu_profiles *profiles)
{
    for (pt_u32 stage = 0; stage < profiles->n_stages; stage++) {
        pt_cpu_timeline_close(&profiles->timelines[stage]);
        pt_off_calls_close(&profiles->off_calls[stage]);
    }
    free(profiles->timelines);
    free(profiles->off_calls);
    free(profiles->problems);
    free(profiles->numbers);
    *profiles = (struct pt_cpu_profiles){0};
}
