/* SPDX-License-Identifier: MIT
 *
 * minute_chart.h - the totals by time as charts over the run.
 */
#ifndef PT_REPORT_BUILD_MINUTE_CHART_H
#define PT_REPORT_BUILD_MINUTE_CHART_H

#include "state.h"

void pt_build_minute_charts(const struct pt_build *b);

#endif
