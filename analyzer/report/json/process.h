/* SPDX-License-Identifier: MIT
 *
 * process.h - the processes of a run as JSON, traced or not.
 */
#ifndef PT_REPORT_JSON_PROCESS_H
#define PT_REPORT_JSON_PROCESS_H

#include "report.h"

/* The member "processes". */
void pt_json_processes(const struct pt_report_json *r);

#endif
