/* SPDX-License-Identifier: MIT
 *
 * profile/heads.h - what the heads of its trace files say of a run: enough for one that no launcher noted.
 */
#ifndef PT_PROFILE_HEADS_H
#define PT_PROFILE_HEADS_H

#include <stdbool.h>

#include "proftrace/format.h"

/* Of a file of its own, or of one in the file of small processes; ret_offset = where it begins there. */
bool pt_head_read(const char *path, struct pt_file_header *ret_head, pt_u64 *ret_offset);

struct pt_run_heads {
    bool is_known; /* one could be read */
    bool is_running;
    bool may_run_elsewhere;   /* one has noted no end, and it cannot be seen from here whether it runs */
    bool have_noted_ends;     /* all of them */
    bool is_whole;            /* as many were read as session.bin counts; false where it is missing */
    pt_u64 n_made;            /* that count, from before they were read; 0 = not known */
    pt_u64 start_realtime_ns; /* of its first process */
    char *command;            /* of that one, with secrets masked: hostile; NULL = not known. The caller frees it. */
};

/* Of the run at `path`. */
struct pt_run_heads pt_run_heads_read(const char *path);
/* Whether a process has begun since, which is counted also where it has no file of its own. */
bool pt_run_has_grown(const char *path, const struct pt_run_heads *since);

#endif
