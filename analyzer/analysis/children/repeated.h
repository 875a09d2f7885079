/* SPDX-License-Identifier: MIT
 *
 * children/repeated.h - what launchers could have started together: the same command, again and again, one at a time.
 */
#ifndef PT_ANALYSIS_CHILDREN_REPEATED_H
#define PT_ANALYSIS_CHILDREN_REPEATED_H

#include "state.h"

struct pt_children_repeated {
    pt_u64 commands;
    double total_ns;
    double gain_ns;        /* if those of a kind ran together, on the machine's CPUs */
    double of_programs_ns; /* the same of commands of programs that do more than wait for them, whatever their kind */
};
struct pt_children_repeated pt_children_repeated(struct pt_children *children, pt_u32 stage);

#endif
