/* SPDX-License-Identifier: MIT
 *
 * profile/window_process.h - whose a profiler window is, and where the run's clock has it.
 */
#ifndef PT_PROFILE_WINDOW_PROCESS_H
#define PT_PROFILE_WINDOW_PROCESS_H

#include "model/session.h"
#include "torch_file/window.h"

/* Of the images of a process the one that ran when the window began. `ret_shift_ns`: what, added to the window's times,
 * makes them those of the session. NULL: none of this run did. */
struct pt_process *pt_window_process(const struct pt_session *session, const struct pt_torch_window *window,
                                     pt_i64 *ret_shift_ns);

#endif
