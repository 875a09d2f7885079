/* SPDX-License-Identifier: MIT
 *
 * vec.h - a growing array: `struct { PT_VEC(int); } numbers = {0}; pt_vec_push(&numbers, 7); free(numbers.items);`
 */
#ifndef PT_UTIL_VEC_H
#define PT_UTIL_VEC_H

#include <stddef.h>

#include "mem.h"

#define PT_VEC(type)                                                                                                   \
    type *items;                                                                                                       \
    size_t n, capacity

/* Room for one more item of `size` bytes. */
static inline void *pt_vec_grow(void *items, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity)
        return items;
    *capacity = *capacity ? *capacity * 2 : 8;
    return pt_realloc(items, *capacity * size);
}

#define pt_vec_push(vec, item)                                                                                         \
    ((vec)->items = pt_vec_grow((vec)->items, (vec)->n, &(vec)->capacity, sizeof *(vec)->items),                       \
     (vec)->items[(vec)->n++] = (item))

/* An empty array may have no memory, and to NULL nothing may be added, not even 0. */
#define pt_vec_each(pointer, vec) for (pointer = (vec)->items; (vec)->n && pointer < (vec)->items + (vec)->n; pointer++)

#endif
