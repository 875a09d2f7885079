/* SPDX-License-Identifier: MIT
 *
 * map.c - hooks of mmap, munmap and mremap: files mapped into memory are I/O without a read, anonymous memory is heap.
 *
 * Entered by any thread of the host. Our own mappings are made by raw system calls and never come here; neither do
 * those that malloc makes inside libc.
 */
#include <sys/mman.h>

#include "core/names/fd_table.h"
#include "hooks/hook.h"

CUSTOM(void *, mmap, (void *at, size_t length, int protection, int flags, int fd, off_t offset),
       (at, length, protection, flags, fd, offset))
CUSTOM(void *, mmap64, (void *at, size_t length, int protection, int flags, int fd, off_t offset),
       (at, length, protection, flags, fd, offset))
CUSTOM(int, munmap, (void *at, size_t length), (at, length))
CUSTOM_RAW(void *, mremap, (void *at, size_t length, size_t new_length, int flags, void *new_at),
           (at, length, new_length, flags, new_at))
HOOK(int, msync, (void *at, size_t length, int flags), (at, length, flags), io,
     pt_spent(PT_EV_io_map_sync, start, end, 0, pt_result_and(ret, 0), length))

/* Anonymous memory belongs to the heap's figures, too. */
PT_ALWAYS_INLINE int is_recorded(void)
{
    return pt_likely(pt_switches.io) || pt_switches.heap;
}

PT_ALWAYS_INLINE pt_u64 address_or_zero(const void *result)
{
    return result == MAP_FAILED ? 0 : (pt_u64)result;
}

static PT_NOINLINE void mapped(pt_u64 start, pt_u64 end, const void *result, size_t length, int flags, int fd)
{
    if (flags & MAP_ANONYMOUS)
        pt_spent(PT_EV_map_anon, start, end, 0, address_or_zero(result), length);
    else if (pt_switches.io)
        pt_spent(PT_EV_io_map, start, end, fd, pt_result_and(result == MAP_FAILED ? -1 : 0, pt_fd_path(fd)), length);
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    if (!is_recorded())
        return real_mmap(at, length, protection, flags, fd, offset);
    const pt_u64 start = pt_clock();
    void *const result = real_mmap(at, length, protection, flags, fd, offset);
    mapped(start, pt_clock(), result, length, flags, fd);
    return result;
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    if (!is_recorded())
        return real_mmap64(at, length, protection, flags, fd, offset);
    const pt_u64 start = pt_clock();
    void *const result = real_mmap64(at, length, protection, flags, fd, offset);
    mapped(start, pt_clock(), result, length, flags, fd);
    return result;
}

/* Neither this nor mremap has a place: CPython gives back the memory of a frame while it is still the thread's newest.
 */
int munmap(void *at, size_t length)
{
    if (!is_recorded())
        return real_munmap(at, length);
    const pt_u64 start = pt_clock();
    const int ret = real_munmap(at, length);
    pt_spent_without_place(PT_EV_map_remove, start, pt_clock(), 0, ret == 0 ? (pt_u64)at : 0, length);
    return ret;
}

void *hook_mremap(void *at, size_t length, size_t new_length, int flags, void *new_at)
{
    if (!is_recorded())
        return real_mremap(at, length, new_length, flags, new_at);
    const pt_u64 start = pt_clock();
    void *const result = real_mremap(at, length, new_length, flags, new_at);
    pt_spent_without_place(PT_EV_map_resize, start, pt_clock(), 0, address_or_zero(result), new_length);
    return result;
}
