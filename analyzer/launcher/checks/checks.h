/* SPDX-License-Identifier: MIT
 *
 * checks/checks.h - the questions about place, environment and command.
 */
#ifndef PT_LAUNCHER_CHECKS_CHECKS_H
#define PT_LAUNCHER_CHECKS_CHECKS_H

#include "check.h"

void pt_check_place(struct pt_checks *checks);       /* where runs go, and the room there */
void pt_check_environment(struct pt_checks *checks); /* variables that change what happens */
void pt_check_target(struct pt_checks *checks, const char *command);

#endif
