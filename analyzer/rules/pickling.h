/* SPDX-License-Identifier: MIT
 *
 * pickling.h - what it costs to hand objects of Python from process to process.
 */
#ifndef PT_RULES_PICKLING_H
#define PT_RULES_PICKLING_H

#include "profile/profile.h"

/* Of a stage, in seconds of CPU time of all its processes: to pickle, send, receive and unpickle. Of the stacks that
 * cost most, as profile->stacks has them. */
struct pt_pickling {
    double cpu_s;
    double main_s;        /* of it, not by workers */
    double fault_s;       /* of cpu_s, the kernel's work for pages that were missing */
    double fault_percent; /* of all page faults' */
};

struct pt_pickling pt_pickling_of(const struct pt_profile *profile, pt_i64 stage);

/* Seconds of CPU time in which processes are handed, when they start, what they work on: those of the one that pickles
 * it and theirs; 0 = that is little of the time for which their starts are waited. Who forks hands over nothing. */
double pt_pickling_at_start_s(const struct pt_profile *profile, pt_i64 stage, double waited_s);

#endif
