/* SPDX-License-Identifier: MIT
 *
 * isolate.h - the temporary configuration that the stages get, so that a profiled run does not touch the real one's
 * results: `paths` made absolute, `run.dataset` and `train.epochs` replaced, `train.wandb_enabled` false. All else is
 * the user's document, byte for byte.
 */
#ifndef PT_PIPELINE_ISOLATE_H
#define PT_PIPELINE_ISOLATE_H

#include "config.h"

struct pt_isolated {
    char *directory;   /* ours alone: mode 0700 below TMPDIR */
    char *config_path; /* the file in it, mode 0600 */
    int lock_fd;       /* where there is a directory: says that we live; -1 = none */
};

/* Zero-initialised = nothing was made. -1 = error, and no file is left. Before, those that killed launchers left in
 * the same place are removed. */
int pt_isolate_create(const struct pt_config *config, struct pt_isolated *ret_isolated, struct pt_error *err);
/* Remove the directory with what stages left in it. -1 says what stayed. Does nothing the second time. */
int pt_isolate_remove(struct pt_isolated *isolated, struct pt_error *err);
/* For --keep-temp: later runs do not remove it as one of a killed launcher. */
void pt_isolate_keep(struct pt_isolated *isolated);
/* Release the structure; the directory stays unless it was removed. */
void pt_isolate_fini(struct pt_isolated *isolated);

#endif
