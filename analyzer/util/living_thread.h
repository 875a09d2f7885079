/* SPDX-License-Identifier: MIT
 *
 * living_thread.h - where /proc shows the memory and the files of a process whose main thread has ended.
 */
#ifndef PT_UTIL_LIVING_THREAD_H
#define PT_UTIL_LIVING_THREAD_H

#include <stdint.h>

/* The process itself; where only its main thread has ended, another one of its threads, whose number is good for
 * /proc/<number> as well. The kernel shows a process by its main thread, which has no memory and no files any more. */
uint32_t pt_living_thread(uint32_t pid);

#endif
