/* SPDX-License-Identifier: MIT
 *
 * torch/file.h - the file of one process: opened, given its events, closed.
 */
#ifndef PT_EXPORT_TORCH_FILE_H
#define PT_EXPORT_TORCH_FILE_H

#include "types.h"

/* In a folder; is_of_many: others are open beside it. */
int pt_torch_open(struct pt_torch_file *file, const struct pt_out_place *folder, bool is_of_many, pt_u64 max_bytes,
                  struct pt_error *err);
void pt_torch_event(struct pt_torch_file *file, const struct pt_event *event);
/* What is still open, devices, the end of the file, which waits among `files` for its name. */
int pt_torch_close(struct pt_torch_file *file, struct pt_sink_files *files, struct pt_sink_result *ret_result,
                   struct pt_error *err);
/* Frees all but what pt_torch_close freed: the file is left out when it was not closed. It is of no process then. */
void pt_torch_free(struct pt_torch_file *file);

#endif
