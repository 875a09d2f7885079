/* SPDX-License-Identifier: MIT
 *
 * cupti.c - the way into this folder: begins when the driver injects us, delivers where the program waits, ends at
 * exit.
 *
 * Never: a call of CUPTI in a forked child. What CUPTI has not delivered when a process is killed is lost; the missing
 * event for the end of the recording shows that.
 */
#include "cupti.h"

#include <stdlib.h>

#include "core/options.h"
#include "core/process.h"
#include "core/sys.h"
#include "cuda/tracing.h"
#include "arbiter.h"
#include "buffers.h"
#include "library.h"
#include "program.h"
#include "reasons.h"
#include "recording.h"

void pt_cupti_tick(void)
{
    const enum pt_cupti_phase phase = pt_cupti_phase();
    if (phase == PT_CUPTI_RECORDING)
        pt_cupti_deliver(pt_cupti);
    else if (phase == PT_CUPTI_YIELDED)
        pt_cupti_take_back();
}

/* Registered while the driver comes up, so called before it goes down. */
static void end_at_exit(int status, void *unused)
{
    (void)status;
    (void)unused;
    struct pt_cupti *c = pt_cupti;
    if (pt_cupti_phase() == PT_CUPTI_NONE || pt_process_is_vfork_child())
        return;
    /* Another thread may be giving CUPTI to the program right now: then the program has to end it. What the program has
     * is not taken back in handlers that run after this one. */
    pt_u32 phase = pt_cupti_settled_phase();
    while (phase == PT_CUPTI_RECORDING || phase == PT_CUPTI_YIELDED) {
        const int is_ours = phase == PT_CUPTI_RECORDING;
        if (__atomic_compare_exchange_n(&c->phase, &phase, PT_CUPTI_ENDED, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            if (is_ours)
                pt_cupti_finish(c);
            return;
        }
        phase = pt_cupti_settled_phase();
    }
}

void pt_cupti_start(void)
{
    if (!pt_options.cuda) {
        pt_cuda_say(PT_CUDA_TRACING_OFF, "by PROFTRACE_CUDA=0");
        return;
    }
    if (pt_options.cupti == PT_CHOICE_cupti_off) {
        pt_cuda_say(PT_CUDA_TRACING_WRAPPED, "by PROFTRACE_CUPTI=off");
        return;
    }
    struct pt_cupti *c = pt_sys_memory_wiped(sizeof *c);
    const char *why = c ? pt_cupti_load(c) : "no memory for it";
    if (why) {
        pt_cuda_say(PT_CUDA_TRACING_WRAPPED, why);
        return;
    }
    for (pt_u32 i = 0; i < PT_LAYOUT__COUNT; i++)
        c->layout_bytes[i] = pt_layout_bytes(i, c->version);
    pt_cupti_buffers_prepare();
    c->phase = PT_CUPTI_CHANGING;
    __atomic_store_n(&pt_cupti, c, __ATOMIC_SEQ_CST);
    pt_cupti_take_first();
    if (pt_cupti_phase() != PT_CUPTI_ENDED)
        pt_process_at_exit(end_at_exit);
}
