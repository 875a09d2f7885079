/* SPDX-License-Identifier: MIT
 *
 * cupti/buffers.h - the memory that CUPTI writes records into.
 */
#ifndef PT_CUDA_CUPTI_BUFFERS_H
#define PT_CUDA_CUPTI_BUFFERS_H

#include "state.h"

/* Before CUPTI calls. */
void pt_cupti_buffers_prepare(void);

/* CUPTI's callbacks. */
void pt_cupti_request(pt_u8 **data, pt_u64 *bytes, pt_u64 *max_records);
void pt_cupti_complete(void *context, pt_u32 stream, pt_u8 *data, pt_u64 bytes, pt_u64 valid_bytes);

#endif
