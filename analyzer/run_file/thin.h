/* SPDX-License-Identifier: MIT
 *
 * thin.h - fewer samples of the same time: two neighbours become one, so that a long run keeps its shape in bounded
 * memory, and its run.json can be read.
 */
#ifndef PT_RUN_FILE_THIN_H
#define PT_RUN_FILE_THIN_H

#include <stddef.h>

#include "run_file.h"

/* One value for two; `weight` samples are in `value` already. */
double pt_run_merged(enum pt_merge merge, double value, double other, size_t weight);

/* Halve `n` samples in their place, of all resources that have some; returns how many they are now. */
size_t pt_run_halve(double *t_s, struct pt_run_resource resources[static PT_RESOURCE__COUNT], size_t n);

/* Halve the samples of stages that have ended, the longest lists first, until all of them and one stage that runs have
 * at most PT_RUN_MOST_SAMPLES: of more, the reader reads nothing at all. */
void pt_run_thin(const struct pt_run_info *run);

#endif
