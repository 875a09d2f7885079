/* SPDX-License-Identifier: MIT
 *
 * ticks.h - samples of Python where the kernel gives none: threads are looked at again and again, and one that has used
 * a CPU for a period since then is a sample, of what it runs now.
 */
#ifndef PT_CPU_PROFILE_TICKS_H
#define PT_CPU_PROFILE_TICKS_H

#include "records.h"

/* Look at the threads of all interpreters. Call it about as often as a period is long. */
void pt_profile_tick(struct pt_cpu_profile *profile, pt_u64 period_ns, pt_u64 now_ns);

#endif
