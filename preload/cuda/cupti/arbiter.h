/* SPDX-License-Identifier: MIT
 *
 * cupti/arbiter.h - gives CUPTI to the program while it wants it.
 */
#ifndef PT_CUDA_CUPTI_ARBITER_H
#define PT_CUDA_CUPTI_ARBITER_H

/* A good time to take CUPTI back: the program may be done with it. */
void pt_cupti_take_back(void);

#endif
