/* SPDX-License-Identifier: MIT
 *
 * environment.h - whether an environment loads this library, and a copy of it that does not.
 */
#ifndef PT_HOOKS_PROCESS_ENVIRONMENT_H
#define PT_HOOKS_PROCESS_ENVIRONMENT_H

#include "core/compiler.h"

/* A copy of an environment, in a mapping of its own. */
struct pt_environment {
    char *const *vector;
    pt_u64 bytes; /* 0 = not a copy */
};

/* Whether a program with this environment loads us; also true where it cannot be read, because the kernel will
 * refuse it. */
int pt_environment_starts_us(char *const *vector) __attribute__((visibility("hidden")));
/* `vector` without our library in LD_PRELOAD and without our variables; `vector` itself when there is no memory. */
struct pt_environment pt_environment_without_us(char *const *vector) __attribute__((visibility("hidden")));
void pt_environment_release(const struct pt_environment *environment) __attribute__((visibility("hidden")));

#endif
