/* SPDX-License-Identifier: MIT
 *
 * run_file/write.h - run.json as a file.
 */
#ifndef PT_RUN_FILE_WRITE_H
#define PT_RUN_FILE_WRITE_H

#include "util/error.h"
#include "run_file.h"

/* A run, or a stage, of which nothing is known yet. */
void pt_run_forget(struct pt_run_info *run);
void pt_run_stage_forget(struct pt_run_stage *stage);

/* Replaces the file at once: a reader sees the old one or the new one, whole. `shown` names the directory in errors. */
int pt_run_info_write(int directory_fd, const char *shown, const struct pt_run_info *run, struct pt_error *err);

#endif
