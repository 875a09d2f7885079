/* SPDX-License-Identifier: MIT
 *
 * annotation.c - ids for ranges that may end on another thread. Any thread, lock-free; never gives an id twice.
 */
#include "annotation.h"

pt_u64 pt_annotation_new_id(void)
{
    static pt_u64 last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}
