/* SPDX-License-Identifier: MIT
 *
 * stacks/futexes.h - what a thread waits for in futex(2): locks and who holds them, threads to end, the GIL.
 */
#ifndef PT_STACKS_FUTEXES_H
#define PT_STACKS_FUTEXES_H

#include "types.h"

const char *pt_futex_wait(struct pt_look *look, struct pt_look_thread *thread);

#endif
