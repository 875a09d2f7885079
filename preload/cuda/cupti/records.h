/* SPDX-License-Identifier: MIT
 *
 * cupti/records.h - the decoder's inside: the walk of a buffer (decode.c), records (cupti/records.c), texts
 * (cupti/texts.c).
 */
#ifndef PT_CUDA_CUPTI_RECORDS_H
#define PT_CUDA_CUPTI_RECORDS_H

#include "state.h"

#define PT_CUPTI_NO_ID 0xffffffffu /* CUPTI's "none", of streams and events */
#define PT_CUPTI_RUNTIME_KIND 5u

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

pt_u32 pt_cupti_queue(struct pt_cupti *c, pt_u32 device, pt_u32 context, pt_u32 stream);
pt_u32 pt_cupti_config(const struct pt_decoder *d, const pt_u8 *r);
pt_u32 pt_cupti_place(pt_u32 device, pt_u32 kind, pt_u64 pool);
pt_u32 pt_cupti_name(struct pt_cupti *c, pt_u64 pointer);

#endif
