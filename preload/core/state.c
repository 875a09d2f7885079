/* SPDX-License-Identifier: MIT
 *
 * state.c - holds what the whole library reads: the switches and the calling thread's slot.
 *
 * Written by the constructor, by the thread that closes a sandbox, and (its own slot) by each thread that attaches.
 * Never does any work.
 */
#include "state.h"

struct pt_switches pt_switches;
struct pt_tracer_thread pt_no_thread;
__thread struct pt_thread_local pt_local = {&pt_no_thread, PT_LOCAL_OURS};
