/* SPDX-License-Identifier: MIT
 *
 * Owns: the classes of calls. Threads: any. Never: keeps state.
 */
#include "call_class.h"

#include <string.h>

/* What a call is by its category, unless it is named below. */
static enum pt_call_class class_of_category(enum pt_category category)
{
    switch (category) {
    case PT_CATEGORY_META:
    case PT_CATEGORY_IO:
        return PT_CALL_META;
    case PT_CATEGORY_STDIO:
        return PT_CALL_STDIO_OTHER;
    case PT_CATEGORY_MAP:
        return PT_CALL_MAP;
    case PT_CATEGORY_PROC:
        return PT_CALL_PROCESS;
    case PT_CATEGORY_WAIT:
        return PT_CALL_WAIT;
    case PT_CATEGORY_NET:
        return PT_CALL_NETWORK;
    case PT_CATEGORY_HEAP:
    case PT_CATEGORY_USER:
    case PT_CATEGORY_CUDA:
    case PT_CATEGORY_GPU:
        break;
    }
    return PT_CALL_NONE;
}

static const pt_u16 categories[PT_ROW__COUNT] = {
#define EVENT(id, name, category, role, doc, ...) [PT_ROW_##name] = PT_CATEGORY_##category,
#include "proftrace/events.def"
#undef EVENT
};

static bool is_lock(pt_u32 row)
{
    return row == PT_ROW_wait_thread || row == PT_ROW_lock_mutex || row == PT_ROW_lock_rwlock ||
           row == PT_ROW_lock_cond || row == PT_ROW_lock_sem || row == PT_ROW_lock_barrier ||
           row == PT_ROW_lock_semop || row == PT_ROW_io_lock;
}

enum pt_call_class pt_call_class_of(pt_u32 row)
{
    switch (row) {
    case PT_ROW_io_read:
    case PT_ROW_io_pread:
    case PT_ROW_io_readv:
    case PT_ROW_io_preadv:
        return PT_CALL_READ;
    case PT_ROW_io_write:
    case PT_ROW_io_pwrite:
    case PT_ROW_io_writev:
    case PT_ROW_io_pwritev:
        return PT_CALL_WRITE;
    case PT_ROW_io_open: /* not io_open_temp: mkstemp opens inside libc, strace -k would not count it as the program's
                          */
        return PT_CALL_OPEN;
    case PT_ROW_meta_stat:
        return PT_CALL_STAT;
    case PT_ROW_io_sync:
    case PT_ROW_io_map_sync:
        return PT_CALL_SYNC;
    case PT_ROW_io_copy:
        return PT_CALL_COPY;
    case PT_ROW_lock_wake: /* points */
    case PT_ROW_lock_init:
        return PT_CALL_NONE;
    case PT_ROW_stdio_read:
        return PT_CALL_STDIO_READ;
    case PT_ROW_stdio_write:
    case PT_ROW_stdio_flush:
        return PT_CALL_STDIO_WRITE;
    default:
        return is_lock(row)          ? PT_CALL_LOCK
               : row < PT_ROW__COUNT ? class_of_category((enum pt_category)categories[row])
                                     : PT_CALL_NONE;
    }
}

void pt_row_totals_add(struct pt_row_totals *a, const struct pt_row_totals *b)
{
    a->calls += b->calls;
    a->errors += b->errors;
    a->bytes += b->bytes;
    a->ns += b->ns;
}

struct pt_row_totals pt_call_class_sum(const struct pt_row_totals rows[PT_TOTALS_ROWS], enum pt_call_class which)
{
    struct pt_row_totals sum = {0};
    for (pt_u32 row = 0; row < PT_ROW__COUNT; row++)
        if (pt_call_class_of(row) == which)
            pt_row_totals_add(&sum, &rows[row]);
    return sum;
}

static const char *const names[PT_ROW__COUNT] = {
#define EVENT(id, name, category, role, doc, ...) [PT_ROW_##name] = #name,
#include "proftrace/events.def"
#undef EVENT
};

const char *pt_call_name(pt_u32 row)
{
    if (row >= PT_ROW__COUNT)
        return "unknown";
    const char *name = names[row];
    for (int i = 0; i < 2; i++) {
        static const char *const families[] = {"io_", "meta_"};
        if (!strncmp(name, families[i], strlen(families[i])))
            return name + strlen(families[i]);
    }
    return name;
}
