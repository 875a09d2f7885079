/* SPDX-License-Identifier: MIT
 *
 * small_file.h - the file that the processes of a session share as long as they are small.
 */
#ifndef PT_CORE_FILE_SMALL_FILE_H
#define PT_CORE_FILE_SMALL_FILE_H

#include "core/compiler.h"

/* A place in it for a head, zeros, mapped at `head`, which is untouched memory of ours. -EAGAIN: it cannot be had, and
 * the memory is as it was; -ENOMEM: the memory is lost, too. One thread, at the start of a process image or in a forked
 * child. */
long pt_small_file_append(char *head, pt_u64 trace_id);

#endif
