/* SPDX-License-Identifier: MIT
 *
 * python/owner.h - whose code a function of Python is: the program's own, a library's, the interpreter's.
 *
 * A file tells, but for a program that is installed like a library (`pip install .`): there its stack tells, which
 * begins in the script that an installer writes beside it (/venv/bin/detector-train), or in `python -m detector.train`.
 */
#ifndef PT_FACTS_PYTHON_OWNER_H
#define PT_FACTS_PYTHON_OWNER_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/stacks.h"

/* The nearer to the user, the more. */
enum pt_python_owner { PT_OWNER_INTERPRETER, PT_OWNER_STANDARD_LIBRARY, PT_OWNER_PACKAGE, PT_OWNER_USER };

/* A file of Python's standard library, of a package that was installed, or of the interpreter itself ("<frozen os>"):
 * what a user looks for is the code that called it. */
bool pt_python_is_library(const char *file);

/* What a stack says of its program. Zeroed = of no frame yet. */
struct pt_python_program {
    const char *package; /* its outermost one, up to its name: "/lib/python3.11/site-packages/detector" */
    size_t length;
    bool has_own;  /* code that is in no package */
    bool is_begun; /* by a script of an installer, or by `python -m` */
};

/* The next frame further out. Texts must live as long. */
void pt_python_look(struct pt_python_program *program, const char *function, const char *file, pt_u32 line);

/* After the last one. */
enum pt_python_owner pt_python_owner_of(const struct pt_python_program *program, const char *function, const char *file,
                                        pt_u32 line);

/* A frame of a stack whose frames of libraries are marked as serving. */
static inline bool pt_python_is_own(const struct pt_stack_frame *frame)
{
    return frame->flags & PT_FRAME_OF_PYTHON && !(frame->flags & PT_FRAME_SERVES) && frame->file;
}

/* PT_FRAME_OF_PROGRAM where only its stack tells that it is the program's own. */
pt_u32 pt_python_owner_flags(enum pt_python_owner owner, const char *file);

/* The same of a frame of a stack, which has these flags. */
bool pt_python_is_library_frame(const struct pt_stack_frame *frame);

#endif
