/* SPDX-License-Identifier: MIT
 *
 * defs.h - space for definitions.
 */
#ifndef PT_CORE_FILE_DEFS_H
#define PT_CORE_FILE_DEFS_H

#include "core/thread.h"

/* Room for a definition of `bytes` in the thread's definition space; NULL when there is none. Callable anywhere. */
void *pt_defs_reserve(struct pt_tracer_thread *t, pt_u64 bytes);

#endif
