/* SPDX-License-Identifier: MIT
 *
 * event.c - Owns: the descriptors that events.def makes. Threads: any. Never: changes one after main has begun.
 */
#include "event.h"

#include <stddef.h>
#include <string.h>

#include "proftrace/payloads.h"

/* Each row's fields as a function-local table: `self` lets FIELD name its struct without knowing the event. */
#define UNIT(unit) PT_UNIT_##unit, PT_CLASS_OF_##unit
#define AUX(name, unit, doc) {#name, "u32", UNIT(unit), false, 0, 4, PT_FIELD_AUX},
#define TAG(name, unit, doc) {#name, "i24", UNIT(unit), true, 0, 3, PT_FIELD_TAG},
#define FIELD(type, name, unit, doc)                                                                                   \
    {#name, #type, UNIT(unit), (pt_##type) - 1 < 1, offsetof(self, name), sizeof(pt_##type), PT_FIELD_PAYLOAD},
#define EVENT(id, name, category, role, doc, ...)                                                                      \
    static const struct pt_field_desc *fields_of_##name(pt_u32 *ret_n)                                                 \
    {                                                                                                                  \
        typedef struct pt_ev_##name self;                                                                              \
        static const struct pt_field_desc fields[] = {__VA_ARGS__};                                                    \
        *ret_n = sizeof fields / sizeof fields[0];                                                                     \
        return fields;                                                                                                 \
    }
#include "proftrace/events.def"
#undef EVENT
#undef FIELD
#undef TAG
#undef AUX
#undef UNIT

static struct pt_event_desc descs[PT_KIND__COUNT];
const struct pt_event_desc *pt_event_descs_by_id[256];
const struct pt_event_desc *const pt_event_descs = descs;

static void add_desc(const struct pt_event_desc *head, const struct pt_field_desc *fields, pt_u32 n_fields)
{
    struct pt_event_desc *desc = &descs[head->kind];
    *desc = *head;
    for (pt_u32 i = 0; i < n_fields; i++) {
        if (fields[i].unit != PT_UNIT_PAD && desc->n_fields < PT_MAX_FIELDS)
            desc->fields[desc->n_fields++] = fields[i];
        desc->moves_bytes |= fields[i].unit_class == PT_CLASS_RESULT_BYTES && fields[i].bytes == sizeof(pt_i32);
    }
    pt_event_descs_by_id[desc->id] = desc;
}

/* Before main, so that every thread finds the tables complete. */
__attribute__((constructor)) static void fill_tables(void)
{
    pt_u32 n;
    const struct pt_field_desc *fields;
#define EVENT(id, name, category, role, doc, ...)                                                                      \
    fields = fields_of_##name(&n);                                                                                     \
    add_desc(                                                                                                          \
        &(struct pt_event_desc){                                                                                       \
            id, PT_KIND_##name, #name, PT_CATEGORY_##category, PT_ROLE_##role, doc, false, 0, {{0}}},                  \
        fields, n);
#include "proftrace/events.def"
#undef EVENT
}

const struct pt_event_desc *pt_event_desc_by_name(const char *name)
{
    for (int kind = 0; kind < PT_KIND__COUNT; kind++)
        if (!strcmp(descs[kind].name, name))
            return &descs[kind];
    return NULL;
}

void pt_totals_add(struct pt_totals *totals, const struct pt_event_desc *desc, const void *payload, pt_u64 ticks)
{
    totals->calls++;
    totals->ticks += ticks;
    for (pt_u32 i = 0; i < desc->n_fields; i++) {
        const struct pt_field_desc *field = &desc->fields[i];
        if (!PT_CLASS_HAS_ERRORS(field->unit_class))
            continue;
        pt_i64 value = 0;
        memcpy(&value, (const pt_u8 *)payload + field->offset, field->bytes);
        if (field->bytes == 4)
            value = (pt_i32)value;
        if (value < 0)
            totals->errors++;
        else if (field->unit_class == PT_CLASS_RESULT_BYTES)
            totals->bytes += (pt_u64)value;
        return;
    }
}
