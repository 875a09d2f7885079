/* SPDX-License-Identifier: MIT
 *
 * python/remote.c - Owns: reading from other processes. Threads: main only. State: none. Never: stops a process;
 * writes.
 */
#include "remote.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

static struct iovec piece_at(pt_u64 address, size_t n)
{
    return (struct iovec){(void *)(uintptr_t)address, n};
}

bool pt_remote_read(pt_u32 pid, pt_u64 address, void *ret_bytes, size_t n)
{
    const struct iovec to = {ret_bytes, n}, from = piece_at(address, n);
    const ssize_t got = process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0);
    if (got >= 0 && got != (ssize_t)n)
        errno = EFAULT;
    return got == (ssize_t)n;
}

pt_u32 pt_remote_gather(pt_u32 pid, const pt_u64 *addresses, pt_u32 n, size_t piece_bytes, void *ret_bytes)
{
    struct iovec from[PT_REMOTE_PIECES_MAX];
    const struct iovec to = {ret_bytes, n * piece_bytes};
    for (pt_u32 i = 0; i < n; i++)
        from[i] = piece_at(addresses[i], piece_bytes);
    const ssize_t got = n ? process_vm_readv((pid_t)pid, &to, 1, from, n, 0) : 0;
    return got > 0 ? (pt_u32)((size_t)got / piece_bytes) : 0;
}

const pt_u8 *pt_remote_look(struct pt_remote_window *window, pt_u32 pid, pt_u64 address, size_t n)
{
    const pt_u64 offset = address - window->start;
    if (window->n_bytes >= n && offset <= window->n_bytes - n)
        return window->bytes + offset;
    /* Pages are there as a whole. The page before may be missing: it comes last. */
    const pt_u64 page = address & ~(pt_u64)(PT_REMOTE_PAGE_BYTES - 1);
    const size_t own_bytes = (address - page + n + PT_REMOTE_PAGE_BYTES - 1) & ~(size_t)(PT_REMOTE_PAGE_BYTES - 1);
    pt_u8 *own_pages = window->bytes + PT_REMOTE_PAGE_BYTES;
    const struct iovec to[] = {{own_pages, own_bytes}, {window->bytes, PT_REMOTE_PAGE_BYTES}};
    const struct iovec from[] = {piece_at(page, own_bytes),
                                 piece_at(page - PT_REMOTE_PAGE_BYTES, PT_REMOTE_PAGE_BYTES)};
    window->n_bytes = 0;
    if (n > PT_REMOTE_PAGE_BYTES || page < PT_REMOTE_PAGE_BYTES)
        return NULL;
    const ssize_t got = process_vm_readv((pid_t)pid, to, 2, from, 2, 0);
    if (got < (ssize_t)own_bytes)
        return NULL;
    const bool has_page_before = got == (ssize_t)(own_bytes + PT_REMOTE_PAGE_BYTES);
    if (!has_page_before)
        memmove(window->bytes, own_pages, own_bytes);
    window->start = has_page_before ? page - PT_REMOTE_PAGE_BYTES : page;
    window->n_bytes = (pt_u32)(own_bytes + (has_page_before ? PT_REMOTE_PAGE_BYTES : 0));
    return window->bytes + (address - window->start);
}
