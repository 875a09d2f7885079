/* SPDX-License-Identifier: MIT
 *
 * thread_clock.h - the kernel's own count of a thread's CPU time, noted where it costs nothing: from it the analyzer
 * knows when a thread computed and when it waited for something that no hook sees, even where no launcher sampled it.
 *
 * Two system calls, at most once a millisecond and only where time was spent anyway: after a call that took long, after
 * a buffer was compressed, with a heap sample, at the first event and at the end.
 */
#ifndef PT_CORE_FILE_THREAD_CLOCK_H
#define PT_CORE_FILE_THREAD_CLOCK_H

#include "core/state.h"

/* From here on a call is long: about 0.2 ms of a TSC, 0.5 ms of CLOCK_MONOTONIC. A shift spares the hooks a constant.
 */
#define PT_LONG_CALL_SHIFT 19

/* Note the calling thread's clock, unless it was noted less than a millisecond ago. */
void pt_thread_clock_note(void);
/* The same for who has claimed the thread's private memory, with signals blocked. */
void pt_thread_clock_append(struct pt_tracer_thread *t);
/* The process ends: note the clocks of the other threads, too, as far as they still live. */
void pt_thread_clock_note_all(void);

PT_ALWAYS_INLINE void pt_thread_clock_after(pt_u64 start, pt_u64 end)
{
    if (pt_unlikely((end - start) >> PT_LONG_CALL_SHIFT))
        pt_thread_clock_note();
}

#endif
