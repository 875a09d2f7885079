/* SPDX-License-Identifier: MIT
 *
 * table/write.c - Owns: the rows of events, and the order of all. One thread. Never: holds events. */
#include "write.h"

#include "decode/field_value.h"
#include "export/selection.h"
#include "export/timeline/event_text.h"
#include "merge/feed.h"
#include "profile/stages.h"
#include "run_file/read.h"
#include "util/auto.h"
#include "rows.h"

/* What the event is about: its first text. */
static struct pt_value name_of(const struct pt_event *event)
{
    for (pt_u32 i = 0; i < event->desc->n_fields; i++) {
        const struct pt_field_value value = pt_field_value(event, &event->desc->fields[i]);
        if (value.form == PT_FORM_STRING && !value.is_absent)
            return pt_text(pt_process_string(event->process, (pt_u32)value.number));
    }
    return pt_unknown(NULL);
}

static struct pt_value error_of(const struct pt_event *event)
{
    for (pt_u32 i = 0; i < event->desc->n_fields; i++) {
        const struct pt_field_value value = pt_field_value(event, &event->desc->fields[i]);
        if (value.form == PT_FORM_ERROR)
            return pt_text(value.error);
    }
    return pt_unknown(NULL);
}

static void put_event(const struct pt_tabular_writer *writer, const struct pt_event *event, const char *stage)
{
    const struct pt_event_desc *desc = event->desc;
    const struct pt_row_events row = {
        .start_ns = {.type = PT_VALUE_INTEGER, .integer = event->start_ns},
        .duration_ns = desc->role == PT_ROLE_SPAN ? pt_integer((pt_u64)event->duration_ns) : pt_unknown(NULL),
        .stage = pt_text(stage),
        .category = pt_text(pt_category_name(desc->category)),
        .kind = pt_text(desc->name),
        .process = pt_integer(event->process->number),
        .pid = pt_integer(event->process->pid),
        .tid = pt_integer(event->thread->tid),
        .name = name_of(event),
        .bytes = desc->moves_bytes && event->result >= 0 ? pt_integer((pt_u64)event->result) : pt_unknown(NULL),
        .error = error_of(event),
    };
    writer->row(writer, &pt_tabulars[PT_TABULAR_events], (const struct pt_value *)(const void *)&row, event);
}

static int put_events(const struct pt_tabular_writer *writer, const struct pt_stages *stages,
                      struct pt_export_summary *summary, struct pt_error *err)
{
    PT_AUTO(pt_feed_closep)
    struct pt_feed *feed = pt_session_feed(writer->session, &writer->options->filter, err);
    struct pt_event event;
    int more = -1;
    while (feed && (more = feed->next(feed, &event, err)) > 0 && !writer->has_failed(writer)) {
        put_event(writer, &event, stages->items[stages->of_process[event.process->index]].name);
        if (event.desc->role == PT_ROLE_SPAN)
            summary->slices++;
        else
            summary->instants++;
    }
    return more < 0 ? -1 : 0;
}

int pt_tabular_write(const struct pt_tabular_writer *writer, struct pt_export_summary *ret_summary,
                     struct pt_error *err)
{
    PT_AUTO(pt_run_info_freep) struct pt_run_info *run = NULL;
    struct pt_stages stages = {0};
    *ret_summary = (struct pt_export_summary){0};
    for (pt_u32 i = 0; i < writer->session->n_processes; i++)
        if (pt_selects_process(&writer->options->filter, writer->session->processes[i])) {
            ret_summary->processes++;
            ret_summary->tracks += writer->session->processes[i]->n_threads;
        }
    if (pt_run_info_read(writer->session->path, &run, err) < 0)
        return -1;
    pt_stages_build(&stages, writer->session, run);
    const int result = put_events(writer, &stages, ret_summary, err);
    pt_stages_free(&stages);
    return result < 0 || !writer->has_all ? result : pt_tabular_rows(writer, err);
}
