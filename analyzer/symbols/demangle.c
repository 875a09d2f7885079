/* SPDX-License-Identifier: MIT
 *
 * demangle.c - names of Rust by ourselves, of C++ by __cxa_demangle of libstdc++, found at run time so that the
 * analyzer needs no C++.
 *
 * Owns: the handle of libstdc++, for the life of the process. One thread. Never: demangles a name of unbounded
 * length (names come from untrusted files, and templates grow exponentially). */
#include "demangle.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "demangle_rust.h"

#define MAX_MANGLED_BYTES 4096

typedef char *demangle_function(const char *name, char *buffer, size_t *length, int *status);

static demangle_function *find_demangler(void)
{
    static demangle_function *found;
    static int searched;
    if (searched)
        return found;
    searched = 1;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        library = dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library)
        *(void **)&found = dlsym(library, "__cxa_demangle");
    return found;
}

char *pt_demangle(const char *name)
{
    if (strnlen(name, MAX_MANGLED_BYTES) == MAX_MANGLED_BYTES)
        return NULL;
    char *rust = pt_demangle_rust(name);
    if (rust || strncmp(name, "_Z", 2) != 0)
        return rust;
    demangle_function *const demangle = find_demangler();
    int status = -1;
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    if (status == 0)
        return text;
    free(text);
    return NULL;
}
