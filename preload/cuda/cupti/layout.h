/* SPDX-License-Identifier: MIT
 *
 * layout.h - reads fields of CUPTI's activity records by the table of layout.def: pt_KERNEL_start(record, version).
 *
 * Never reads beyond what pt_layout_bytes says; a field that this version does not have is 0.
 */
#ifndef PT_CUDA_CUPTI_LAYOUT_H
#define PT_CUDA_CUPTI_LAYOUT_H

#include "core/compiler.h"

typedef unsigned __int128 pt_uuid;

enum pt_layout {
#define RECORD(record, oldest) PT_LAYOUT_##record,
#define FIELD(record, field, type, offset, since, structure, path)
#include "layout.def"
#undef RECORD
#undef FIELD
    PT_LAYOUT__COUNT
};

#define RECORD(record, oldest)
#define FIELD(record, field, type, offset, since, structure, path)                                                     \
    static inline type pt_##record##_##field(const pt_u8 *bytes, pt_u32 version)                                       \
    {                                                                                                                  \
        type value = 0;                                                                                                \
        if (version >= (since))                                                                                        \
            __builtin_memcpy(&value, bytes + (offset), sizeof value);                                                  \
        return value;                                                                                                  \
    }
#include "layout.def"
#undef RECORD
#undef FIELD

/* How many bytes of a record we read when CUPTI has this version. */
static inline pt_u32 pt_layout_bytes(enum pt_layout layout, pt_u32 version)
{
    pt_u32 bytes[PT_LAYOUT__COUNT] = {0};
#define RECORD(record, oldest)
#define FIELD(record, field, type, offset, since, structure, path)                                                     \
    if (version >= (since) && bytes[PT_LAYOUT_##record] < (offset) + sizeof(type))                                     \
        bytes[PT_LAYOUT_##record] = (offset) + (pt_u32)sizeof(type);
#include "layout.def"
#undef RECORD
#undef FIELD
    return bytes[layout];
}

#endif
