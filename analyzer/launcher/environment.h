/* SPDX-License-Identifier: MIT
 *
 * environment.h - the environment of the traced command: the caller's, plus exactly our named variables.
 */
#ifndef PT_LAUNCHER_ENVIRONMENT_H
#define PT_LAUNCHER_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct pt_variable {
    const char *name, *value;
};

struct pt_environment_request {
    const char *library;            /* NULL = do not preload; where it is inherited it is taken out */
    const char *session;            /* NULL = no session either: nothing of ours */
    const char *heap;               /* NULL = as inherited */
    const char *stage;              /* NULL = as inherited */
    const struct pt_variable *more; /* set before ours, so that ours win */
    size_t n_more;
};

/* Does this path of so many bytes name our library, wherever it is installed? */
bool pt_environment_is_ours(const char *path, size_t length);

/* A new NULL-terminated vector, to be freed with pt_environment_free; NULL when memory is out. */
char **pt_environment_make(char *const *inherited, const struct pt_environment_request *request, struct pt_error *err);
void pt_environment_free(char **environment);
static inline void pt_environment_freep(char ***environment)
{
    pt_environment_free(*environment);
}

#endif
