/* SPDX-License-Identifier: MIT
 *
 * cupti/reasons.c - records in the trace, as text, what CUPTI records, and why it does not record the rest.
 *
 * Entered while the phase is PT_CUPTI_CHANGING, or by the thread that ended the recording: never by two at once,
 * because the text is put together in the shared state.
 */
#include "reasons.h"

#include "core/text.h"
#include "cuda/tracing.h"

const char *pt_cupti_why_not_subscribed(struct pt_cupti *c, int result)
{
    struct pt_text text = {c->text, 0, sizeof c->text};
    if (result == PT_CUPTI_MULTIPLE_SUBSCRIBERS)
        return "another tool has CUPTI: a profiler of NVIDIA's, a debugger, or the program itself";
    if (result == PT_CUPTI_UNKNOWN || result == PT_CUPTI_NOT_INITIALIZED)
        pt_text_add(&text, "CUPTI finds no driver that it can work with");
    else
        pt_text_add(&text, "CUPTI refuses");
    pt_text_add(&text, ": cuptiSubscribe gave error ");
    pt_text_number(&text, (pt_u64)result, 0);
    pt_text_add(&text, ", ");
    pt_text_add(&text, c->path);
    return c->text;
}

void pt_cupti_say_recording(struct pt_cupti *c, const char *refused, const char *more)
{
    struct pt_text text = {c->text, 0, sizeof c->text};
    pt_text_add(&text, "CUPTI ");
    pt_text_number(&text, c->version, 0);
    pt_text_add(&text, ", ");
    pt_text_add(&text, c->path);
    pt_text_add(&text, *refused ? "; without " : "");
    pt_text_add(&text, refused);
    pt_text_add(&text, *more ? "; " : "");
    pt_text_add(&text, more);
    pt_cuda_say(PT_CUDA_TRACING_CUPTI, c->text);
}

void pt_cupti_say_not_enough(struct pt_cupti *c)
{
    struct pt_text text = {c->text, 0, sizeof c->text};
    pt_text_add(&text, !c->has_our_clock     ? "CUPTI will not use our clock"
                       : !c->has_our_buffers ? "CUPTI will not use our buffers"
                                             : "CUPTI will not record kernels and calls: ");
    pt_text_add(&text, c->failures);
    pt_cuda_say(PT_CUDA_TRACING_WRAPPED, c->text);
}

void pt_cupti_say_yielded(void)
{
    pt_cuda_say(PT_CUDA_TRACING_YIELDED, "the program profiles itself with CUPTI");
}

void pt_cupti_say_ended(struct pt_cupti *c, int result)
{
    if (result == PT_CUPTI_SUCCESS) {
        pt_cuda_say(PT_CUDA_TRACING_ENDED, "exit: CUPTI has delivered all that it had");
        return;
    }
    struct pt_text text = {c->text, 0, sizeof c->text};
    pt_text_add(&text, "at exit CUPTI could not deliver what it still had: cuptiActivityFlushAll gave error ");
    pt_text_number(&text, (pt_u64)result, 0);
    pt_cuda_say(PT_CUDA_TRACING_CUT, c->text);
}
