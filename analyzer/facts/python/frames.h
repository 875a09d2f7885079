/* SPDX-License-Identifier: MIT
 *
 * python/frames.h - frames of Python as the library names them ("41:38:Set.load:/app/data.py", proftrace/python.h),
 * taken apart.
 */
#ifndef PT_FACTS_PYTHON_FRAMES_H
#define PT_FACTS_PYTHON_FRAMES_H

#include <stdbool.h>
#include <string.h>

#include "model/session.h"
#include "profile/metrics.h"
#include "profile/stacks.h"
#include "owner.h"

/* The name of a frame as a frame of a stack: function, file and line; its texts are interned in `texts`. False for a
 * text that is no such name. */
bool pt_python_frame_of(const char *name, struct pt_intern *texts, struct pt_stack_frame *ret_frame);

/* What import is made of: "<frozen importlib._bootstrap>". */
static inline bool pt_python_is_importer(const char *file)
{
    return file && !strncmp(file, "<frozen importlib", 17);
}

/* A module was looked for, or read. */
bool pt_python_imports(const struct pt_stack_frame *frames, pt_u32 n);

/* The frames of a stack of Python, innermost first, as many as there is room for; the outermost ones are left out. A
 * library's frames are marked as serving, unless there is nothing else. */
pt_u32 pt_python_stack(const struct pt_process *process, pt_u32 stack, struct pt_intern *texts,
                       struct pt_stack_frame ret_frames[PT_STACK_FRAMES]);

/* The frame that a user knows a stack of Python by: the innermost one of the program's own code, else the innermost;
 * NULL = it has none of Python. */
const struct pt_stack_frame *pt_python_own_frame(const struct pt_stack_frame *frames, pt_u32 n);

/* Of "load.<locals>.<genexpr>", a part of load without a name of its own, the length of "load"; else of all of it. */
size_t pt_python_named_length(const char *function);
/* Whether a function is another one, or such a part of it. */
bool pt_python_is_part_of(const char *function, const char *whole);

/* Whether a frame of Python is of such a function, in a file with `file` in its path: the end of its name is `name`.
 * The name of a method has its class only since Python 3.11: for "Popen._wait", "_wait" of that file will do. */
bool pt_python_is_function(const struct pt_stack_frame *frame, const char *file, const char *name);

/* Of "/usr/lib/python3.11/multiprocessing/pool.py" the part "pool.py"; NULL = a file of something else. Data sets of
 * Hugging Face, and pathos, have a package of their own with the same files: multiprocess. */
static inline const char *pt_python_in_multiprocessing(const char *file)
{
    static const char name[] = "/multiprocess";
    const char *at = file ? strstr(file, name) : NULL;
    for (; at; at = strstr(at, name)) {
        at += sizeof name - 1;
        const size_t n = strncmp(at, "ing", 3) ? 0 : 3;
        if (at[n] == '/')
            return at + n + 1;
    }
    return NULL;
}

/* "data.py:41 Set.load", as every table and finding names a place in Python: the file comes first, that is where the
 * user goes. */
const char *pt_python_place_text(struct pt_metrics *metrics, const char *file, pt_u32 line, const char *function);

#endif
