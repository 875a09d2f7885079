/* SPDX-License-Identifier: MIT
 *
 * chart.h - which samples of a run become which chart.
 */
#ifndef PT_REPORT_BUILD_CHART_H
#define PT_REPORT_BUILD_CHART_H

#include "state.h"

void pt_build_charts(const struct pt_build *b);

#endif
