/* SPDX-License-Identifier: MIT
 *
 * cupti.h - CUPTI for the rest of cuda/.
 */
#ifndef PT_CUDA_CUPTI_CUPTI_H
#define PT_CUDA_CUPTI_CUPTI_H

/* Begin to record with CUPTI: called by InitializeInjection when the driver comes up, once per process image, while
 * no lock of ours is held. What came of it is recorded with pt_cuda_say. */
void pt_cupti_start(void);

/* Deliver what CUPTI has, at most once per second; or, when the program took CUPTI for its own profiler and is done
 * with it, take it back. Called by wrappers of calls that wait, on the program's thread, with no lock held. */
void pt_cupti_tick(void);

#endif
