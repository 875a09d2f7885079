/* SPDX-License-Identifier: MIT
 *
 * cpu/flame.h - the call tree of a stage's CPU profile, small enough to be drawn. For cpu.c only.
 */
#ifndef PT_ANALYSIS_CPU_FLAME_H
#define PT_ANALYSIS_CPU_FLAME_H

#include "facts/cpu_names.h"
#include "profile/metrics.h"

/*
 * cpu.flame: the call tree, a caller before what it called (depth gives the parent of a row), siblings by their CPU
 * time. The stage itself is depth 0, its threads by name are depth 1. cpu.flame.deeper_s: CPU time of what lies deeper
 * than is drawn. cpu.flame.note: why all or some samples are missing; absent when nothing is.
 */
void pt_cpu_flame(struct pt_metrics *metrics, struct pt_scope scope, struct pt_cpu_view *view);

#endif
