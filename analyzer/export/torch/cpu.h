/* SPDX-License-Identifier: MIT
 *
 * torch/cpu.h - trainings on CPUs: which processes they are, when they waited for data, and what their threads ran.
 */
#ifndef PT_EXPORT_TORCH_CPU_H
#define PT_EXPORT_TORCH_CPU_H

#include "types.h"

/* A process that loaded PyTorch and works for no other, or that marked ranges or steps. */
bool pt_torch_is_training(const struct pt_process *process);
/* A wait for data, under the name that PyTorch's profiler has for it; whether the event was one. */
bool pt_torch_wait_event(struct pt_torch_file *file, const struct pt_event *event);
/* CPU samples, into the files of their processes; files: by process index. */
void pt_torch_samples(struct pt_session *session, const struct pt_export_options *options, struct pt_torch_file *files);

#endif
