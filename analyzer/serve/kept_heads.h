/* SPDX-License-Identifier: MIT
 *
 * kept_heads.h - what the heads of runs without run.json said, kept from one list to the next: such a run may have
 * twenty thousand, and a Prometheus asks every few seconds.
 */
#ifndef PT_SERVE_KEPT_HEADS_H
#define PT_SERVE_KEPT_HEADS_H

#include <sys/stat.h>

#include "profile/heads.h"
#include "util/map.h"
#include "util/vec.h"

struct pt_kept_run {
    dev_t device;
    struct timespec changed; /* the directory: a file came or went */
    pt_u64 until_ns;         /* by CLOCK_MONOTONIC; ~0 = for good */
    struct pt_run_heads heads;
};

/* Zero-initialised = empty. */
struct pt_kept_heads {
    struct pt_map by_inode; /* index + 1 of the run's */
    struct {
        PT_VEC(struct pt_kept_run);
    } runs;
};

/* Of the run at `path`, whose directory is as `status` says. The command is kept, too, and not the caller's. */
struct pt_run_heads pt_kept_heads_of(struct pt_kept_heads *kept, const char *path, const struct stat *status);
void pt_kept_heads_fini(struct pt_kept_heads *kept);

#endif
