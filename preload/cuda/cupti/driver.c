/* SPDX-License-Identifier: MIT
 *
 * cupti/driver.c - calls of the driver where CUPTI cannot record single ones: before CUDA 12.5 it is all of them or
 * none.
 *
 * The runtime calls the driver all the time, so a program that only uses the runtime must not pay for all of them. They
 * are switched on when a kernel has come that no call of the runtime had started, as Triton's are; the decoder keeps
 * those of cuda_calls.def. Kernels that were launched before have no launching thread in the trace; the event stored
 * then says from when on they have one.
 *
 * Noted by the decoder, in CUPTI's completion callback, where nothing may be switched; switched at the end of a call of
 * the program that waited. Never switched off again before the whole recording ends.
 */
#include "driver.h"

#include "core/text.h"
#include "reasons.h"

#define MASK (PT_CUPTI_STARTERS - 1)
/* 0.4 s of a TSC, 1 s of a clock in nanoseconds: on a busy machine a call takes long. */
#define PATIENCE_TICKS (1ull << 30)

static int is_watching(const struct pt_cupti *c)
{
    return pt_unlikely(__atomic_load_n(&c->driver_calls, __ATOMIC_RELAXED) == PT_DRIVER_CALLS_NONE);
}

/* Ids wrap around, so differences are compared, here and below. */
static void note_newest(struct pt_cupti *c, pt_u32 correlation)
{
    const pt_u32 newest = __atomic_load_n(&c->newest, __ATOMIC_RELAXED);
    if (!newest || (pt_i32)(correlation - newest) > 0)
        __atomic_store_n(&c->newest, correlation, __ATOMIC_RELAXED);
}

void pt_cupti_note_call(struct pt_cupti *c, pt_u32 correlation)
{
    if (!is_watching(c))
        return;
    __atomic_store_n(&c->starters[correlation & MASK], correlation, __ATOMIC_RELAXED);
    note_newest(c, correlation);
    pt_u32 suspect = correlation;
    __atomic_compare_exchange_n(&c->suspect, &suspect, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Any of the calls so far may be among the lost records. */
void pt_cupti_acquit(struct pt_cupti *c)
{
    __atomic_store_n(&c->acquitted, __atomic_load_n(&c->newest, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_store_n(&c->suspect, 0, __ATOMIC_RELAXED);
}

static int is_acquitted(const struct pt_cupti *c, pt_u32 correlation)
{
    const pt_u32 acquitted = __atomic_load_n(&c->acquitted, __ATOMIC_RELAXED);
    return acquitted && (pt_i32)(correlation - acquitted) <= 0;
}

/* The record of the call mostly comes first. It may come later: the call has not returned yet, or its record lies in a
 * buffer that waits for a kernel that still runs. One kernel at a time is watched. */
void pt_cupti_note_launched(struct pt_cupti *c, pt_u32 correlation)
{
    pt_u32 nobody = 0;
    if (!is_watching(c) || !correlation)
        return;
    note_newest(c, correlation);
    if (__atomic_load_n(&c->suspect, __ATOMIC_RELAXED) ||
        __atomic_load_n(&c->starters[correlation & MASK], __ATOMIC_RELAXED) == correlation ||
        is_acquitted(c, correlation))
        return;
    __atomic_store_n(&c->suspect_since, pt_clock(), __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(&c->suspect, &nobody, correlation, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

pt_u32 pt_cupti_suspect(struct pt_cupti *c)
{
    const pt_u32 suspect = __atomic_load_n(&c->suspect, __ATOMIC_ACQUIRE);
    return pt_unlikely(suspect) && pt_clock() - __atomic_load_n(&c->suspect_since, __ATOMIC_RELAXED) > PATIENCE_TICKS
               ? suspect
               : 0;
}

void pt_cupti_judge(struct pt_cupti *c, pt_u32 suspect)
{
    pt_u32 recording = PT_CUPTI_RECORDING;
    if (!suspect || !is_watching(c) || __atomic_load_n(&c->suspect, __ATOMIC_RELAXED) != suspect ||
        !__atomic_compare_exchange_n(&c->phase, &recording, PT_CUPTI_CHANGING, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    char bytes[64];
    struct pt_text refusal = {bytes, 0, sizeof bytes};
    const int result = c->api.cuptiActivityEnable(PT_CUPTI_DRIVER_KIND);
    const int is_on = result == PT_CUPTI_SUCCESS;
    __atomic_store_n(&c->driver_calls, is_on ? PT_DRIVER_CALLS_ALL : PT_DRIVER_CALLS_REFUSED, __ATOMIC_RELAXED);
    pt_text_add(&refusal, "DRIVER (error ");
    pt_text_number(&refusal, (pt_u64)(result < 0 ? -result : result), 0);
    pt_text_add(&refusal, "), whose calls launch kernels");
    pt_cupti_say_recording(c, is_on ? "" : bytes,
                           is_on ? "from now on with calls of the driver: they launch kernels, too" : "");
    __atomic_store_n(&c->phase, PT_CUPTI_RECORDING, __ATOMIC_RELEASE);
}
