/* SPDX-License-Identifier: MIT
 *
 * operator_sums.h - what the operators of a stage's profiler windows did, by name, by name and shapes, and by epoch.
 */
#ifndef PT_ANALYSIS_TORCH_OPERATOR_SUMS_H
#define PT_ANALYSIS_TORCH_OPERATOR_SUMS_H

#include "torch_file/window.h"

struct pt_operator_sum {
    const char *name;
    const char *shapes;  /* by shapes; else NULL */
    pt_u32 stage, epoch; /* by epoch; else 0 */
    bool is_gpu;
    pt_u64 calls;
    pt_i64 self_ns, total_ns;
    double flops;      /* NAN = not known of any */
    double self_bytes; /* taken less given back */
    double peak_bytes; /* < 0: not known */
};

struct pt_operator_sums {
    PT_VEC(struct pt_operator_sum);
    struct pt_map by_key;
    struct pt_intern texts;
};

/* Of a stage: self time of all, and steps, by epoch where windows are of epochs. */
enum pt_operator_grouping { PT_BY_NAME, PT_BY_SHAPES, PT_BY_EPOCH };

/* Adds the operators, calls of CUDA, kernels and ranges of a window; not the profiler's own steps. */
void pt_operator_sums_add(struct pt_operator_sums *sums, const struct pt_torch_window *window, pt_u32 stage,
                          enum pt_operator_grouping grouping);
/* By stage, epoch, and self time, the largest first; equal ones by name. */
void pt_operator_sums_sort(struct pt_operator_sums *sums);
void pt_operator_sums_fini(struct pt_operator_sums *sums);

/* A span that is a row of the tables. */
bool pt_is_operator(const struct pt_torch_span *span);

#endif
