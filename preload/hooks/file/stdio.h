/* SPDX-License-Identifier: MIT
 *
 * stdio.h - what the stdio hooks share: a stream's descriptor and the two spans.
 *
 * stdio is a layer of its own: the system calls that libc makes for it pass no hook, so its events are never added to
 * those of descriptors.
 */
#ifndef PT_HOOKS_FILE_STDIO_H
#define PT_HOOKS_FILE_STDIO_H

#define __NO_INLINE__ 1 /* or <stdio.h> defines getchar, printf and others in place, and we could not */
#include <stdio.h>

#include "core/names/fd_table.h"
#include "hooks/hook.h"

#pragma GCC visibility push(hidden)
void pt_stdio_read(pt_u64 start, pt_u64 end, FILE *stream, pt_i64 bytes);
void pt_stdio_wrote(pt_u64 start, pt_u64 end, FILE *stream, pt_i64 bytes);
void pt_stdio_find_functions(void); /* that nearly every forked child calls */
#pragma GCC visibility pop

/* Not fileno(), which sets errno. Streams that are no files (memory, cookies) have no descriptor, and the field for
 * it is not even cleared: libc's flag _IO_IS_FILEBUF, which belongs to its ABI, says which they are. */
#define STREAM_IS_FILE 0x2000

PT_ALWAYS_INLINE int pt_stdio_fd(const FILE *stream)
{
    return stream && (stream->_flags & STREAM_IS_FILE) ? stream->_fileno : -1;
}

#endif
