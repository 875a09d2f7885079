/* SPDX-License-Identifier: MIT
 *
 * program.h - what a user calls a program.
 */
#ifndef PT_REPORT_BUILD_PROGRAM_H
#define PT_REPORT_BUILD_PROGRAM_H

#include "state.h"

/* "train.py" of "/usr/bin/python3 -u src/train.py --epochs 3", "app.train" of "python3 -m app.train"; else the name of
 * the stage. */
const char *pt_build_program_name(const struct pt_build *b, pt_u32 stage);

#endif
