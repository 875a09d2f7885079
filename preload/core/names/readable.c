/* SPDX-License-Identifier: MIT
 *
 * readable.c - asks the kernel for the pages of what the host passed.
 *
 * Entered from any hook, on stacks of which little may be left.
 */
#include "readable.h"

#include "core/sys.h"

PT_NOINLINE int pt_is_readable(struct pt_reader *reader, const void *at)
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

PT_NOINLINE long pt_readable_length(struct pt_reader *reader, const char *text, long limit)
{
    long length = 0;
    for (; length < limit; length++) {
        if (!pt_is_readable(reader, text + length))
            return -1;
        if (!text[length])
            break;
    }
    return length;
}
