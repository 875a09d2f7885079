/* SPDX-License-Identifier: MIT
 *
 * stuck.h - the stacks of a command that does not go on, kept with its run: stacks.txt in the run directory.
 */
#ifndef PT_CMD_STUCK_STUCK_H
#define PT_CMD_STUCK_STUCK_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/str.h"

struct pt_stuck {
    int run_fd;           /* the run directory */
    const char *stage;    /* hostile; set by pt_stuck_begin */
    char reason[600];     /* of the last look, clean, for one line; "" = not known */
    struct pt_str folded; /* the stacks of the last look, equal ones once; none = they could not be read */
    unsigned looks;       /* at this stage, that nobody asked for */
};

enum pt_stuck_seen {
    PT_STUCK_NOT_SEEN,  /* there were so many looks that this one was not taken; what the last one found is there still
                         */
    PT_STUCK_AS_BEFORE, /* the reason is the one of the last look */
    PT_STUCK_NEW,
};

/* What is looked at from here on belongs to this stage: what was found in another one is forgotten. */
void pt_stuck_begin(struct pt_stuck *stuck, const char *stage);

/* Look at `pid` and all that descends from it, now: at most some hundredths of a second of any of them are taken. `why`
 * is the heading: "nothing has moved for 60 s". What cannot be written or read is said in the reason. `is_asked`: by a
 * person, or before a stage is ended: it is taken however many there were. */
enum pt_stuck_seen pt_stuck_look(struct pt_stuck *stuck, pid_t pid, const char *why, bool is_asked);

/* The process died, and the system kept a dump: its stacks are kept with the run, too. `cwd` is where it began. True:
 * the reason says where it died. False: there is no dump that can be found and read. */
bool pt_stuck_core(struct pt_stuck *stuck, pid_t pid, const char *cwd);

#endif
