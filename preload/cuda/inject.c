/* SPDX-License-Identifier: MIT
 *
 * inject.c - InitializeInjection, which the CUDA driver calls when a program initialises it.
 *
 * The driver dlopens CUDA_INJECTION64_PATH, which the loader recognises as the library that is preloaded already, and
 * calls this from whichever thread of the host used CUDA first. Never loads or starts anything itself.
 */
#include <errno.h>

#include "core/state.h"
#include "cupti/cupti.h"
#include "tracing.h"

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
