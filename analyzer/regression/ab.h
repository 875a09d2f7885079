/* SPDX-License-Identifier: MIT
 *
 * ab.h - two commands played in turn on this machine: what disturbs one disturbs the other.
 */
#ifndef PT_REGRESSION_AB_H
#define PT_REGRESSION_AB_H

#include "util/error.h"

#define PT_AB_STAGE "ab" /* the stage that all runs are recorded as */

/* One run of a shell command, recorded into `directory`, which is made. Its output goes nowhere. -1 with exit code 4:
 * it failed. */
int pt_ab_play(const char *command, const char *directory, struct pt_error *err);

#endif
