/* SPDX-License-Identifier: MIT
 *
 * children/repeated.h - what launchers could have started together: the same command, again and again, one at a time.
 */
#ifndef PT_ANALYSIS_CHILDREN_REPEATED_H
#define PT_ANALYSIS_CHILDREN_REPEATED_H

#include "state.h"

struct pt_children_repeated {
    pt_u64 commands;
    pt_i64 total_ns;
    double gain_ns; /* if those of a kind ran together, on the machine's CPUs */
};
struct pt_children_repeated pt_children_repeated(struct pt_children *children, pt_u32 stage);

#endif
