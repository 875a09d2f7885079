/* SPDX-License-Identifier: MIT
 *
 * refusals.h - the processes of a run that have no trace file, by reason.
 */
#ifndef PT_SOURCE_REFUSALS_H
#define PT_SOURCE_REFUSALS_H

#include "util/str.h"

/* A line for each reason, what session.bin of the run directory counts. Nothing when it counts nothing or is not there.
 */
void pt_refusals_of(const char *run, struct pt_str *out);

#endif
