/* SPDX-License-Identifier: MIT
 *
 * text/write.h - a whole session as text that a person can read, review and write by hand.
 *
 *     proftrace-text 1 start_realtime_ns=1700000000000000000
 *     process 100 ppid=1 start=0.000000000 end=2.000000000 state=exited exe="/usr/bin/cat" argv=["cat" "/x"] ...
 *     thread 100/100 slot=0 life=1 start=0.000000000
 *     0.001000000 +0.000000512 100/100 io_read fd=3 result=4096 path="/x" requested_bytes=4096
 *     totals 100/100 io_read calls=1 errors=0 bytes=4096 ns=512
 *     heap 100 slot=0 frees=0 failures=0 classes=[16:3:40 32:1:20]
 *
 * Processes and threads are named by their pid and tid, with #index behind it where one number is used twice. Lines
 * that start with # are comments. Everything but the pid of a process and the label of a thread may be left out; totals
 * and heap counters that are not given are those of the events. dump, assemble and dump again give the same text.
 */
#ifndef PT_MODEL_TEXT_WRITE_H
#define PT_MODEL_TEXT_WRITE_H

#include <stdio.h>

#include "model/session.h"

/* Write a session; -1 when writing failed. */
int pt_session_write_text(struct pt_session *session, FILE *out, struct pt_error *err);

#endif
