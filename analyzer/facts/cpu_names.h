/* SPDX-License-Identifier: MIT
 *
 * facts/cpu_names.h - the CPU profile of a stage with names, and what each of its samples stands for.
 *
 * A thread's samples share its on-CPU time, which is exact: so functions add up to it. Among those of all threads,
 * short ones of a name share theirs, but one stands for a period at most: the kernel takes the first sample of a thread
 * when it has run for that long, so that of a thousand commands that ran for less none says what they did. Where the
 * kernel could not be sampled, a sample is one period.
 */
#ifndef PT_FACTS_CPU_NAMES_H
#define PT_FACTS_CPU_NAMES_H

#include <stdbool.h>

#include "cpu_file/cpu_data.h"
#include "symbols/symbols.h"
#include "util/map.h"
#include "util/vec.h"
#include "code_kind.h"

/* A function as it is shown: frames of one name in one module are one. */
struct pt_cpu_function {
    const char *name; /* never NULL: "[libfoo.so]" where nobody knows, or "[libfoo.so near foo_open]" where it exports
                         that just behind; "[kernel]", "[cut]", "JIT code (V8)" */
    const char *file; /* NULL = unknown */
    const char *module;
    pt_u32 line;   /* where most of its time went; 0 = unknown */
    bool has_name; /* it is the function's own; all code of the file without one, near the same, is one function */
    enum pt_code_kind code; /* by its module */
};

/* A function and what called it; one per function also where calls were inlined, and one for neighbours of a file
 * without names. */
struct pt_cpu_frame {
    pt_u32 parent; /* its number is less; 0 = nobody called it */
    pt_u32 function;
    pt_u32 line;          /* of Python; 0 = as its function's */
    pt_u32 called_at;     /* line of the caller: from where most of its time comes; 0 = unknown */
    bool is_in_allocator; /* one of its functions, or what these call */
    bool is_in_cupti;     /* likewise */
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
    enum pt_code_kind *code_of;     /* by module of the data */
    bool *runs_python;              /* by node: the interpreter, or what serves it */
    pt_u32 tracer;                  /* the function that all of our library's are shown as; 0 = it never ran */
    double *sample_s;               /* by thread: seconds that one sample stands for among its own */
    double *shared_s;               /* the same among those of all threads */
    double unsampled_s;             /* of threads that no sample stands for */
    struct pt_map by_name, by_call; /* module and name -> function, parent and function -> frame */
};

static inline const struct pt_cpu_function *pt_cpu_function_of(const struct pt_cpu_view *view, pt_u32 frame)
{
    return &view->functions.items[view->frames.items[frame].function];
}
static inline bool pt_cpu_is_script(const struct pt_cpu_view *view, pt_u32 frame)
{
    return pt_cpu_function_of(view, frame)->code == PT_CODE_SCRIPT;
}
/* The function as which a frame is shown: our own are one. */
static inline pt_u32 pt_cpu_shown(const struct pt_cpu_view *view, pt_u32 frame)
{
    const pt_u32 function = view->frames.items[frame].function;
    return view->functions.items[function].code == PT_CODE_TRACER ? view->tracer : function;
}
/* The line in a frame; `called_at`: by what it called, 0 = unknown. */
static inline pt_u32 pt_cpu_line(const struct pt_cpu_view *view, pt_u32 frame, pt_u32 called_at)
{
    const struct pt_cpu_frame *what = &view->frames.items[frame];
    return what->line ? what->line : called_at ? called_at : view->functions.items[what->function].line;
}
/* The caller of a frame that is shown; our own functions that called each other are one frame. */
pt_u32 pt_cpu_shown_caller(const struct pt_cpu_view *view, pt_u32 frame);
/* The line of that caller. */
pt_u32 pt_cpu_shown_called_at(const struct pt_cpu_view *view, pt_u32 frame);

/* The data and the symbols stay the caller's; they must live as long. What is opened does not change: any thread may
 * look. */
void pt_cpu_view_of(struct pt_cpu_view *view, struct pt_cpu_data *data, struct pt_symbols *symbols);
/* The times of its threads have changed. */
void pt_cpu_view_weigh(struct pt_cpu_view *view);
void pt_cpu_view_close(struct pt_cpu_view *view);

#endif
