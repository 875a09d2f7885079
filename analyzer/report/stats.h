/* SPDX-License-Identifier: MIT
 *
 * stats.h - the document behind `proftrace stats`: one way of adding up the calls, per stage.
 */
#ifndef PT_REPORT_STATS_H
#define PT_REPORT_STATS_H

#include "report/doc/doc.h"

/* Stages with blocks, and nothing else; `stage` NULL = all; `top`: rows in each table. */
struct pt_doc *pt_stats_build(const struct pt_profile *profile, enum pt_stats_by by, const char *stage, size_t top);

#endif
