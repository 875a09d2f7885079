/* SPDX-License-Identifier: MIT
 *
 * environment.h - what an environment loads of this library, and a copy of it that does not.
 */
#ifndef PT_HOOKS_PROCESS_ENVIRONMENT_H
#define PT_HOOKS_PROCESS_ENVIRONMENT_H

#include "core/compiler.h"

/* A copy of an environment, in a mapping of its own. */
struct pt_environment {
    char *const *vector;
    pt_u64 bytes; /* 0 = not a copy */
};

/* What a program with this environment loads. */
enum pt_loading {
    PT_LOADING_NOTHING,    /* it does not name us */
    PT_LOADING_US,         /* or the environment cannot be read, and the kernel will refuse it */
    PT_LOADING_LOCKED_OUT, /* it names us, but it cannot write into the run directory */
    PT_LOADING_MISSING,    /* it names us, but there the loader cannot open our file, and would print an error */
};

enum pt_loading pt_environment_loading(char *const *vector) __attribute__((visibility("hidden")));
/* It names us, but only by our file's path will the loader find us there. */
int pt_environment_needs_path(char *const *vector) __attribute__((visibility("hidden")));
/* `vector` without our library in LD_PRELOAD and the variables that we set; `vector` itself when there is no memory,
 * or where it cannot be read. */
struct pt_environment pt_environment_without_us(char *const *vector) __attribute__((visibility("hidden")));
/* `vector` with our file's path in LD_PRELOAD where it has only our name; likewise. */
struct pt_environment pt_environment_by_path(char *const *vector) __attribute__((visibility("hidden")));
/* A vfork child makes its copy in the memory of its parent, and cannot release it once it is another program: the next
 * one of this thread that leaves a copy does, so that a process that starts many keeps one. */
void pt_environment_leave(const struct pt_environment *environment) __attribute__((visibility("hidden")));
void pt_environment_release(const struct pt_environment *environment) __attribute__((visibility("hidden")));

#endif
