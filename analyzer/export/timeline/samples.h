/* SPDX-License-Identifier: MIT
 *
 * timeline/samples.h - the launcher's samples of each stage as counters.
 */
#ifndef PT_EXPORT_TIMELINE_SAMPLES_H
#define PT_EXPORT_TIMELINE_SAMPLES_H

#include "types.h"

void pt_timeline_samples(struct pt_timeline *timeline, const struct pt_filter *filter);

#endif
