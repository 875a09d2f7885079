/* SPDX-License-Identifier: MIT
 *
 * image_state.c - holds the state of the trace file, for all that work on it.
 */
#include "image_state.h"

struct pt_image *pt_image;

void pt_count_drop(enum pt_drop reason, pt_u64 events)
{
    struct pt_image *image = pt_image;
    if (image && image->header)
        __atomic_fetch_add(&image->header->drops[reason], events, __ATOMIC_RELAXED);
}
