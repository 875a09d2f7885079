/* SPDX-License-Identifier: MIT
 *
 * cupti/records.h - one record to one event, by kind.
 */
#ifndef PT_CUDA_CUPTI_RECORDS_H
#define PT_CUDA_CUPTI_RECORDS_H

#include "state.h"

struct pt_record_kind;
struct pt_decoder {
    struct pt_cupti *c;
    struct pt_cupti_buffer *buffer;
    pt_u64 now;        /* counter */
    const pt_u8 *last; /* record before the current one */
    const struct pt_record_kind *last_kind;
    pt_u32 version;
    pt_u32 pad0;
};

#define RECORD(record, oldest) void pt_decode_##record(struct pt_decoder *d, const pt_u8 *r);
#define FIELD(record, field, type, offset, since, structure, path)
#include "layout.def"
#undef RECORD
#undef FIELD

#endif
