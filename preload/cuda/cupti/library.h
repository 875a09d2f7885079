/* SPDX-License-Identifier: MIT
 *
 * cupti/library.h - the libcupti that belongs to this program.
 */
#ifndef PT_CUDA_CUPTI_LIBRARY_H
#define PT_CUDA_CUPTI_LIBRARY_H

#include "state.h"

/* Load it. Returns NULL, or why there is none. */
const char *pt_cupti_load(struct pt_cupti *c);
/* The function of that name in the libcupti that is there already; NULL when there is none. */
void *pt_cupti_function(const char *name);

#endif
