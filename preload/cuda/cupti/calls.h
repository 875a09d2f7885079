/* SPDX-License-Identifier: MIT
 *
 * cupti/calls.h - which calls CUPTI records, and what a call is.
 */
#ifndef PT_CUDA_CUPTI_CALLS_H
#define PT_CUDA_CUPTI_CALLS_H

#include "state.h"

/* Tell CUPTI which calls to record. */
void pt_cupti_choose_calls(struct pt_cupti *c);
/* The callbacks at which we may flush: calls that wait. */
void pt_cupti_choose_callbacks(struct pt_cupti *c);
/* Make sure that the call of that number has a name. */
void pt_cupti_learn_call(struct pt_cupti *c, pt_u32 domain, pt_u32 cbid);

#endif
