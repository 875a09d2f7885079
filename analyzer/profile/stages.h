/* SPDX-License-Identifier: MIT
 *
 * stages.h - the stages of a run: which processes belong to each, and which one is its root.
 *
 * A process belongs to the stage that it names (PROFTRACE_STAGE), else to its parent's, else to one with the name of
 * the root command. First come the launcher's stages in its order, also those that were skipped or whose processes left
 * no trace; then others, in the order in which they began.
 */
#ifndef PT_PROFILE_STAGES_H
#define PT_PROFILE_STAGES_H

#include <string.h>

#include "model/session.h"
#include "run_file/run_file.h"
#include "util/vec.h"

struct pt_stage {
    const char *name;
    const struct pt_run_stage *run; /* what the launcher knows about it; NULL = nothing */
    struct pt_process *root; /* the first process of the stage that has no parent in it; its main thread is critical.
                                NULL = none was traced */
    pt_i64 start_ns, end_ns;
    pt_u32 n_processes;
};

struct pt_stages {
    PT_VEC(struct pt_stage);
    pt_u32 *of_process; /* stage index by process index */
};

/* `run` may be NULL. */
void pt_stages_build(struct pt_stages *stages, const struct pt_session *session, const struct pt_run_info *run);

static inline bool pt_stage_was_skipped(const struct pt_stage *stage)
{
    return !stage->root && stage->run && stage->run->status && !strcmp(stage->run->status, "skipped");
}
void pt_stages_free(struct pt_stages *stages);

/* The last image of the process whose first image is `process`: exec replaces images, the process stays the same. */
struct pt_process *pt_process_last_image(const struct pt_session *session, struct pt_process *process);

#endif
