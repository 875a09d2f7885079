/* SPDX-License-Identifier: MIT
 *
 * usable_cpus.h - how many CPUs this process and what it starts may use at once.
 */
#ifndef PT_SAMPLER_USABLE_CPUS_H
#define PT_SAMPLER_USABLE_CPUS_H

/* The smaller of its affinity (taskset, a cpuset, a batch system's) and of the quotas of its control groups (docker
 * --cpus, a pod's limit), a part of a CPU counted as one. NAN = neither could be read. `proc` and `sys` are the folders
 * of these names. */
double pt_usable_cpus(const char *proc, const char *sys);

#endif
