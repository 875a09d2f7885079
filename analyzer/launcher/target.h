/* SPDX-License-Identifier: MIT
 *
 * target.h - checks a command before it runs: its path, whether it can run, and whether it can be traced.
 */
#ifndef PT_LAUNCHER_TARGET_H
#define PT_LAUNCHER_TARGET_H

#include <limits.h>
#include <stdbool.h>

#include "util/error.h"

struct pt_target {
    char path[PATH_MAX];   /* what to give execve */
    char binary[PATH_MAX]; /* what the kernel will load: the interpreter, where path is a script */
    bool traced;
    bool preload; /* LD_PRELOAD does no harm; true for static programs too, because their children may be traceable */
    /* The first process that the library is in has the kernel's name of this command. False where that is not certain:
     * a static program starts another one, and /bin/sh runs a script without #!. */
    bool traced_by_name;
    char reason[200]; /* why it is not traced */
};

/* Where a command will run, when not where and as we do. */
struct pt_target_place {
    const char *path_variable; /* its PATH; NULL = ours */
    const char *cwd;           /* NULL = ours */
};

/* Look at a command as execvp would find it. -1 with exit code 127 (not found) or 126 (not executable). */
int pt_target_inspect(const char *command, const struct pt_target_place *place, struct pt_target *ret_target,
                      struct pt_error *err);

#endif
