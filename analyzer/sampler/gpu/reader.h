/* SPDX-License-Identifier: MIT
 *
 * gpu/reader.h - a process of our own that asks the GPU driver, so that a driver which hangs, crashes or is slow never
 * delays the command, its start, or its end.
 *
 *     pt_gpu_reader_start(&reader, reason, sizeof reason);       its first message says which GPUs there are
 *     pt_gpu_reader_ask(&reader);
 *     if (pt_gpu_reader_take(&reader, 20, &reading)) ...         each request is answered by one message
 *     pt_gpu_reader_stop(&reader);
 */
#ifndef PT_SAMPLER_GPU_READER_H
#define PT_SAMPLER_GPU_READER_H

#include <sys/types.h>

#include "table.h"

struct pt_gpu_reader {
    pid_t pid; /* 0 = none, or it was waited for already */
    int fd;
    bool is_asked; /* and has not answered yet */
};

/* -1 = there is no GPU driver here; the reason says why. Does not wait for the driver. */
int pt_gpu_reader_start(struct pt_gpu_reader *reader, char *reason, size_t size);
void pt_gpu_reader_stop(struct pt_gpu_reader *reader);
/* False while an answer is outstanding. */
bool pt_gpu_reader_ask(struct pt_gpu_reader *reader);
/* The next message, waited for at most so long. 1, 0 = none yet, -1 = the reader is gone. */
int pt_gpu_reader_take(struct pt_gpu_reader *reader, int timeout_ms, struct pt_gpu_reading *ret_reading);

#endif
