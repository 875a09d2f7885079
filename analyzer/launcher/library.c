/* SPDX-License-Identifier: MIT
 *
 * library.c - Owns: the search for the tracer library. Threads: main only. Never: loads it.
 */
#include "library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proftrace/limits.h"
#include "util/auto.h"

/* Seen from the directory of the executable: the build folder, what CMAKE_INSTALL_LIBDIR may be, a wheel's. */
static const char *const places[] = {".", "../lib", "../lib/x86_64-linux-gnu", "../lib64", "../share/proftrace/lib",
                                     NULL};

static int executable_directory(char *directory, size_t size, struct pt_error *err)
{
    const ssize_t length = readlink("/proc/self/exe", directory, size - 1);
    if (length <= 0)
        return pt_fail(err, "cannot read /proc/self/exe (is /proc mounted?)");
    directory[length] = 0;
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = 0;
    return 0;
}

/* The loader splits LD_PRELOAD at spaces and colons and has no way to quote them. */
static int check_spelling(const char *path, struct pt_error *err)
{
    const char *bad = strpbrk(path, " \t\n:");
    if (!bad)
        return 0;
    return pt_fail(err, "%s cannot be preloaded because its path holds a %s; install proftrace in a path without one",
                   path, *bad == ':' ? "colon" : "space");
}

char *pt_library_find(struct pt_error *err)
{
    char directory[PATH_MAX];
    if (executable_directory(directory, sizeof directory, err) < 0)
        return NULL;
    for (const char *const *place = places; *place; place++) {
        char candidate[PATH_MAX + 64];
        snprintf(candidate, sizeof candidate, "%s/%s/" PT_LIBRARY_NAME, directory, *place);
        PT_AUTO(pt_freep) char *path = realpath(candidate, NULL);
        if (!path || access(path, R_OK) < 0)
            continue;
        if (check_spelling(path, err) < 0)
            return NULL;
        char *found = path;
        path = NULL;
        return found;
    }
    pt_fail(err, PT_LIBRARY_NAME " is neither in %s nor in ../lib beside it; build or install proftrace completely",
            directory);
    return NULL;
}
