/* SPDX-License-Identifier: MIT
 *
 * arena.h - many small blocks with one life: allocated one by one, released all at once. Zero-initialised = empty.
 */
#ifndef PT_UTIL_ARENA_H
#define PT_UTIL_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct pt_arena_chunk;
struct pt_arena {
    struct pt_arena_chunk *chunks;
    size_t used, capacity; /* in the newest chunk */
};

void *pt_arena_alloc(struct pt_arena *arena, size_t bytes);               /* 16-byte aligned, not cleared */
char *pt_arena_text(struct pt_arena *arena, const void *bytes, size_t n); /* a copy with a NUL behind it */
/* vasprintf's; "" where that fails. */
__attribute__((format(printf, 2, 0))) const char *pt_arena_vformat(struct pt_arena *arena, const char *format,
                                                                   va_list arguments);
void pt_arena_fini(struct pt_arena *arena);

#endif
