/* SPDX-License-Identifier: MIT
 *
 * cpu/function_rows.h - the rows of a table of functions, under names that a reader can act on. Every sample is self
 * time of exactly one of them:
 *
 *     at::native::add                          a function with a name
 *     at::native::add > [libtorch_cpu.so]      code without names that it calls, of that file
 *     [libjpeg.so]                             the same where no caller's name says more
 *     JIT code (oneDNN)                        code that was made at run time
 *     read > [kernel]                          the kernel, called by that function
 *     page faults > [kernel]                   the kernel, called by nobody: it maps memory that code touches
 *     proftrace                                what recording took, in our library and in the kernel for it
 */
#ifndef PT_ANALYSIS_CPU_FUNCTION_ROWS_H
#define PT_ANALYSIS_CPU_FUNCTION_ROWS_H

#include "facts/cpu_names.h"

struct pt_function_row {
    const char *name;   /* as long as the view lives */
    const char *module; /* NULL = in no file */
    pt_u32 function;    /* whose file and line it has; 0 = of none */
};

struct pt_function_rows {
    struct pt_cpu_view *view;
    PT_VEC(struct pt_function_row);     /* by number; 0 is not used */
    struct pt_map by_function, by_name; /* function of the view, or text of the name -> row */
    struct pt_map of_frame;             /* frame -> row, and whether it is there yet */
};

void pt_function_rows_open(struct pt_function_rows *rows, struct pt_cpu_view *view);
void pt_function_rows_close(struct pt_function_rows *rows);

/* Whose self time a sample at the node is. `ret_caller`: the frame that called it, for whom it is total time only. */
pt_u32 pt_function_row_of_sample(struct pt_function_rows *rows, pt_u32 node, pt_u32 *ret_caller);
/* The row of a frame on the stack; 0 = it has none: our hooks pass calls through, and are nobody's time. */
pt_u32 pt_function_row_of_frame(struct pt_function_rows *rows, pt_u32 frame);

#endif
