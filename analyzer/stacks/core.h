/* SPDX-License-Identifier: MIT
 *
 * stacks/core.h - the threads of a process that has died, from its core dump.
 */
#ifndef PT_STACKS_CORE_H
#define PT_STACKS_CORE_H

#include "util/error.h"
#include "types.h"

/* One process, the thread that died first. What it was doing is known of that one only. -1: no core dump, damaged, or
 * of another machine. Close with pt_look_close whatever the result; `look` is zeroed before. */
int pt_look_open_core(struct pt_look *look, const char *path, struct pt_error *err);

#endif
