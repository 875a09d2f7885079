/* SPDX-License-Identifier: MIT
 *
 * runs_root.c - Owns: the rule where runs lie. Threads: main only. Never: looks whether it is there.
 */
#include "runs_root.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

char *pt_without_slashes(char *path)
{
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = 0;
    return path;
}

char *pt_runs_root(void)
{
    static const char *const names[] = {"PROFTRACE_DIR", "PROFILE_OUTPUT_DIR"};
    const char *root = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !(root && *root); i++)
        root = getenv(names[i]);
    return pt_without_slashes(pt_strdup(root && *root ? root : "proftrace.data"));
}
