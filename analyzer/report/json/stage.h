/* SPDX-License-Identifier: MIT
 *
 * stage.h - the stages of a run as JSON.
 */
#ifndef PT_REPORT_JSON_STAGE_H
#define PT_REPORT_JSON_STAGE_H

#include "report.h"

/* The member "stages". */
void pt_json_stages(const struct pt_report_json *r);

#endif
