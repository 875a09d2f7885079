/* SPDX-License-Identifier: MIT
 *
 * helper_trace.h - small trace files for tests, made by the writer of the analyzer.
 */
#ifndef PT_TESTS_HELPER_TRACE_H
#define PT_TESTS_HELPER_TRACE_H

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/event.h"
#include "model/session.h"
#include "source/trace_writer.h"

/* A process "test" with pid 100 that begins at instant 0 of its session, on a clock of 1 ns ticks. */
struct pt_trace_writer *helper_writer(void);
/* A record of a kind at a time, its payload set to field numbers of `seed`. */
struct pt_record helper_record(const struct pt_event_desc *desc, pt_u64 ticks, pt_u64 seed);
/* Two threads, some hundred events of every kind in three blocks, names, stacks, a module, an untraced program. */
struct pt_trace_writer *helper_sample(void);

/* Write bytes to a file in memory; its path (in /proc/self/fd) is valid until helper_close. */
struct helper_file {
    int fd;
    char path[64];
};
struct helper_file helper_file(const void *bytes, size_t n);
void helper_close(struct helper_file *file);

/* Open the writer's file as a session; fails the test when it cannot be opened. */
struct pt_session *helper_session(struct pt_trace_writer *writer);
/* Read all events of a session; their number. With `ret_events` != NULL they are copied there, at most `room`. */
size_t helper_read(struct pt_session *session, struct pt_event *ret_events, size_t room);
/* Open, read everything, dump to nowhere; 1 when the file could be opened at all. Never fails the test itself. */
int helper_digest(const char *path);

#endif
