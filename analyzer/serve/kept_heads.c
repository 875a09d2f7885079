/* SPDX-License-Identifier: MIT
 *
 * Owns: which runs need not be looked into again. Threads: one. Never: keeps what still runs, or what it cannot tell
 * from a run that goes on: each process that begins is counted in session.bin, also one without a file of its own.
 */
#include "kept_heads.h"

#include <stdlib.h>

#include "util/clock.h"

/* Of what has not noted its end it is only likely that it is over: it is looked at again, but not for every request. */
#define LIKELY_FOR_NS 60000000000u

static bool is_as_it_was(const struct pt_kept_run *run, const char *path, const struct stat *status)
{
    return run->device == status->st_dev && run->changed.tv_sec == status->st_mtim.tv_sec &&
           run->changed.tv_nsec == status->st_mtim.tv_nsec && pt_monotonic_ns() < run->until_ns &&
           !pt_run_has_grown(path, &run->heads);
}

static struct pt_kept_run *place_of(struct pt_kept_heads *kept, const struct stat *status)
{
    uint64_t *place = pt_map_at(&kept->by_inode, status->st_ino);
    if (!*place) {
        pt_vec_push(&kept->runs, (struct pt_kept_run){0});
        *place = kept->runs.n;
    }
    return &kept->runs.items[*place - 1];
}

struct pt_run_heads pt_kept_heads_of(struct pt_kept_heads *kept, const char *path, const struct stat *status)
{
    struct pt_kept_run *run = place_of(kept, status);
    if (is_as_it_was(run, path, status))
        return run->heads;
    free(run->heads.command);
    *run = (struct pt_kept_run){.device = status->st_dev, .changed = status->st_mtim, .heads = pt_run_heads_read(path)};
    const struct pt_run_heads *heads = &run->heads;
    const bool is_over = heads->is_whole && !heads->is_running && !heads->may_run_elsewhere;
    run->until_ns = !is_over ? 0 : heads->have_noted_ends ? ~0ull : pt_monotonic_ns() + LIKELY_FOR_NS;
    return *heads;
}

void pt_kept_heads_fini(struct pt_kept_heads *kept)
{
    for (size_t i = 0; i < kept->runs.n; i++)
        free(kept->runs.items[i].heads.command);
    free(kept->runs.items);
    pt_map_fini(&kept->by_inode);
    *kept = (struct pt_kept_heads){0};
}
