/* SPDX-License-Identifier: MIT
 *
 * checks/machine.h - the questions about kernel and libc.
 */
#ifndef PT_LAUNCHER_CHECKS_MACHINE_H
#define PT_LAUNCHER_CHECKS_MACHINE_H

#include "check.h"

void pt_doctor_machine(struct pt_doctor_checks *checks); /* clock, libc, /proc, perf, ptrace */

#endif
