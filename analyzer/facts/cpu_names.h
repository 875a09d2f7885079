/* SPDX-License-Identifier: MIT
 *
 * facts/cpu_names.h - the CPU profile of a stage with names, and what each of its samples stands for.
 *
 * A thread's samples share its on-CPU time, which is exact: so functions add up to it, and short threads that happened
 * to be sampled once count no more than they ran. Where the kernel could not be sampled, a sample is one period.
 */
#ifndef PT_FACTS_CPU_NAMES_H
#define PT_FACTS_CPU_NAMES_H

#include <stdbool.h>

#include "cpu_file/cpu_data.h"
#include "symbols/symbols.h"
#include "util/map.h"
#include "util/vec.h"

/* A function as it is shown: frames of one name in one module are one. */
struct pt_cpu_function {
    const char *name; /* never NULL: "[libfoo.so]" where nobody knows, "[kernel]", "[cut]" */
    const char *file; /* NULL = unknown */
    const char *module;
    pt_u32 line; /* that was met first; 0 = unknown */
};

/* A function and what called it; one per function also where calls were inlined. */
struct pt_cpu_frame {
    pt_u32 parent; /* its number is less; 0 = nobody called it */
    pt_u32 function;
};

struct pt_cpu_view {
    struct pt_cpu_data *data;
    struct pt_symbols *symbols;
    struct pt_intern texts;
    struct {
        PT_VEC(struct pt_cpu_function);
    } functions; /* by id; 0 is not used */
    struct {
        PT_VEC(struct pt_cpu_frame);
    } frames;                       /* by number; 0 = no frame */
    pt_u32 *frame_of;               /* by node of the data */
    bool *runs_python;              /* by node: the interpreter, or what it called of libc */
    double *sample_s;               /* by thread: seconds that one sample of it stands for */
    struct pt_map by_name, by_call; /* module and name -> function, parent and function -> frame */
};

/* The data stays the caller's. What is opened does not change: any thread may look. */
void pt_cpu_view_of(struct pt_cpu_view *view, struct pt_cpu_data *data);
void pt_cpu_view_close(struct pt_cpu_view *view);

/* The innermost frame that is the program's own, not libc's or our hook's; the frame itself where there is none. */
pt_u32 pt_cpu_view_program_frame(const struct pt_cpu_view *view, pt_u32 frame);

/* The innermost function that is not the kernel's. */
pt_u32 pt_cpu_view_function(const struct pt_cpu_view *view, pt_u32 node);
/* Whether a node of code that ran is the kernel's, mapping a page that was missing: no system call. */
bool pt_cpu_view_is_page_fault(const struct pt_cpu_view *view, pt_u32 node);

/* Whether a file is the Python interpreter. */
bool pt_cpu_is_python(const char *module);
/* Whether the innermost frame of a node of the data is in the Python interpreter. */
bool pt_cpu_view_is_python(const struct pt_cpu_view *view, pt_u32 node);

#endif
