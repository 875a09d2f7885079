/* SPDX-License-Identifier: MIT
 *
 * cpu/python.h - functions and lines of Python by the CPU time that they took.
 */
#ifndef PT_ANALYSIS_CPU_PYTHON_H
#define PT_ANALYSIS_CPU_PYTHON_H

#include "facts/cpu_names.h"
#include "profile/profile.h"

/* Stores python.samples, python.functions and python.lines of a stage in whose profile there is Python. */
void pt_cpu_python(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_cpu_view *view);

#endif
