/* SPDX-License-Identifier: MIT
 *
 * cupti/recording.h - the recording of the GPU's work by CUPTI, from its beginning to its end.
 */
#ifndef PT_CUDA_CUPTI_RECORDING_H
#define PT_CUDA_CUPTI_RECORDING_H

#include "state.h"

/* UNDONE: settings were made, and are CUPTI's own again. Why not is recorded. */
enum pt_cupti_begun { PT_CUPTI_REFUSED, PT_CUPTI_UNDONE, PT_CUPTI_BEGUN };
enum pt_cupti_begun pt_cupti_begin(struct pt_cupti *c);
/* Get called where the program waits; a result of CUPTI. */
int pt_cupti_subscribe(struct pt_cupti *c);
/* The end of a call that waited: whatever it waited for can be delivered, once per second. */
void pt_cupti_deliver(struct pt_cupti *c);
/* End, so that the program can begin. */
void pt_cupti_stop(struct pt_cupti *c);
/* End with the process. */
void pt_cupti_finish(struct pt_cupti *c);

#endif
