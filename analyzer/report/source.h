/* SPDX-License-Identifier: MIT
 *
 * source.h - the document behind `proftrace report --source`: the text of a file of Python, with what its lines cost.
 */
#ifndef PT_REPORT_SOURCE_H
#define PT_REPORT_SOURCE_H

#include "report/doc/doc.h"
#include "util/error.h"

/* `file`: its path, or the end of one; of several, that of which most time is known. `stage`: NULL = all. NULL, with
 * the reason, where nothing is known of it. Lines that cost nothing and lie far from those that do are left out. */
struct pt_doc *pt_source_build(const struct pt_profile *profile, const char *stage, const char *file,
                               struct pt_error *err);

#endif
