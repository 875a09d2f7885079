/* SPDX-License-Identifier: MIT
 *
 * cpu_file/switches.h - corrects times on the CPU by what switching to a thread and from it takes, as the kernel counts
 * it.
 *
 * Its records of switches come a few microseconds before a thread leaves the CPU and after it came back. Without the
 * correction, a program that waits for ten thousand pages would have waits that are a tenth too long, and too little
 * computing.
 */
#ifndef PT_CPU_FILE_SWITCHES_H
#define PT_CPU_FILE_SWITCHES_H

#include "util/vec.h"
#include "cpu_data.h"

/* More is something else: time before the first record, or after the last. */
enum { PT_CPU_LONGEST_SWITCH_NS = 25000 };

struct pt_cpu_on_cpu_list {
    PT_VEC(struct pt_cpu_on_cpu);
};

/* `on_cpu`: of threads that have ended, by the kernel's own count. It replaces ours, and their waits get shorter by
 * the difference. */
void pt_cpu_switches_add(struct pt_cpu_data *data, const struct pt_cpu_on_cpu *on_cpu, size_t n);

#endif
