/* SPDX-License-Identifier: MIT
 *
 * python/wake_soon.h - be scheduled soon when a sample wakes us, beside a program that uses all CPUs.
 */
#ifndef PT_CPU_PROFILE_PYTHON_WAKE_SOON_H
#define PT_CPU_PROFILE_PYTHON_WAKE_SOON_H

#include <stdbool.h>

/* Children inherit it: not while one is forked. Does nothing on kernels before 6.12. */
void pt_wake_soon(bool soon);

#endif
