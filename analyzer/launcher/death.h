/* SPDX-License-Identifier: MIT
 *
 * death.h - why a command did not end well, in words: "signal 9 (SIGKILL): out of memory: ...".
 */
#ifndef PT_LAUNCHER_DEATH_H
#define PT_LAUNCHER_DEATH_H

#include <stddef.h>

#include "proftrace/types.h"

struct pt_death {
    int wait_status;
    pt_u64 group_kills, machine_kills; /* for want of memory, while it ran: in its control groups, on the machine */
    pt_u64 rss_max_bytes, limit_bytes; /* 0 = unknown */
};

/* Not empty even for one that ended well. */
void pt_death_text(const struct pt_death *death, char *text, size_t size);

#endif
