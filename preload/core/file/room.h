/* SPDX-License-Identifier: MIT
 *
 * room.h - room for new threads, taken out of pools.
 */
#ifndef PT_CORE_FILE_ROOM_H
#define PT_CORE_FILE_ROOM_H

#include "core/private.h"

/* What a thread needs to record. */
struct pt_room {
    char *area;              /* of the trace file; NULL = none */
    struct pt_private *priv; /* NULL = the thread maps its own */
};

/* Room that is there already. Callable anywhere. */
struct pt_room pt_room_take(void);
/* Threads for which there is room already. Callable anywhere. */
pt_u32 pt_room_left(void);

/* On a private stack, signals blocked: an area, made if need be; NULL when limits or the disk refuse. */
char *pt_room_area(void);
/* Make room for many threads, unless another thread is at it. */
void pt_room_make_pool(void);
#define PT_ROOM_MOST_AREAS 128u /* of a growth: 12 MiB */

#endif
