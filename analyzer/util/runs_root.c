/* SPDX-License-Identifier: MIT
 *
 * runs_root.c - Owns: the rule where runs lie, and what the name of one means. Threads: main only. Never: looks into a
 * run.
 */
#include "runs_root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "auto.h"
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

char *pt_run_path(const char *named)
{
    struct stat status;
    if (*named && !strchr(named, '/') && stat(named, &status) < 0 && errno == ENOENT) {
        PT_AUTO(pt_freep) char *root = pt_runs_root();
        PT_AUTO(pt_freep) char *in_root = pt_asprintf("%s/%s", root, named);
        if (stat(in_root, &status) == 0)
            return pt_strdup(in_root);
    }
    return pt_strdup(named);
}
