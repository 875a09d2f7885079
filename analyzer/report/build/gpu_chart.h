/* SPDX-License-Identifier: MIT
 *
 * gpu_chart.h - how much memory of each GPU was in use when, and how it was allocated.
 */
#ifndef PT_REPORT_BUILD_GPU_CHART_H
#define PT_REPORT_BUILD_GPU_CHART_H

#include "state.h"

void pt_build_gpu_charts(const struct pt_build *b);

#endif
