/* SPDX-License-Identifier: MIT
 *
 * early_library.h - blocks that were allocated before any preloaded library was initialised.
 */
#ifndef FAULT_EARLY_LIBRARY_H
#define FAULT_EARLY_LIBRARY_H

#include <stddef.h>

#define EARLY_BLOCKS 300
extern void *early_blocks[EARLY_BLOCKS];
extern size_t early_sizes[EARLY_BLOCKS];
extern int early_faults;
extern long early_opens;
int early_block_is_whole(int index);
void early_threads_join(void);

#endif
