/* SPDX-License-Identifier: MIT
 *
 * perfetto/event.c - how an event looks as fields of a Perfetto slice. Owns nothing. One thread. */
#include "event.h"

#include <string.h>

#include "export/timeline/event_text.h"
#include "packet.h"

static bool is_result(enum pt_unit unit)
{
    return unit == PT_UNIT_RESULT || unit == PT_UNIT_RESULT_FD || unit == PT_UNIT_RESULT_PID ||
           unit == PT_UNIT_RESULT_BYTES;
}

static pt_u64 field_text(struct pt_perfetto_intern *intern, const struct pt_event *event,
                         const struct pt_field_desc *field)
{
    const pt_u64 value = pt_event_field(event, field);
    if (field->unit == PT_UNIT_STRING && value) {
        const pt_u64 key = ((pt_u64)event->process->index + 1) << 32 | (pt_u32)value;
        const pt_u64 *known = pt_map_find(&intern->by_key[3], key);
        if (known)
            return *known;
        const char *text = pt_process_string(event->process, (pt_u32)value);
        return text && *text ? pt_perfetto_text(intern, PT_PERFETTO_VALUES, key, text) : 0;
    }
    const pt_i64 result = (pt_i64)value;
    if (!is_result(field->unit) || result >= 0 || result < -4095)
        return 0;
    const char *error = strerrorname_np((int)-result);
    return error ? pt_perfetto_text(intern, PT_PERFETTO_VALUES, (pt_u64)-result, error) : 0;
}

void pt_perfetto_name(struct pt_perfetto_intern *intern, const struct pt_timeline_slice *slice,
                      struct pt_perfetto_named *named)
{
    named->kind = slice->event ? pt_perfetto_kind(intern, slice->event->desc) : NULL;
    named->category =
        slice->category ? pt_perfetto_text(intern, PT_PERFETTO_CATEGORIES, (uintptr_t)slice->category, slice->category)
                        : named->kind->category;
    named->name =
        slice->name ? pt_perfetto_text(intern, PT_PERFETTO_NAMES, slice->name_key, slice->name) : named->kind->name;
    for (pt_u32 i = 0; named->kind && i < slice->event->desc->n_fields; i++) {
        const enum pt_unit unit = slice->event->desc->fields[i].unit;
        named->texts[i] = unit == PT_UNIT_STRING || is_result(unit)
                              ? field_text(intern, slice->event, &slice->event->desc->fields[i])
                              : 0;
    }
}

static char *put_annotation(char *at, pt_u64 key, enum pt_annotation_field field, pt_u64 value)
{
    /* Two numbers: always shorter than 128 bytes, so that one byte of length will do. */
    char *const start = pt_proto_tag(at, PT_TRACK_EVENT_ANNOTATION, PT_PROTO_BYTES);
    at = pt_proto_u64(pt_proto_u64(start + 1, PT_ANNOTATION_KEY, key), field, value);
    *start = (char)(at - start - 1);
    return at;
}

/* One field; nothing where it says nothing. */
static char *put_field(char *at, const struct pt_event *event, const struct pt_field_desc *field, pt_u64 key,
                       pt_u64 text, pt_u64 error_key)
{
    const pt_u64 value = pt_event_field(event, field);
    switch (field->unit) {
    case PT_UNIT_PAD:
    case PT_UNIT_STACK:
    case PT_UNIT_NUMBER:
        return at;
    case PT_UNIT_STRING:
        return text ? put_annotation(at, key, PT_ANNOTATION_TEXT_NUMBER, text) : at;
    case PT_UNIT_RESULT:
    case PT_UNIT_RESULT_FD:
    case PT_UNIT_RESULT_PID:
    case PT_UNIT_RESULT_BYTES:
        return text ? put_annotation(at, error_key, PT_ANNOTATION_TEXT_NUMBER, text)
                    : put_annotation(at, key, PT_ANNOTATION_SIGNED, value);
    case PT_UNIT_FD:
        return (pt_i64)value < 0 ? at : put_annotation(at, key, PT_ANNOTATION_UNSIGNED, value);
    case PT_UNIT_ADDR:
    case PT_UNIT_HEX:
    case PT_UNIT_OPEN_FLAGS:
        return put_annotation(at, key, PT_ANNOTATION_POINTER, field->bytes == 4 ? (pt_u32)value : value);
    case PT_UNIT_BYTES:
    case PT_UNIT_OFFSET:
    case PT_UNIT_COUNT:
    case PT_UNIT_WHENCE:
    case PT_UNIT_HEAP_FUNCTION:
        return put_annotation(at, key, field->type[0] == 'i' ? PT_ANNOTATION_SIGNED : PT_ANNOTATION_UNSIGNED, value);
    }
    return at;
}

char *pt_perfetto_put_fields(char *at, const struct pt_event *event, const struct pt_perfetto_named *named,
                             pt_u64 error_key)
{
    for (pt_u32 i = 0; i < event->desc->n_fields; i++) {
        const struct pt_field_desc *field = &event->desc->fields[i];
        /* What was asked for only matters where it is not what was moved. */
        if (named->kind->moves_bytes && field->unit == PT_UNIT_BYTES &&
            pt_event_field(event, field) == (pt_u64)event->result)
            continue;
        at = put_field(at, event, field, named->kind->keys[i], named->texts[i], error_key);
    }
    return at;
}
