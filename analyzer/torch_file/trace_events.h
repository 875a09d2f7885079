/* SPDX-License-Identifier: MIT
 *
 * trace_events.h - the events of a trace that torch.profiler wrote, one by one: a file of any size, packed or not. It
 * may be damaged or hostile: an event that is none is passed over, an end that is cut off ends it.
 */
#ifndef PT_TORCH_FILE_TRACE_EVENTS_H
#define PT_TORCH_FILE_TRACE_EVENTS_H

#include <stdbool.h>

#include "proftrace/types.h"
#include "util/error.h"

enum pt_torch_kind {
    PT_TORCH_OPERATOR, /* of PyTorch, on a CPU */
    PT_TORCH_RANGE,    /* that the program, or PyTorch for it, names */
    PT_TORCH_CALL,     /* of CUDA */
    PT_TORCH_KERNEL,   /* what a GPU did, copies too */
    PT_TORCH_MEMORY,   /* an allocator of PyTorch's: bytes > 0 were taken, < 0 given back */
};

enum { PT_TORCH_INPUTS = 4, PT_TORCH_DIMENSIONS = 6 };

/* Input i has dims[i][0..n_dims[i]-1]; a scalar, or what is not known, has none. */
struct pt_torch_shapes {
    pt_u32 n;
    pt_u32 n_dims[PT_TORCH_INPUTS];
    double dims[PT_TORCH_INPUTS][PT_TORCH_DIMENSIONS];
    char text[96]; /* of all inputs, as torch.profiler has it, "..." where it is longer; "" = not recorded */
};

struct pt_torch_event {
    enum pt_torch_kind kind;
    const char *name;         /* until the next event is read; hostile */
    double start_us, took_us; /* on the profiler's clock: finite, took_us >= 0 */
    pt_u64 thread;            /* the kernel's number of it, or, in builds without Kineto, one from 1 on */
    double bytes, held_bytes; /* MEMORY; held_bytes < 0: not known */
    bool is_of_cpu;           /* MEMORY */
    double groups;            /* of a convolution; 0 = not known */
    double stride[2], padding[2], dilation[2];
    pt_u32 gradients;   /* of a convolution's backward: those with respect to its input and its weight; 0 = not known */
    bool is_transposed; /* that convolution */
    struct pt_torch_shapes shapes; /* OPERATOR */
};

struct pt_torch_events;

/* NULL: it cannot be read (a link, no regular file, no trace). */
struct pt_torch_events *pt_torch_events_open(int directory, const char *name, struct pt_error *err);
/* False: there are no more. */
bool pt_torch_events_next(struct pt_torch_events *events, struct pt_torch_event *ret_event);
/* The file ended within an event, or before its end was said. */
bool pt_torch_events_are_cut(const struct pt_torch_events *events);
void pt_torch_events_close(struct pt_torch_events *events);
static inline void pt_torch_events_closep(struct pt_torch_events **events)
{
    if (*events)
        pt_torch_events_close(*events);
}

#endif
