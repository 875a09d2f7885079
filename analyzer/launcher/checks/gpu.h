/* SPDX-License-Identifier: MIT
 *
 * checks/gpu.h - the question whether work of GPUs will be recorded; none where there is no GPU.
 */
#ifndef PT_LAUNCHER_CHECKS_GPU_H
#define PT_LAUNCHER_CHECKS_GPU_H

#include "check.h"

/* The command may be NULL. */
void pt_doctor_gpu(struct pt_doctor_checks *checks, const char *command);

#endif
