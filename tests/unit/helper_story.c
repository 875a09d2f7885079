/* SPDX-License-Identifier: MIT
 *
 * helper_story.c - Owns: the text, the folder with the traces that it becomes, and their profile.
 */
#include "helper_story.h"

#include <stdlib.h>
#include <string.h>

#include "model/text/read.h"

void story_begin(struct story *story)
{
    *story = (struct story){.text = tmpfile(), .folder = "/tmp/proftrace-story-XXXXXX"};
    assert_non_null(story->text);
    assert_non_null(mkdtemp(story->folder));
    fprintf(story->text, "proftrace-text 1 start_realtime_ns=1705320000000000000\n");
}

void story_process(struct story *story, int pid, const char *stage)
{
    fprintf(story->text,
            "process %d ppid=1 uid=1000 trace_id=0x%x start=0.000000000 end=10.000000000 state=exited exit_status=0 "
            "heap=sampled heap_sample_bytes=524288 cpu_ns=1000000 max_rss_bytes=1048576 boot=\"b\" host=\"h\" "
            "stage=\"%s\" comm=\"train\" exe=\"/usr/bin/train\" cwd=\"/data\" argc=1 argv=[\"train\"]\n"
            "thread %d/%d slot=0 life=1 start=0.000000000\n",
            pid, (unsigned)pid, stage, pid, pid);
}

void story_analyze(struct story *story)
{
    struct pt_error err = {0};
    rewind(story->text);
    if (pt_session_read_text(story->text, "story", story->folder, &err) < 0)
        fail_msg("%s", err.text);
    story->profile = (struct pt_profile){.session = pt_session_open(story->folder, &err)};
    if (!story->profile.session || pt_analyze(&story->profile, &err) < 0)
        fail_msg("%s", err.text);
}

pt_u32 story_stage(const struct story *story, const char *name)
{
    for (pt_u32 stage = 0; stage < story->profile.stages.n; stage++)
        if (!strcmp(story->profile.stages.items[stage].name, name))
            return stage;
    fail_msg("no stage %s", name);
    return 0;
}

double story_metric(const struct story *story, pt_u32 stage, const char *name)
{
    const struct pt_value value = pt_metrics_get(&story->profile.metrics, pt_scope_stage(stage), name);
    if (value.type == PT_VALUE_UNKNOWN)
        fail_msg("%s is unknown: %s", name, value.reason);
    return pt_value_number(value);
}

void story_end(struct story *story)
{
    char command[128];
    struct pt_session *session = story->profile.session;
    pt_profile_free(&story->profile);
    pt_session_close(session);
    fclose(story->text);
    snprintf(command, sizeof command, "rm -rf -- %s", story->folder);
    assert_int_equal(system(command), 0);
}
