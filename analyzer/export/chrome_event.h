/* SPDX-License-Identifier: MIT
 *
 * chrome_event.h - one line of a Chrome trace after another, counted.
 *
 *     char *at = pt_chrome_begin(out, 'X', pid, tid, start_ns);
 *     at = pt_put(at, ",\"name\":\"read\"");
 *     pt_chrome_end(out, at);
 *
 * A line may hold PT_SINK_ROOM bytes: five strings and as many numbers as events have.
 */
#ifndef PT_EXPORT_CHROME_EVENT_H
#define PT_EXPORT_CHROME_EVENT_H

#include "../decode/event.h"
#include "export.h"
#include "put.h"

/* What lines of one event kind have in common. */
struct pt_chrome_kind {
    bool is_ready;
    bool moves_bytes; /* its first field says how many bytes were moved */
    char head[120];   /* ,"cat":"io","name":"read","args":{ */
    pt_u32 head_bytes;
    struct pt_put_text keys[PT_MAX_FIELDS]; /* "path": */
};

struct pt_chrome_out {
    struct pt_chrome_kind *kinds; /* 256, by event id; zeroed by the owner */
    struct pt_sink *sink;
    struct pt_export_summary *summary;
    bool has_lines;
};

/* {"ph":"X","pid":1,"tid":1,"ts":0.000 */
char *pt_chrome_begin(struct pt_chrome_out *out, char phase, pt_u32 pid, pt_u32 tid, pt_i64 at_ns);
void pt_chrome_end(struct pt_chrome_out *out, char *at);

/* Metadata with a text or a number as its value. */
void pt_chrome_name(struct pt_chrome_out *out, pt_u32 pid, pt_u32 tid, const char *what, const char *name);
void pt_chrome_sort_index(struct pt_chrome_out *out, pt_u32 pid, pt_u32 tid, const char *what, pt_u32 index);

void pt_chrome_counter(struct pt_chrome_out *out, pt_u32 pid, pt_i64 at_ns, const char *name, const char *series,
                       pt_u64 value);
struct pt_chrome_end_of_flow {
    pt_u32 pid, tid;
    pt_i64 at_ns;
};
/* An arrow between the slices that lie at both instants. Left out when it would point back in time: no viewer accepts
 * that. */
void pt_chrome_flow(struct pt_chrome_out *out, const char *name, const struct pt_chrome_end_of_flow *from,
                    const struct pt_chrome_end_of_flow *to);

/* ,"cat":"io","name":"read","args":{...}: kind and fields of the event; strings only where asked for, they are most of
 * a file's size. */
char *pt_chrome_put_event(struct pt_chrome_out *out, char *at, const struct pt_event *event, bool with_strings);

#endif
