/* SPDX-License-Identifier: MIT
 *
 * start_memory.c - gives out the pieces of one mapping.
 *
 * Entered by the constructor and by a forked child at its start, both with one thread; at any other time there is
 * nothing left to give, and any thread may ask.
 */
#include "start_memory.h"

#include <sys/mman.h>

#include "sys.h"

static char *at;
static pt_u64 left_bytes;

void pt_start_memory_reserve(pt_u64 bytes)
{
    at = pt_sys_memory(bytes);
    left_bytes = at ? bytes : 0;
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
