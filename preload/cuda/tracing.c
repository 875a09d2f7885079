/* SPDX-License-Identifier: MIT
 *
 * tracing.c - records how GPU work is seen. Entered by any thread of the host, never with a lock held.
 */
#include "tracing.h"

#include "proftrace/events.h"
#include "core/emit.h"
#include "core/names/intern.h"

pt_u8 pt_cuda_by_cupti;
pt_u8 pt_cuda_has_said;
pt_u64 pt_cuda_ready_counter;

void pt_cuda_say(enum pt_cuda_tracing state, const char *reason)
{
    __atomic_store_n(&pt_cuda_has_said, 1, __ATOMIC_RELAXED);
    if (!pt_switches.off)
        pt_point(PT_EV_gpu_tracing, pt_intern_string(reason), state, 0, 0);
}
