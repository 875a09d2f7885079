/* SPDX-License-Identifier: MIT
 *
 * torch/windows.h - the traces of profiler windows, as TensorBoard and others look for them: packed, in a folder of the
 * model's name.
 */
#ifndef PT_EXPORT_TORCH_WINDOWS_H
#define PT_EXPORT_TORCH_WINDOWS_H

#include "export/export.h"

/* Where the traces go. */
struct pt_torch_copies {
    const struct pt_out_place *folder;
    pt_u64 max_bytes;             /* of each */
    struct pt_sink_files *files;  /* they wait there for their names */
    struct pt_sink_result *bytes; /* of all; added to */
};
/* Each trace below RUN/torch goes to FOLDER/MODEL/NAME.gz; how many. -1: one could not be written. */
int pt_torch_export_windows(const struct pt_session *session, const struct pt_torch_copies *to, struct pt_error *err);

#endif
