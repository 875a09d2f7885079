/* SPDX-License-Identifier: MIT
 *
 * machine.h - what the parts of the virtual machine share behind fakegpu.h. Order of locks: CUPTI's before the
 * machine's; no record is written with the machine's lock held.
 */
#ifndef FAKEGPU_MACHINE_H
#define FAKEGPU_MACHINE_H

#include "activity.h"
#include <pthread.h>

extern pthread_mutex_t fg_machine_lock;

enum { FG_STREAM_MAGIC = 0x57e4a11, FG_EVENT_MAGIC = 0xe7e27, FG_GRAPH_MAGIC = 0x96a9e, FG_POOL_MAGIC = 0x9001 };
enum { FG_DEFAULT_STREAM_ID = 7, FG_FIRST_STREAM_ID = 13, FG_LEGACY = 1, FG_PER_THREAD = 2 };

/* Streams of all devices, the newest first; with the machine's lock held. */
struct fg_stream *fg_streams(void);
/* [start, end) of the operation on the stream's timeline; waits while the queue is full. */
void fg_schedule(struct fg_call *call, struct fg_stream *stream, const struct fg_op *op, uint64_t duration_ns,
                 uint64_t *start_ns, uint64_t *end_ns);
uint64_t fg_duration_ns(const struct fg_op *op);
void fg_witness_operation(const struct fg_call *call, const struct fg_stream *stream, const struct fg_op *op,
                          uint64_t start_ns, uint64_t end_ns);
void fg_queue_host_function(const struct fg_op *op, uint64_t at_ns);
int fg_thread(void); /* gettid, remembered */

#endif
