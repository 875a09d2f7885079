/* SPDX-License-Identifier: MIT
 *
 * cupti/driver.h - whether kernels are launched by calls that are not recorded, and what is done then.
 */
#ifndef PT_CUDA_CUPTI_DRIVER_H
#define PT_CUDA_CUPTI_DRIVER_H

#include "state.h"

void pt_cupti_note_call(struct pt_cupti *c, pt_u32 correlation);
void pt_cupti_note_launched(struct pt_cupti *c, pt_u32 correlation);
void pt_cupti_acquit(struct pt_cupti *c); /* records are lost */
/* A kernel whose call has not come for a while; 0 = none. */
pt_u32 pt_cupti_suspect(struct pt_cupti *c);
/* Where kinds may be switched, after a delivery: if its call has not come with that either, it never will. */
void pt_cupti_judge(struct pt_cupti *c, pt_u32 suspect);

#endif
