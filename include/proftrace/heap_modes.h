/* SPDX-License-Identifier: MIT
 *
 * heap_modes.h - how the modes of recording the heap are written, by enum pt_heap_mode; NULL ends them.
 */
#ifndef PROFTRACE_HEAP_MODES_H
#define PROFTRACE_HEAP_MODES_H

#include <stddef.h>

/* As PROFTRACE_HEAP takes them; `proftrace run --heap` has them as a choice. */
#define PT_HEAP_MODES "off|sampled|full"
static const char *const pt_heap_modes[] = {"off", "sampled", "full", NULL};

#endif
