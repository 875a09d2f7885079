/* SPDX-License-Identifier: MIT
 *
 * core_events.h - the last events that the trace has of a process whose core dump is looked at.
 */
#ifndef PT_CMD_STUCK_CORE_EVENTS_H
#define PT_CMD_STUCK_CORE_EVENTS_H

#include "proftrace/types.h"
#include "util/json/json_writer.h"
#include "util/str.h"
#include "util/vec.h"

/* Lines as `dump` prints them, the last one first: 20 of the thread that died, one of each other. */
struct pt_core_thread {
    pt_u32 tid;
    bool has_died;
    struct {
        PT_VEC(char *);
    } lines;
};

struct pt_core_events {
    const char *run;
    char *why_not; /* NULL = they could be read */
    struct {
        PT_VEC(struct pt_core_thread);
    } threads;       /* the one that died first */
    size_t left_out; /* threads that have events, and are not among these */
};

/* `run` is the run directory, which the events point to. Never fails: it says why there are none. */
void pt_core_events_read(struct pt_core_events *events, const char *run, pt_u32 pid, pt_u32 died_tid);
void pt_core_events_fini(struct pt_core_events *events);

void pt_core_events_put(const struct pt_core_events *events, struct pt_str *out);
/* The member "trace" of the open object. */
void pt_core_events_json(const struct pt_core_events *events, struct pt_json *json);

#endif
