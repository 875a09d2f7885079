/* SPDX-License-Identifier: MIT
 *
 * beside_wall.h - what two runs of a stage differ in where their wall time tells nothing: other programs on the machine
 * change it, and never how often a call is made.
 */
#ifndef PT_DIFF_BESIDE_WALL_H
#define PT_DIFF_BESIDE_WALL_H

#include "change.h"

/* The part of the time account in whose time a call is counted; NULL = none, or not known. */
const char *pt_part_of_call(const char *call);

enum { PT_BESIDE_CPU = 1, PT_BESIDE_CALLS = 2, PT_BESIDE_COMMANDS = 4, PT_BESIDE_COUNTS = 6 };

/* By how much the count differs that would be told, which no other program changes; 0 = none does. */
double pt_counts_differ(const struct pt_stage_pair *pair);
/* Whether there is anything of that. */
bool pt_differs_beside_wall(const struct pt_stage_pair *pair);
/* "/usr/bin/git in train.py:7 probe: the runs (0 -> 6), and open: 2 x the calls (3,013 -> 6,013) of DIR/0.jpg in
 * train.py:9 load, and +120 ms CPU in step (train.py:16), which computes for ..."; `before` it. Nothing where there is
 * nothing of that. */
void pt_put_beside_wall(struct pt_str *out, const struct pt_stage_pair *pair, unsigned what, const char *before);

#endif
