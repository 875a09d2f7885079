/* SPDX-License-Identifier: MIT
 *
 * cupti/reasons.h - what CUPTI records, as text in the trace.
 */
#ifndef PT_CUDA_CUPTI_REASONS_H
#define PT_CUDA_CUPTI_REASONS_H

#include "state.h"

/* Store a sentence of what CUPTI records: without the kinds that it refused, and what is to be said besides. */
void pt_cupti_say_recording(struct pt_cupti *c, const char *refused, const char *more);
/* Kernels and calls, without which the rest means nothing, cannot be recorded. */
void pt_cupti_say_not_enough(struct pt_cupti *c);
/* The program takes CUPTI. */
void pt_cupti_say_yielded(void);
/* The process ends; `result` of the last flush. */
void pt_cupti_say_ended(struct pt_cupti *c, int result);
/* What that result of cuptiSubscribe means. */
const char *pt_cupti_why_not_subscribed(struct pt_cupti *c, int result);

#endif
