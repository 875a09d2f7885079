/* SPDX-License-Identifier: MIT
 *
 * json_fields.c - Owns nothing; any thread. */
#include "json_fields.h"

#include <stdio.h>
#include <string.h>

#include "decode/field_value.h"
#include "model/names.h"

static void put_stack(struct pt_json *json, const struct pt_event *event, const char *name, pt_u32 id)
{
    const pt_u64 *frames;
    pt_json_array_inline(json, name);
    for (pt_u32 i = 0, n = pt_process_stack(event->process, id, &frames); i < n; i++)
        if (pt_frame_is_python(frames[i]))
            pt_json_text(json, NULL, pt_process_string(event->process, pt_python_frame_name(frames[i])));
        else
            pt_json_u64(json, NULL, frames[i]);
    pt_json_end(json);
}

static void put_field(struct pt_json *json, const struct pt_event *event, const struct pt_field_desc *field,
                      const char *name)
{
    const struct pt_field_value value = pt_field_value(event, field);
    if (field->unit_class == PT_CLASS_EVENT) {
        pt_json_text(json, name, pt_field_name(field, &value));
        return;
    }
    switch (value.form) {
    case PT_FORM_STRING:
        pt_json_text(json, name, value.is_absent ? NULL : pt_process_string(event->process, (pt_u32)value.number));
        break;
    case PT_FORM_STACK:
        put_stack(json, event, name, (pt_u32)value.number);
        break;
    case PT_FORM_REAL:
        pt_json_f64(json, name, value.real);
        break;
    case PT_FORM_HEX:
    case PT_FORM_SIGNED:
    case PT_FORM_UNSIGNED:
    case PT_FORM_ERROR:
        if (field->is_signed)
            pt_json_i64(json, name, pt_field_raw(event, field));
        else
            pt_json_u64(json, name, value.bits);
    }
}

static bool is_taken(const char *name, const char *const *taken)
{
    while (*taken && strcmp(*taken, name) != 0)
        taken++;
    return *taken || !strcmp(name, "tid");
}

void pt_json_fields(struct pt_json *json, const struct pt_event *event, const char *const *taken)
{
    char name[64];
    for (pt_u32 i = 0; i < event->desc->n_fields; i++) {
        const struct pt_field_desc *field = &event->desc->fields[i];
        if (!strcmp(field->name, "tid") && pt_field_raw(event, field) == (pt_i64)event->thread->tid)
            continue;
        snprintf(name, sizeof name, "%s%s", is_taken(field->name, taken) ? "field_" : "", field->name);
        put_field(json, event, field, name);
    }
}
