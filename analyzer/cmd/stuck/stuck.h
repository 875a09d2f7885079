/* SPDX-License-Identifier: MIT
 *
 * stuck.h - the stacks of a command that does not go on, kept with its run: stacks.txt in the run directory.
 */
#ifndef PT_CMD_STUCK_STUCK_H
#define PT_CMD_STUCK_STUCK_H

#include <sys/types.h>

struct pt_stuck {
    int run_fd;        /* the run directory */
    const char *stage; /* hostile */
    char reason[400];  /* of the last look, clean, for one line; "" = not known */
};

/* Look at `pid` and all that descends from it, now: at most some hundredths of a second of any of them are taken. `why`
 * is the heading: "nothing has moved for 60 s". What cannot be written or read is said in the reason. */
void pt_stuck_look(struct pt_stuck *stuck, pid_t pid, const char *why);

#endif
