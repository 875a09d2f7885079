/* SPDX-License-Identifier: MIT
 *
 * text/process_lines.h - one process of a session's text on its way to a trace file.
 */
#ifndef PT_MODEL_TEXT_PROCESS_LINES_H
#define PT_MODEL_TEXT_PROCESS_LINES_H

#include "proftrace/events.h"
#include "decode/event.h"
#include "source/trace_writer.h"
#include "util/map.h"
#include "util/vec.h"
#include "keys.h"

struct pt_text_thread {
    struct pt_text_process *process;
    pt_u32 slot, life, tid;
    pt_i64 start_ns, end_ns; /* INT64_MAX / INT64_MIN = not given */
    struct pt_totals counted[PT_KIND__COUNT], given[PT_KIND__COUNT];
    bool is_given[PT_KIND__COUNT];
    pt_u64 allocs, bytes, frees; /* of a life that has ended, as given */
};

struct pt_text_process {
    struct pt_trace_writer *writer;
    char *file_name;
    pt_i64 start_ns;
    pt_u64 overwritten;
    struct {
        PT_VEC(struct pt_text_thread *);
    } threads;
    struct pt_map heaps; /* slots whose heap counters were given */
};

struct pt_text_process *pt_text_process_new(pt_u32 pid, pt_u32 number);
void pt_text_process_free(struct pt_text_process *process);
struct pt_text_thread *pt_text_thread_new(struct pt_text_process *process, pt_u32 tid);

int pt_text_process_header(struct pt_text_process *p, const struct pt_keys *keys, pt_u64 start_realtime_ns,
                           struct pt_error *err);
int pt_text_thread_line(struct pt_text_thread *thread, const struct pt_keys *keys, struct pt_error *err);
int pt_text_module(struct pt_text_process *p, const struct pt_keys *keys, struct pt_error *err);
int pt_text_untraced(struct pt_text_process *p, const struct pt_keys *keys, struct pt_error *err);
int pt_text_lost(struct pt_text_process *p, const struct pt_keys *keys, struct pt_error *err);
int pt_text_heap(struct pt_text_process *p, const struct pt_keys *keys, struct pt_error *err);
int pt_text_totals(struct pt_text_thread *thread, const struct pt_event_desc *desc, const struct pt_keys *keys,
                   struct pt_error *err);
/* desc NULL = allocations and releases. */
int pt_text_minute(struct pt_text_thread *thread, const struct pt_event_desc *desc, const struct pt_keys *keys,
                   struct pt_error *err);
int pt_text_process_event(struct pt_text_thread *thread, const struct pt_event *event, struct pt_error *err);
int pt_text_process_save(struct pt_text_process *p, const char *path, struct pt_error *err);

#endif
