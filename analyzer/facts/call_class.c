/* SPDX-License-Identifier: MIT
 *
 * Owns: the classes of calls. Threads: any. Never: keeps state.
 */
#include "call_class.h"

#include <string.h>

#include "proftrace/events.h"

/* What a call is by its category, unless it is named below. */
enum {
    CLASS_HEAP = PT_CALL_NONE,
    CLASS_CLOCK = PT_CALL_NONE,
    CLASS_PYTHON = PT_CALL_NONE,
    CLASS_USER = PT_CALL_NONE,
    CLASS_CUDA = PT_CALL_NONE,
    CLASS_GPU = PT_CALL_NONE,
    CLASS_META = PT_CALL_META,
    CLASS_IO = PT_CALL_META,
    CLASS_STDIO = PT_CALL_STDIO_OTHER,
    CLASS_MAP = PT_CALL_MAP,
    CLASS_PROC = PT_CALL_PROCESS,
    CLASS_WAIT = PT_CALL_WAIT,
    CLASS_NET = PT_CALL_NETWORK,
};

static const pt_u8 by_category[PT_KIND__COUNT] = {
#define EVENT(id, name, category, role, doc, ...) [PT_KIND_##name] = CLASS_##category,
#include "proftrace/events.def"
#undef EVENT
};

/* Of single kinds, plus 1. Not io_open_temp: mkstemp opens inside libc, strace -k would not count it as the program's.
 */
static const pt_u8 by_kind[PT_KIND__COUNT] = {
#define ROW(name, class) [PT_KIND_##name] = PT_CALL_##class + 1
    ROW(io_read, READ),
    ROW(io_pread, READ),
    ROW(io_readv, READ),
    ROW(io_preadv, READ),
    ROW(io_write, WRITE),
    ROW(io_pwrite, WRITE),
    ROW(io_writev, WRITE),
    ROW(io_pwritev, WRITE),
    ROW(io_open, OPEN),
    ROW(meta_stat, STAT),
    ROW(io_sync, SYNC),
    ROW(io_map_sync, SYNC),
    ROW(io_copy, COPY),
    ROW(lock_wake, NONE), /* points */
    ROW(lock_init, NONE),
    ROW(stdio_read, STDIO_READ),
    ROW(stdio_write, STDIO_WRITE),
    ROW(stdio_flush, STDIO_WRITE),
    ROW(wait_thread, LOCK),
    ROW(lock_mutex, LOCK),
    ROW(lock_rwlock, LOCK),
    ROW(lock_cond, LOCK),
    ROW(lock_sem, LOCK),
    ROW(lock_barrier, LOCK),
    ROW(lock_semop, LOCK),
    ROW(io_lock, LOCK),
#undef ROW
};

enum pt_call_class pt_call_class_of(pt_u32 kind)
{
    if (kind >= PT_KIND__COUNT)
        return PT_CALL_NONE;
    return by_kind[kind] ? (enum pt_call_class)(by_kind[kind] - 1) : (enum pt_call_class)by_category[kind];
}

static const bool is_span[PT_KIND__COUNT] = {
#define EVENT(id, name, category, role, doc, ...) [PT_KIND_##name] = PT_ROLE_##role == PT_ROLE_SPAN,
#include "proftrace/events.def"
#undef EVENT
};

bool pt_call_is_timed(pt_u32 kind)
{
    return is_span[kind] && kind != PT_KIND_meta_read_dir && kind != PT_KIND_stdio_char;
}

struct pt_kind_totals pt_call_class_sum(const struct pt_totals_by_kind *totals, enum pt_call_class which)
{
    struct pt_kind_totals sum = {0};
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
        if (pt_call_class_of(kind) == which)
            pt_kind_totals_add(&sum, pt_totals_of(totals, kind));
    return sum;
}

static const char *const names[PT_KIND__COUNT] = {
#define EVENT(id, name, category, role, doc, ...) [PT_KIND_##name] = #name,
#include "proftrace/events.def"
#undef EVENT
};

const char *pt_call_name(pt_u32 kind)
{
    if (kind >= PT_KIND__COUNT)
        return "unknown";
    const char *name = names[kind];
    for (int i = 0; i < 2; i++) {
        static const char *const families[] = {"io_", "meta_"};
        if (!strncmp(name, families[i], strlen(families[i])))
            return name + strlen(families[i]);
    }
    return name;
}
