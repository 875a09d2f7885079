/* SPDX-License-Identifier: MIT
 *
 * environment.c - a copy of an environment without us, for programs that would break or complain with us.
 *
 * Entered by the exec and spawn hooks, also in vfork children. The copy lies in a mapping of its own; the caller's
 * vector and strings are never changed.
 */
#include "target.h"

#include <string.h>
#include <sys/mman.h>

#include "../core/sys.h"

#define PRELOAD "LD_PRELOAD="
#define LIBRARY "libproftrace.so"

static int starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Variables that only we set. */
static int is_ours(const char *variable)
{
    return starts_with(variable, "PROFTRACE_") ||
           ((starts_with(variable, "CUDA_INJECTION64_PATH=") || starts_with(variable, "NVTX_INJECTION64_PATH=") ||
             starts_with(variable, "INTEL_LIBITTNOTIFY64=")) &&
            strstr(variable, LIBRARY));
}

static int names_us(const char *item, pt_u64 length)
{
    const void *slash = memrchr(item, '/', length);
    const char *base = slash ? (const char *)slash + 1 : item;
    return (pt_u64)(item + length - base) >= sizeof LIBRARY - 1 && starts_with(base, LIBRARY);
}

/* LD_PRELOAD's items are separated by spaces and colons. Returns the end of what was written, `out` when nothing is
 * left. */
static char *write_preload(char *out, const char *items)
{
    char *at = out;
    int kept = 0;
    memcpy(at, PRELOAD, sizeof PRELOAD - 1);
    at += sizeof PRELOAD - 1;
    while (*items) {
        const pt_u64 length = strcspn(items, " :");
        if (length && !names_us(items, length)) {
            if (kept)
                *at++ = ':';
            memcpy(at, items, length);
            at += length;
            kept = 1;
        }
        items += length + (items[length] != 0);
    }
    if (!kept)
        return out;
    *at++ = 0;
    return at;
}

struct pt_environment pt_environment_without_us(char *const *vector)
{
    struct pt_environment unchanged = {vector, 0};
    if (!vector)
        return unchanged;
    pt_u64 count = 0, bytes = 0;
    for (; vector[count]; count++)
        if (starts_with(vector[count], PRELOAD))
            bytes += strlen(vector[count]) + 1;
    bytes += (count + 1) * sizeof *vector;
    char **copy = pt_sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!copy)
        return unchanged;
    char *text = (char *)(copy + count + 1);
    pt_u64 kept = 0;
    for (pt_u64 i = 0; i < count; i++) {
        if (is_ours(vector[i]))
            continue;
        if (!starts_with(vector[i], PRELOAD)) {
            copy[kept++] = vector[i];
            continue;
        }
        char *end = write_preload(text, vector[i] + sizeof PRELOAD - 1);
        if (end != text)
            copy[kept++] = text;
        text = end;
    }
    copy[kept] = 0;
    return (struct pt_environment){copy, bytes};
}

void pt_environment_release(const struct pt_environment *environment)
{
    if (environment->bytes)
        pt_syscall2(SYS_munmap, environment->vector, environment->bytes);
}
