/* SPDX-License-Identifier: MIT
 *
 * start_memory.c - gives out the pieces of one mapping.
 *
 * Entered by the constructor and by a forked child at its start, both with one thread; at any other time there is
 * nothing left to give, and any thread may ask. Of a chain of forks each has the memory of its parent's parent, or it
 * would grow with each of them. Never unmaps what a forked child inherited: a signal handler that forks may return, in
 * the child, into the middle of a store.
 */
#include "start_memory.h"

#include <sys/mman.h>

#include "sys.h"

static char *at;
static pt_u64 left_bytes;

/* Kept across fork (not wiped): what the two latest children of this chain of forks had; 0 = none, or not any more. Of
 * the latest the next child still reads the text. */
static char *of_children[2];
static pt_u32 latest;
static char *of_this_child;

void pt_start_memory_reserve(pt_u64 bytes)
{
    at = pt_sys_memory(bytes);
    left_bytes = at ? bytes : 0;
}

/* Zeros in the place of what is there. */
static char *map_again(char *memory, pt_u64 bytes)
{
    const long map = pt_syscall6(SYS_mmap, (long)memory, (long)bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (map != (long)memory)
        return 0;
    pt_syscall3(SYS_madvise, memory, bytes, MADV_DONTDUMP);
    return memory;
}

void pt_start_memory_reserve_forked(pt_u64 bytes)
{
    char *old = of_children[latest ^ 1];
    of_children[latest ^ 1] = 0; /* where this fails, some of it is gone, and somebody else's may come there */
    at = old ? map_again(old, bytes) : 0;
    if (!at)
        at = pt_sys_memory(bytes);
    left_bytes = at ? bytes : 0;
    of_this_child = at;
}

void pt_start_memory_end_forked(int is_in_use)
{
    if (is_in_use && of_this_child && !left_bytes) {
        latest ^= 1;
        of_children[latest] = of_this_child;
    }
    pt_start_memory_end();
}

void *pt_start_memory(pt_u64 bytes)
{
    const pt_u64 whole = pt_whole_pages(bytes);
    char *piece = at;
    if (whole > left_bytes)
        return pt_sys_memory(bytes);
    at += whole;
    left_bytes -= whole;
    return piece;
}

void pt_start_memory_end(void)
{
    if (left_bytes)
        pt_syscall2(SYS_munmap, at, left_bytes);
    left_bytes = 0;
}
