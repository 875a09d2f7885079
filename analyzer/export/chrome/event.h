/* SPDX-License-Identifier: MIT
 *
 * chrome/event.h - one line of a Chrome trace after another, counted.
 *
 *     char *at = pt_chrome_begin(out, 'X', pid, tid, start_ns);
 *     at = pt_put(at, ",\"name\":\"read\"");
 *     pt_chrome_end(out, at);
 *
 * A line may hold PT_SINK_ROOM bytes: five strings and as many numbers as events have.
 */
#ifndef PT_EXPORT_CHROME_EVENT_H
#define PT_EXPORT_CHROME_EVENT_H

#include "decode/event.h"
#include "export/export.h"
#include "export/out/put.h"
#include "export/timeline/event_text.h"

/* What lines of one event kind have in common. */
struct pt_chrome_kind {
    bool is_ready;
    char head[120];              /* ,"cat":"io","name":"read","args":{ */
    struct pt_put_text category; /* ,"cat":"io","name": */
    pt_u32 head_bytes;
    struct pt_put_text keys[PT_MAX_FIELDS]; /* "path": */
};

struct pt_chrome_out {
    struct pt_chrome_kind kinds[256]; /* by event id */
    struct pt_sink *sink;
    struct pt_export_summary *summary;
    bool has_lines;
    pt_u64 n_arrows;
};

/* {"ph":"X","pid":1,"tid":1,"ts":0.000 */
char *pt_chrome_begin(struct pt_chrome_out *out, char phase, pt_u32 pid, pt_u32 tid, pt_i64 at_ns);
void pt_chrome_end(struct pt_chrome_out *out, char *at);

/* Metadata with a text or a number as its value. */
void pt_chrome_name(struct pt_chrome_out *out, pt_u32 pid, pt_u32 tid, const char *what, const char *name);
void pt_chrome_sort_index(struct pt_chrome_out *out, pt_u32 pid, pt_u32 tid, const char *what, pt_u32 index);

/* ,"cat":"io","name":"read","args":{...  : kind and fields of the event, the brace left open; `name` NULL = that of
 * the kind; strings only on request, because they are most of a file's size. */
char *pt_chrome_put_event(struct pt_chrome_out *out, char *at, const struct pt_event *event, const char *name,
                          bool with_strings);

#endif
