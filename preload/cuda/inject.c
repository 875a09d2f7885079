/* SPDX-License-Identifier: MIT
 *
 * inject.c - InitializeInjection, which the CUDA driver calls when a program initialises it, and the sentence that says
 * how GPU work is seen.
 *
 * The driver dlopens CUDA_INJECTION64_PATH, which the loader recognises as the library that is preloaded already, and
 * calls from whichever thread of the host came first. Never loads or starts anything itself.
 */
#include <errno.h>

#include "core/emit.h"
#include "core/names/intern.h"
#include "core/options.h"
#include "cuda.h"

pt_u8 pt_cuda_by_cupti;
pt_u8 pt_cuda_has_said;
pt_u64 pt_cuda_ready_counter;

void pt_cuda_say(enum pt_cuda_tracing state, const char *reason)
{
    __atomic_store_n(&pt_cuda_has_said, 1, __ATOMIC_RELAXED);
    if (!pt_switches.off)
        pt_point(PT_EV_gpu_tracing, pt_intern_string(reason), state, 0, 0);
}

PT_EXPORT int InitializeInjection(void);
PT_EXPORT int InitializeInjection(void)
{
    static pt_u32 begun;
    if (pt_switches.off || !pt_switches.user || __atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
        return 1;
    const int error = errno; /* the program may look at it after the call that brought the driver up */
    if (pt_switches.cuda)
        pt_cupti_start();
    else
        pt_cuda_say(PT_CUDA_TRACING_OFF, "PROFTRACE_CUDA is off"); /* the variable came from a parent */
    __atomic_store_n(&pt_cuda_ready_counter, pt_clock(), __ATOMIC_RELEASE);
    errno = error;
    return 1;
}
