/* SPDX-License-Identifier: MIT
 *
 * cupti/decode.h - a buffer's records to events.
 */
#ifndef PT_CUDA_CUPTI_DECODE_H
#define PT_CUDA_CUPTI_DECODE_H

#include "state.h"

void pt_cupti_decode(struct pt_cupti *c, struct pt_cupti_buffer *buffer, pt_u64 valid_bytes);
/* How many there are in a buffer that is thrown away. */
pt_u64 pt_cupti_count_records(struct pt_cupti *c, pt_u8 *data, pt_u64 valid_bytes);
/* Store what was counted as lost since the last time. */
void pt_cupti_report_losses(struct pt_cupti *c);

#endif
