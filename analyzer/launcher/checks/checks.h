/* SPDX-License-Identifier: MIT
 *
 * checks/checks.h - the questions about place, environment and command.
 */
#ifndef PT_LAUNCHER_CHECKS_CHECKS_H
#define PT_LAUNCHER_CHECKS_CHECKS_H

#include "check.h"

void pt_doctor_place(struct pt_doctor_checks *checks);       /* where runs go, and the room there */
void pt_doctor_environment(struct pt_doctor_checks *checks); /* variables that change what happens */
void pt_doctor_target(struct pt_doctor_checks *checks, const char *command);

#endif
