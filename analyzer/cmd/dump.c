/* SPDX-License-Identifier: MIT
 *
 * dump.c - Owns: `proftrace dump`: every event as text that assemble reads, or as one JSON object per line. Threads:
 * main only.
 */
#include <errno.h>
#include <string.h>

#include "decode/field_value.h"
#include "merge/feed.h"
#include "model/text/write.h"
#include "util/auto.h"
#include "util/json/json_writer.h"
#include "cmd.h"
#include "open_run.h"

static void json_field(struct pt_json *json, const struct pt_event *event, const struct pt_field_desc *field,
                       const char *name)
{
    const struct pt_field_value value = pt_field_value(event, field);
    const pt_u64 *frames;
    if (field->unit_class == PT_CLASS_EVENT) {
        pt_json_text(json, name, pt_field_name(field, &value));
        return;
    }
    switch (value.form) {
    case PT_FORM_STRING:
        pt_json_text(json, name, value.is_absent ? NULL : pt_process_string(event->process, (pt_u32)value.number));
        break;
    case PT_FORM_STACK:
        pt_json_array_inline(json, name);
        for (pt_u32 i = 0, n = pt_process_stack(event->process, (pt_u32)value.number, &frames); i < n; i++)
            if (pt_frame_is_python(frames[i]))
                pt_json_text(json, NULL, pt_process_string(event->process, pt_python_frame_name(frames[i])));
            else
                pt_json_u64(json, NULL, frames[i]);
        pt_json_end(json);
        break;
    case PT_FORM_REAL:
        pt_json_f64(json, name, value.real);
        break;
    case PT_FORM_HEX:
    case PT_FORM_SIGNED:
    case PT_FORM_UNSIGNED:
    case PT_FORM_ERROR:
        if (field->is_signed)
            pt_json_i64(json, name, pt_field_raw(event, field));
        else
            pt_json_u64(json, name, value.bits);
    }
}

/* A field may be named as a key that every event has: gpu_sync's event. A thread that says the same twice says it once.
 */
static void json_fields(struct pt_json *json, const struct pt_event *event)
{
    char name[64];
    for (pt_u32 i = 0; i < event->desc->n_fields; i++) {
        const struct pt_field_desc *field = &event->desc->fields[i];
        const bool is_tid = strcmp(field->name, "tid") == 0;
        if (is_tid && pt_field_raw(event, field) == (pt_i64)event->thread->tid)
            continue;
        snprintf(name, sizeof name, "%s%s", is_tid || strcmp(field->name, "event") == 0 ? "field_" : "", field->name);
        json_field(json, event, field, name);
    }
}

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
    json_fields(json, event);
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
