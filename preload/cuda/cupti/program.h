/* SPDX-License-Identifier: MIT
 *
 * cupti/program.h - how the program itself uses CUPTI. Written by arbiter.c.
 */
#ifndef PT_CUDA_CUPTI_PROGRAM_H
#define PT_CUDA_CUPTI_PROGRAM_H

#include "state.h"

struct pt_cupti_program {
    pt_u32 subscriptions; /* atomic: those that it has or asks for */
    pt_u32 has_recorded;  /* atomic: since it subscribed, it has enabled kinds */
    pt_u32 n_enabled;     /* atomic: how often it has enabled a kind */
    pt_u32 n_flushed;     /* atomic: n_enabled when its last flush began whose records have been delivered */
    pt_u32 n_setting;     /* atomic: calls that set something and have not returned */
    pt_u64 kinds[4];      /* atomic: those it has enabled */
    pt_cupti_request_fn request;
    pt_cupti_complete_fn complete; /* atomic: where buffers go that are not ours */
    pt_u64 (*clock)(void);
    pt_u32 thread_id_type;
    pt_u32 flush_period_ms;
    pt_u32 leaves_questions_out; /* it wants no record of synchronisation for a question whether work is done */
};
extern struct pt_cupti_program pt_cupti_program __attribute__((visibility("hidden")));

int pt_cupti_is_enabled_by_program(void);
int pt_cupti_is_subscribed_by_program(void);
/* Whether the program itself has taken CUPTI. */
int pt_cupti_is_foreign(void);
/* Or is about to. */
int pt_cupti_is_in_use(void);

#endif
