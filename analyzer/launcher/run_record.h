/* SPDX-License-Identifier: MIT
 *
 * run_record.h - run.json: what the launcher knows about a run. Unknown is null.
 */
#ifndef PT_LAUNCHER_RUN_RECORD_H
#define PT_LAUNCHER_RUN_RECORD_H

#include "launch.h"
#include "session_dir.h"
#include "target.h"

#define PT_RUN_RECORD_FILE "run.json"

struct pt_run_record {
    char **argv;
    const char *stage;
    const struct pt_target *target;
    const struct pt_launch_result *result; /* NULL = it has not ended yet */
    pt_u64 interval_ns;
    const char *const *notes; /* NULL-terminated; NULL = none */
};

/* Replaces the file at once: a reader sees the old one or the new one, whole. */
int pt_run_record_write(const struct pt_session_dir *dir, const struct pt_run_record *record, struct pt_error *err);

#endif
