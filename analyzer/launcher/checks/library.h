/* SPDX-License-Identifier: MIT
 *
 * checks/library.h - the questions about our library.
 */
#ifndef PT_LAUNCHER_CHECKS_LIBRARY_H
#define PT_LAUNCHER_CHECKS_LIBRARY_H

#include "check.h"

void pt_doctor_library(struct pt_doctor_checks *checks); /* is it there, does it load, does it write a trace? */

#endif
