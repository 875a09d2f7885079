/* SPDX-License-Identifier: MIT
 *
 * room.h - room for new threads, taken out of pools.
 */
#ifndef PT_CORE_FILE_ROOM_H
#define PT_CORE_FILE_ROOM_H

#include "core/private.h"
#include "image.h"

/* What a thread needs to record. */
struct pt_room {
    char *area;              /* of the trace file; NULL = none */
    struct pt_private *priv; /* NULL = the thread maps its own */
};

/* Room that is there already. Callable anywhere. */
struct pt_room pt_room_take(void);
/* An area, made if need be; NULL when limits or the disk refuse. On a private stack, signals blocked. */
char *pt_room_area(void);

#endif
