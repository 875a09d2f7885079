/* SPDX-License-Identifier: MIT
 *
 * build/stats.h - the document behind `proftrace stats`: one way of adding up the calls, per stage.
 */
#ifndef PT_REPORT_BUILD_STATS_H
#define PT_REPORT_BUILD_STATS_H

#include "profile/profile.h"
#include "report/doc/doc.h"

/* In the order of --by's choices. */
enum pt_stats_by { PT_STATS_CALL, PT_STATS_FILE, PT_STATS_STACK, PT_STATS_THREAD, PT_STATS_SIZE };

struct pt_doc *pt_stats_build(const struct pt_profile *profile, enum pt_stats_by by, const char *stage, size_t top);

#endif
