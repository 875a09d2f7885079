/* SPDX-License-Identifier: MIT
 *
 * annotation.c - numbers the ranges of the process that may end on another thread.
 */
#include "annotation.h"

pt_u64 pt_annotation_new_id(void)
{
    static pt_u64 last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}
