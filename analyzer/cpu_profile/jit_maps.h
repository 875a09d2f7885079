/* SPDX-License-Identifier: MIT
 *
 * jit_maps.h - names of code that a process made while it ran: /tmp/perf-PID.map, which node, Java, Python and others
 * write when they are asked to, is copied into the run's directory when the process is over.
 */
#ifndef PT_CPU_PROFILE_JIT_MAPS_H
#define PT_CPU_PROFILE_JIT_MAPS_H

#include "threads.h"
#include "unwind.h"

struct pt_jit_maps {
    struct pt_map pids; /* of processes that ran such code -> 1 */
    pt_u64 n_bytes;     /* copied so far */
};

/* Where copies go, and whose they are. */
struct pt_jit_maps_to {
    int directory_fd;
    pt_u32 stage;
    pt_u64 begin_realtime_ns;
};

/* A stack was taken. */
void pt_jit_maps_note(struct pt_jit_maps *maps, const struct pt_code_modules *modules, pt_u32 pid,
                      const struct pt_unwound *stack);
/* A process is over; `main_thread`: NULL = unknown. */
void pt_jit_maps_copy(struct pt_jit_maps *maps, const struct pt_jit_maps_to *to,
                      const struct pt_live_thread *main_thread);
/* The stage is over; copies those of processes that go on. */
void pt_jit_maps_end(struct pt_jit_maps *maps, const struct pt_jit_maps_to *to, const struct pt_threads *threads);

#endif
