/* SPDX-License-Identifier: MIT
 *
 * call_class.h - which calls count as reading, writing, metadata ...: written once, used by every analysis and report.
 */
#ifndef PT_FACTS_CALL_CLASS_H
#define PT_FACTS_CALL_CLASS_H

#include "model/session.h"

enum pt_call_class {
    PT_CALL_READ,  /* descriptor-level reads: read, pread, readv, preadv */
    PT_CALL_WRITE, /* descriptor-level writes */
    PT_CALL_OPEN,  /* open and mkstemp families */
    PT_CALL_STAT,  /* meta_stat */
    PT_CALL_META,  /* other metadata, directories, close */
    PT_CALL_SYNC,  /* fsync and similar: write time */
    PT_CALL_COPY,  /* sendfile and similar: counted separately, both read and write */
    PT_CALL_STDIO_READ,
    PT_CALL_STDIO_WRITE,
    PT_CALL_STDIO_OTHER,
    PT_CALL_MAP,
    PT_CALL_PROCESS, /* fork, spawn, system: waits for other processes */
    PT_CALL_WAIT,    /* for descriptors, time, signals, children, threads */
    PT_CALL_LOCK,    /* for mutexes and similar */
    PT_CALL_NETWORK, /* sockets made, connected, received from and sent to */
    PT_CALL_NONE,    /* heap, points, user ranges */
    PT_CALL__COUNT
};

enum pt_call_class pt_call_class_of(pt_u32 kind);

/* Sum of the kinds of a class. */
struct pt_kind_totals pt_call_class_sum(const struct pt_totals_by_kind *totals, enum pt_call_class which);

/* Calls of some nanoseconds are only counted, and points take no time. */
bool pt_call_is_timed(pt_u32 kind);

/* The call as people know it: "read" for io_read, "stat" for meta_stat, the event's name without its family. */
const char *pt_call_name(pt_u32 kind);

#endif
