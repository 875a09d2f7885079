/* SPDX-License-Identifier: MIT
 *
 * cupti/arbiter.h - gives CUPTI to the program while it wants it.
 */
#ifndef PT_CUDA_CUPTI_ARBITER_H
#define PT_CUDA_CUPTI_ARBITER_H

/* Called once, with the phase CHANGING, when CUPTI is loaded: begin to record, or leave CUPTI to the program, which
 * uses it already. */
void pt_cupti_take_first(void);

/* Call now and then: takes CUPTI back if the program is done with it. */
void pt_cupti_take_back(void);

#endif
