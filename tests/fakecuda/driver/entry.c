/* SPDX-License-Identifier: MIT
 *
 * entry.c - how callers of the driver find its functions: by name and version, the twins by a flag; and the private
 * tables, of which there are none.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stddef.h>

enum { INVALID_VALUE = 1, NOT_FOUND = 500, PER_THREAD_FLAG = 2 };

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);
int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags);
int cuGetExportTable(const void **table, const void *id);
int cuGetErrorName(int code, const char **name);

/* Among the spellings of a name the newest of ours that the caller's version knows. */
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
    static const char *const endings[] = {"_v2", ""};
    char spelt[128];
    (void)version;
    if (!name || !function)
        return INVALID_VALUE;
    *function = NULL;
    for (int i = 0; i < 2 && !*function; i++) {
        snprintf(spelt, sizeof spelt, "%s%s%s", name, endings[i], flags & PER_THREAD_FLAG ? "_ptsz" : "");
        *function = dlsym(RTLD_DEFAULT, spelt);
        snprintf(spelt, sizeof spelt, "%s%s", name, endings[i]);
        if (!*function)
            *function = dlsym(RTLD_DEFAULT, spelt);
    }
    if (status)
        *status = *function ? 0 : 1;
    return *function ? 0 : NOT_FOUND;
}

int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

int cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    *table = NULL;
    return NOT_FOUND;
}

int cuGetErrorName(int code, const char **name)
{
    *name = code ? "CUDA_ERROR" : "CUDA_SUCCESS";
    return 0;
}
