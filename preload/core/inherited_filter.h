/* SPDX-License-Identifier: MIT
 *
 * inherited_filter.h - whether the process was started under a seccomp filter that the library can live with.
 */
#ifndef PT_CORE_INHERITED_FILTER_H
#define PT_CORE_INHERITED_FILTER_H

#include "compiler.h"

enum pt_filtered {
    PT_FILTERED_NOT,     /* there is no filter */
    PT_FILTERED_BUT_MAY, /* there is one, and no call of ours ends the process */
    PT_FILTERED,         /* a call of ours may end the process */
};

#pragma GCC visibility push(hidden)
/* Constructor, before anything else is asked of the kernel. */
enum pt_filtered pt_inherited_filter(void);
/* How many filters there are, as the variable says it to children. */
extern pt_u64 pt_n_filters;
#pragma GCC visibility pop

#endif
