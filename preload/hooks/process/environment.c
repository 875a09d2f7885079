/* SPDX-License-Identifier: MIT
 *
 * environment.c - whether an environment loads this library, and a copy of it that does not, for programs that would
 * break or print errors with it.
 *
 * Entered by the exec and spawn hooks, also in vfork children. Never reads through a pointer of the host that the
 * kernel has not checked yet. The copy lies in a mapping of its own; the caller's vector and strings are never changed.
 */
#include "environment.h"

#include <string.h>

#include "proftrace/limits.h"
#include "core/sys.h"
#include "core/text.h"

#define PRELOAD "LD_PRELOAD="
/* Variables that only this library sets. */
static int is_ours(const char *variable)
{
    return pt_text_starts(variable, "PROFTRACE_") ||
           ((pt_text_starts(variable, "CUDA_INJECTION64_PATH=") || pt_text_starts(variable, "NVTX_INJECTION64_PATH=") ||
             pt_text_starts(variable, "INTEL_LIBITTNOTIFY64=")) &&
            strstr(variable, PT_LIBRARY_NAME));
}

static int names_us(const char *item, pt_u64 length)
{
    const void *slash = memrchr(item, '/', length);
    const char *base = slash ? (const char *)slash + 1 : item;
    return (pt_u64)(item + length - base) >= sizeof PT_LIBRARY_NAME - 1 && pt_text_starts(base, PT_LIBRARY_NAME);
}

/* ---- does an environment start us? ---- */

/* Text of the host that may not be readable: a program that passes a wrong pointer gets EFAULT from the kernel, and
 * must not get SIGSEGV from us. */
struct reader {
    pt_u64 page; /* known to be readable; 1 = none */
};

static int is_readable(struct reader *reader, const void *at)
{
    enum { PAGE_BYTES = 4096 };
    const pt_u64 page = (pt_u64)at & ~(pt_u64)(PAGE_BYTES - 1);
    if (page == reader->page)
        return 1;
    if (!pt_sys_is_readable((pt_u64)at))
        return 0;
    reader->page = page;
    return 1;
}

/* Length of a string of at most `limit` bytes; -1 = it cannot be read. */
static long readable_length(struct reader *reader, const char *text, long limit)
{
    long length = 0;
    for (; length < limit; length++) {
        if (!is_readable(reader, text + length))
            return -1;
        if (!text[length])
            break;
    }
    return length;
}

static int items_name_us(const char *items)
{
    while (*items) {
        const pt_u64 length = strcspn(items, " :");
        if (length && names_us(items, length))
            return 1;
        items += length + (items[length] != 0);
    }
    return 0;
}

int pt_environment_starts_us(char *const *vector)
{
    enum { MOST_VARIABLES = 100000, MOST_BYTES = 128 << 10 /* the kernel's limit of one string */ };
    struct reader of_vector = {1}, of_text = {1};
    for (pt_u64 i = 0; vector && i < MOST_VARIABLES; i++) {
        if (!is_readable(&of_vector, vector + i))
            return 1;
        if (!vector[i])
            break;
        const long name_bytes = sizeof PRELOAD - 1;
        if (readable_length(&of_text, vector[i], name_bytes) < name_bytes || !pt_text_starts(vector[i], PRELOAD))
            continue;
        /* The loader takes the first one. */
        return readable_length(&of_text, vector[i], MOST_BYTES) < 0 || items_name_us(vector[i] + name_bytes);
    }
    return 0;
}

/* ---- an environment without us ---- */

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
        if (pt_text_starts(vector[count], PRELOAD))
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
        if (!pt_text_starts(vector[i], PRELOAD)) {
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
