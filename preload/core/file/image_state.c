/* SPDX-License-Identifier: MIT
 *
 * image_state.c - holds the state of the trace file, and nothing else. Which threads may write a field stands in
 * image_state.h; never does any work.
 */
#include "image_state.h"

struct pt_image *pt_image;
struct pt_kept_text pt_kept_text;

void pt_count_drop(enum pt_drop reason, pt_u64 events)
{
    struct pt_image *image = pt_image;
    if (image && image->header)
        __atomic_fetch_add(&image->header->drops[reason], events, __ATOMIC_RELAXED);
}
