/* SPDX-License-Identifier: MIT
 *
 * gpu/imports.h - when each thread imported modules: time in which a GPU is idle for once, however long the run is.
 */
#ifndef PT_ANALYSIS_GPU_IMPORTS_H
#define PT_ANALYSIS_GPU_IMPORTS_H

#include "decode/event.h"
#include "state.h"

/* After pt_gpu_ranges_event. */
void pt_gpu_imports_event(struct pt_gpu *gpu, const struct pt_event *event);

/* Events of the thread are missing: an import that is open may have ended there. */
void pt_gpu_imports_hole(struct pt_gpu_thread *thread, const struct pt_hole *hole);

struct pt_gpu_imported {
    pt_i64 start_ns, end_ns; /* cut to the interval that was asked for */
    const char *module;      /* NULL = its name was not recorded */
};
/* The last import of the thread within [start_ns, end_ns). Returns false when there is none. */
bool pt_gpu_imports_last(const struct pt_gpu *gpu, const struct pt_thread *thread, pt_i64 start_ns, pt_i64 end_ns,
                         struct pt_gpu_imported *ret);

#endif
