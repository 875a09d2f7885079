/* SPDX-License-Identifier: MIT
 *
 * resolve.h - a path as Python's Path.resolve() has it.
 */
#ifndef PT_PIPELINE_RESOLVE_H
#define PT_PIPELINE_RESOLVE_H

#include "util/error.h"
#include "util/str.h"

/* Absolute, without . and .., symbolic links followed as far as the path exists; what does not exist stays as it is.
 * -1 when links lead in a circle. */
int pt_path_resolve(const char *path, struct pt_str *out, struct pt_error *err);

#endif
