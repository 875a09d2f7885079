/* SPDX-License-Identifier: MIT
 *
 * dump.c - Owns: `proftrace dump`: every event as text that assemble reads, or as one JSON object per line. Threads:
 * main only.
 */
#include <errno.h>
#include <string.h>

#include "merge/feed.h"
#include "model/text/json_fields.h"
#include "model/text/write.h"
#include "util/auto.h"
#include "util/json/json_writer.h"
#include "cmd.h"
#include "arguments/open_run.h"

static void json_event(struct pt_json *json, const struct pt_event *event)
{
    pt_json_object(json, NULL);
    pt_json_i64(json, "start_ns", event->start_ns);
    if (event->desc->role == PT_ROLE_SPAN)
        pt_json_i64(json, "duration_ns", event->duration_ns);
    pt_json_u64(json, "pid", event->process->pid);
    pt_json_u64(json, "tid", event->thread->tid);
    pt_json_u64(json, "process", event->process->index);
    pt_json_text(json, "event", event->desc->name);
    pt_json_fields(json, event, (const char *const[]){"event", NULL}); /* gpu_sync has one of that name */
    pt_json_end(json);
    pt_json_line(json);
}

static int dump_json(struct pt_session *session, struct pt_error *err)
{
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, NULL, err);
    struct pt_event event;
    struct pt_json json;
    int more;
    if (!feed)
        return -1;
    pt_json_init_file(&json, stdout, false);
    while ((more = feed->next(feed, &event, err)) > 0 && !json.failed)
        json_event(&json, &event);
    if (pt_json_close(&json) < 0)
        return pt_fail(err, "cannot write: %s", strerror(errno));
    return more < 0 ? -1 : 0;
}

int pt_cmd_dump(int argc, char **argv, struct pt_error *err)
{
    bool as_json = false;
    const struct pt_opt table[] = {PT_OPT_FLAG("json", 0, &as_json, "one JSON object per line and event"), PT_OPT_END};
    PT_AUTO(pt_session_closep) struct pt_session *session = NULL;
    const int done = pt_open_session(table, argc, argv, &session, err);
    if (done)
        return done < 0 ? -1 : 0;
    return as_json ? dump_json(session, err) : pt_session_write_text(session, stdout, err);
}
