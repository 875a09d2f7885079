/* SPDX-License-Identifier: MIT
 *
 * layout.c - writes and walks records in the layout of the chosen version of CUPTI, from the rows of layouts.def.
 */
#include "machine.h"

struct layout_row {
    enum fg_layout layout;
    uint32_t since, bytes;
};
struct field_row {
    enum fg_layout layout;
    uint32_t since;
    uint16_t offset, bytes;
};

static const struct layout_row layouts[] = {
#define RECORD(record, newest)
#define STRUCT(record, type, since, bytes) {FG_LAYOUT_##record, since, bytes},
#define FIELD(record, type, since, field, path, offset, bytes)
#include "layouts.def"
#undef STRUCT
#undef FIELD
};
static const struct field_row fields[] = {
#define STRUCT(record, type, since, bytes)
#define FIELD(record, type, since, field, path, offset, bytes) {FG_LAYOUT_##record, since, offset, bytes},
#include "layouts.def"
#undef RECORD
#undef STRUCT
#undef FIELD
};
enum { UNKNOWN_BYTES = 32 };

static uint32_t library_version = 130001;

uint32_t fg_cupti_version(void)
{
    const uint32_t version = (uint32_t)fg_program()->cupti_version;
    return version ? version : library_version;
}

void fg_set_library_version(uint32_t version)
{
    library_version = version;
}

uint32_t fg_layout_bytes(enum fg_layout layout, uint32_t version)
{
    uint32_t bytes = 0;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].layout == layout && layouts[i].since <= version)
            bytes = layouts[i].bytes;
    const uint32_t longer = (uint32_t)fg_program()->fault[FG_FAULT_long_record];
    return bytes + (longer == 1 ? 16 : longer / 8 * 8);
}

int fg_layout_of_kind(uint32_t kind)
{
    static const struct {
        enum fg_kind kind;
        enum fg_layout layout;
    } rows[] = {
        {FG_KIND_MEMCPY, FG_LAYOUT_MEMCPY},
        {FG_KIND_MEMSET, FG_LAYOUT_MEMSET},
        {FG_KIND_KERNEL, FG_LAYOUT_KERNEL},
        {FG_KIND_DRIVER, FG_LAYOUT_API},
        {FG_KIND_RUNTIME, FG_LAYOUT_API},
        {FG_KIND_DEVICE, FG_LAYOUT_DEVICE},
        {FG_KIND_CONTEXT, FG_LAYOUT_CONTEXT},
        {FG_KIND_CONCURRENT_KERNEL, FG_LAYOUT_KERNEL},
        {FG_KIND_OVERHEAD, FG_LAYOUT_OVERHEAD},
        {FG_KIND_MEMCPY2, FG_LAYOUT_MEMCPY_PTOP},
        {FG_KIND_CUDA_EVENT, FG_LAYOUT_CUDA_EVENT},
        {FG_KIND_STREAM, FG_LAYOUT_STREAM},
        {FG_KIND_SYNCHRONIZATION, FG_LAYOUT_SYNCHRONIZATION},
        {FG_KIND_EXTERNAL_CORRELATION, FG_LAYOUT_EXTERNAL_CORRELATION},
        {FG_KIND_MEMORY2, FG_LAYOUT_MEMORY},
        {FG_KIND_MEMORY_POOL, FG_LAYOUT_MEMORY_POOL},
        {FG_KIND_GRAPH_TRACE, FG_LAYOUT_GRAPH_TRACE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind)
            return (int)rows[i].layout;
    return -1;
}

void fg_record_begin(struct fg_record *record, enum fg_layout layout, enum fg_kind kind)
{
    memset(record->data, 0, sizeof record->data);
    record->layout = layout;
    record->bytes = fg_layout_bytes(layout, fg_cupti_version());
    const uint32_t number = kind;
    memcpy(record->data, &number, sizeof number);
}

void fg_set_bytes(uint8_t *data, enum fg_field field, uint64_t value)
{
    if (fields[field].since <= fg_cupti_version())
        memcpy(data + fields[field].offset, &value, fields[field].bytes);
}

void fg_set(struct fg_record *record, enum fg_field field, uint64_t value)
{
    fg_set_bytes(record->data, field, value);
}

static uint32_t bytes_at(const uint8_t *data)
{
    uint32_t kind;
    memcpy(&kind, data, sizeof kind);
    const int layout = fg_layout_of_kind(kind);
    const uint32_t replayed = fg_replayed_length(kind);
    if (replayed)
        return replayed;
    return layout >= 0               ? fg_layout_bytes((enum fg_layout)layout, fg_cupti_version())
           : kind == FG_KIND_UNKNOWN ? UNKNOWN_BYTES
                                     : 0;
}

int fg_next_record(const uint8_t *data, size_t valid, uint8_t **record)
{
    enum { MAX_LIMIT_REACHED = 12, INVALID_KIND = 21 };
    const uint8_t *at = data;
    if (*record)
        at = *record + bytes_at(*record);
    if (at + sizeof(uint64_t) > data + valid)
        return MAX_LIMIT_REACHED;
    const uint32_t bytes = bytes_at(at);
    if (!bytes)
        return INVALID_KIND;
    if (at + bytes > data + valid)
        return MAX_LIMIT_REACHED;
    *record = (uint8_t *)(uintptr_t)at;
    return 0;
}
