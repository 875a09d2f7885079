/* SPDX-License-Identifier: MIT
 *
 * profile/window_process.c - Owns nothing. Threads: any. Never: trusts a process number alone, which the kernel gives
 * out again.
 */
#include "window_process.h"

struct pt_process *pt_window_process(const struct pt_session *session, const struct pt_torch_window *window,
                                     pt_i64 *ret_shift_ns)
{
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_process *process = session->processes[i];
        const pt_i64 shift_ns = process->start_ns - (pt_i64)process->start_monotonic_ns;
        const pt_i64 start_ns = window->start_ns + shift_ns;
        if (process->pid != window->pid || start_ns < process->start_ns || start_ns > process->end_ns)
            continue;
        *ret_shift_ns = shift_ns;
        return process;
    }
    return NULL;
}
