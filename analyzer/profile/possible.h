/* SPDX-License-Identifier: MIT
 *
 * possible.h - the one rule that holds for every value of every report: nothing is above what is possible.
 *
 * A share is at most 100 %, one of CPUs at most 100 % for each that the machine has, what a thread did is no longer
 * than its life, and no time, count or size is negative; a change falls to nothing at most, by 100 %. What is beyond
 * that by no more than two clocks disagree is set to the bound; what is further beyond is unknown, with the reason: a
 * wrong figure is worse than none.
 */
#ifndef PT_PROFILE_POSSIBLE_H
#define PT_PROFILE_POSSIBLE_H

#include "profile.h"

/* After the last metric was set, before anything is judged or shown. */
void pt_profile_refuse_impossible(struct pt_profile *profile);

#endif
