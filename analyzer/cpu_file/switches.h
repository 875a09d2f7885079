/* SPDX-License-Identifier: MIT
 *
 * cpu_file/switches.h - what switching to a thread and from it took, as the kernel counts it: on the CPU.
 *
 * Its records of switches come a few microseconds before a thread leaves the CPU and after it came back. A program that
 * waits for ten thousand pages would be told a wait that is a tenth too long, and too little computing.
 */
#ifndef PT_CPU_FILE_SWITCHES_H
#define PT_CPU_FILE_SWITCHES_H

#include "util/vec.h"
#include "cpu_data.h"

struct pt_cpu_on_cpu_list {
    PT_VEC(struct pt_cpu_on_cpu);
};

/* `on_cpu`: of threads that are over, by the kernel's own count. Theirs is taken, and their waits get shorter by it. */
void pt_cpu_switches_add(struct pt_cpu_data *data, const struct pt_cpu_on_cpu *on_cpu, size_t n);

#endif
