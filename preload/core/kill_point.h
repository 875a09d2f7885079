/* SPDX-License-Identifier: MIT
 *
 * kill_point.h - test builds kill the process at named points: PROFTRACE_TEST_KILL=<point>:<n>.
 */
#ifndef PT_CORE_KILL_POINT_H
#define PT_CORE_KILL_POINT_H

#ifdef PROFTRACE_KILL_POINTS
void pt_kill_point(const char *name);
#else
#define pt_kill_point(name) ((void)0)
#endif

#endif
