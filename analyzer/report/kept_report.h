/* SPDX-License-Identifier: MIT
 *
 * kept_report.h - the report that was made when a run ended, where it is still what would be made now.
 */
#ifndef PT_REPORT_KEPT_REPORT_H
#define PT_REPORT_KEPT_REPORT_H

#include <cjson/cJSON.h>

/* report.json of the run directory `path`. NULL: there is none, or the run's files or this program were changed since.
 */
cJSON *pt_kept_report(const char *path);

#endif
