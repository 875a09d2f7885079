/* SPDX-License-Identifier: MIT
 *
 * perfetto/event.c - how an event looks as fields of a Perfetto slice. Owns nothing. One thread. Never: writes a
 * field that the event does not have. */
#include "event.h"

#include "export/timeline/event_text.h"

/* The number of a string of the process; 0 = it has none, or an empty one. */
static pt_u64 string_number(struct pt_perfetto_intern *intern, const struct pt_event *event, pt_u32 id)
{
    const pt_u64 key = ((pt_u64)event->process->index + 1) << 32 | id;
    const pt_u64 *known = pt_map_find(&intern->by_key[3], key);
    if (known)
        return *known;
    const char *text = pt_process_string(event->process, id);
    return text && *text ? pt_perfetto_text(intern, PT_PERFETTO_VALUES, key, text) : 0;
}

/* False = nothing is shown. */
static bool annotate(struct pt_perfetto_intern *intern, const struct pt_event *event, const struct pt_field_desc *field,
                     struct pt_perfetto_field *ret_annotation)
{
    struct pt_field_value value;
    if (!pt_viewer_value(event, field, &value))
        return false;
    ret_annotation->value = value.bits;
    switch (value.form) {
    case PT_FORM_STRING:
        ret_annotation->type = PT_ANNOTATION_TEXT_NUMBER;
        ret_annotation->value = string_number(intern, event, (pt_u32)value.number);
        return ret_annotation->value;
    case PT_FORM_ERROR:
        ret_annotation->key = intern->error_key;
        ret_annotation->type = PT_ANNOTATION_TEXT_NUMBER;
        ret_annotation->value = pt_perfetto_text(intern, PT_PERFETTO_VALUES, (pt_u64)-value.number, value.error);
        return true;
    case PT_FORM_HEX:
        ret_annotation->type = PT_ANNOTATION_POINTER;
        return true;
    case PT_FORM_SIGNED:
        ret_annotation->type = PT_ANNOTATION_SIGNED;
        return true;
    case PT_FORM_UNSIGNED:
        ret_annotation->type = PT_ANNOTATION_UNSIGNED;
        return true;
    case PT_FORM_REAL:
    case PT_FORM_STACK:
        break; /* viewers leave them out */
    }
    return false;
}

void pt_perfetto_name(struct pt_perfetto_intern *intern, const struct pt_timeline_slice *slice,
                      struct pt_perfetto_named *named)
{
    const struct pt_event *event = slice->event;
    const struct pt_perfetto_kind *kind = event ? pt_perfetto_kind(intern, event->desc) : NULL;
    named->category =
        slice->category ? pt_perfetto_text(intern, PT_PERFETTO_CATEGORIES, (uintptr_t)slice->category, slice->category)
                        : kind->category;
    named->name = slice->name ? pt_perfetto_text(intern, PT_PERFETTO_NAMES, slice->name_key, slice->name) : kind->name;
    named->n_fields = 0;
    for (pt_u32 i = 0; event && i < event->desc->n_fields; i++) {
        struct pt_perfetto_field *field = &named->fields[named->n_fields];
        field->key = kind->keys[i];
        named->n_fields += annotate(intern, event, &event->desc->fields[i], field);
    }
}

/* Two numbers: always shorter than 128 bytes, so that one byte of length will do. */
static char *put_annotation(char *at, const struct pt_perfetto_field *field)
{
    char *const start = pt_proto_tag(at, PT_TRACK_EVENT_ANNOTATION, PT_PROTO_BYTES);
    at = pt_proto_u64(pt_proto_u64(start + 1, PT_ANNOTATION_KEY, field->key), field->type, field->value);
    *start = (char)(at - start - 1);
    return at;
}

char *pt_perfetto_put_fields(char *at, const struct pt_perfetto_named *named)
{
    for (pt_u32 i = 0; i < named->n_fields; i++)
        at = put_annotation(at, &named->fields[i]);
    return at;
}
