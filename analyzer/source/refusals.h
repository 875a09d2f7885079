/* SPDX-License-Identifier: MIT
 *
 * refusals.h - what session.bin of a run counts: the processes that have no trace file, by reason, and those that have;
 * and on which machine it was made.
 */
#ifndef PT_SOURCE_REFUSALS_H
#define PT_SOURCE_REFUSALS_H

#include <stdbool.h>

#include "proftrace/schema.h"
#include "util/str.h"

/* A line for each reason, what session.bin of the run directory counts. Nothing when it counts nothing or is not there.
 */
void pt_refusals_of(const char *run, struct pt_str *out);
/* The trace files that were made; 0 = not known. */
pt_u64 pt_files_made(const char *run);
/* Whether session.bin is there and says how many were made. */
bool pt_session_page_is_whole(const char *run);
/* Whether a launcher made it. */
bool pt_session_had_launcher(const char *run);
/* The boot_id of who made the run; false = not known. */
bool pt_boot_id_of(const char *run, char ret[40]);

#endif
