/* SPDX-License-Identifier: MIT
 *
 * T3: sixteen threads of an earlier library's constructor allocate and open while we are being initialised: no
 * deadlock, no wrong block. What they do before we are ready is counted, not stored, so the trace may hold less.
 */
#include "early_library.h"
#include "host.h"

int main(void)
{
    early_threads_join();
    MUST(early_faults == 0);
    MUST(early_opens == 1600);
    alloc_pairs(10000, 4242);
    MUST(null_writes(500) == 0);
    trace_must("size:4242", "==", 10000);
    trace_must("io_write", ">=", 500);
    trace_must("io_write", "<=", 2100);
    trace_must("lost", ">=", 0);
    return host_broken;
}
