/* SPDX-License-Identifier: MIT
 *
 * runs.h - the runs of a directory, the newest first.
 */
#ifndef PT_SERVE_RUNS_H
#define PT_SERVE_RUNS_H

#include <stdbool.h>
#include <stdlib.h>

#include "proftrace/types.h"
#include "util/vec.h"
#include "kept_heads.h"

struct pt_listed_run {
    char *name;      /* of its directory: hostile */
    pt_u64 start_ns; /* realtime; of a run without run.json that of its first process, or when its directory was changed
                        last */
    double duration_ns; /* NAN = not known */
    char *command;      /* of its first stage or process; NULL = not known */
    char status[16];    /* ok, failed, timeout, running, unknown; without run.json: running, ended, or unknown where
                           it may run elsewhere */
    bool may_go_on;     /* nobody here can tell; "unknown" is also one that is over, and whose end nobody saw */
};

struct pt_listed_runs {
    PT_VEC(struct pt_listed_run);
};

/* Has run.json or trace files. */
bool pt_is_run(const char *path);
/* Directories with run.json or trace files, without hidden ones; links are not followed. What was kept of the list
 * before is not read again. */
struct pt_listed_runs pt_runs_list(const char *directory, struct pt_kept_heads *kept);
void pt_runs_free(struct pt_listed_runs *runs);
/* The path of one of them, or of a hidden one, to be freed; NULL = there is none of that name. The name may come from
 * anybody: no path that it makes is opened. */
char *pt_runs_path_of(const char *directory, const char *name);

#endif
