/* SPDX-License-Identifier: MIT
 *
 * schema_table.c - Owns: the descriptors that events.def makes, and the match of foreign schemas. Threads: any after
 * pt_schema_new.
 */
#include "schema_table.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

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

static struct pt_event_desc descs[PT_ROW__COUNT];
const struct pt_event_desc *pt_event_descs_by_id[256];
const struct pt_event_desc *const pt_event_descs = descs;

static void add_desc(pt_u16 row, pt_u8 id, const char *name, enum pt_category category, enum pt_role role,
                     const char *doc, const struct pt_field_desc *fields, pt_u32 n_fields)
{
    struct pt_event_desc *desc = &descs[row];
    *desc = (struct pt_event_desc){.id = id, .row = row, .name = name, .category = category, .role = role, .doc = doc};
    for (pt_u32 i = 0; i < n_fields; i++) {
        if (fields[i].unit != PT_UNIT_PAD && desc->n_fields < PT_MAX_FIELDS)
            desc->fields[desc->n_fields++] = fields[i];
        desc->moves_bytes |= fields[i].unit_class == PT_CLASS_RESULT_BYTES && fields[i].bytes == sizeof(pt_i32);
    }
    pt_event_descs_by_id[id] = desc;
}

/* Before main, so that every thread finds the tables complete. */
__attribute__((constructor)) static void fill_tables(void)
{
    pt_u32 n;
    const struct pt_field_desc *fields;
#define EVENT(id, name, category, role, doc, ...)                                                                      \
    fields = fields_of_##name(&n);                                                                                     \
    add_desc(PT_ROW_##name, id, #name, PT_CATEGORY_##category, PT_ROLE_##role, doc, fields, n);
#include "proftrace/events.def"
#undef EVENT
}

const struct pt_event_desc *pt_event_desc_by_name(const char *name)
{
    for (int row = 0; row < PT_ROW__COUNT; row++)
        if (!strcmp(descs[row].name, name))
            return &descs[row];
    return NULL;
}

/* ---- a foreign schema ---- */

static void set_identical(struct pt_schema *schema)
{
    schema->identical = true;
    for (int row = 0; row < PT_TOTALS_ROWS; row++)
        schema->rows[row] = row < PT_ROW__COUNT ? (pt_u16)row : PT_NO_ROW;
    for (int row = 0; row < PT_ROW__COUNT; row++)
        schema->kinds[descs[row].id] = (struct pt_kind_map){.desc = &descs[row], .identical = true};
}

struct foreign_event {
    unsigned id;
    struct pt_kind_map *kind;
    pt_u32 offset; /* of the next payload field */
    pt_u32 moved;  /* fields of ours that were found */
    bool same;     /* every field so far lies where ours does */
};

static const struct pt_field_desc *own_field(const struct pt_event_desc *desc, const char *name)
{
    for (pt_u32 i = 0; i < desc->n_fields; i++)
        if (!strcmp(desc->fields[i].name, name))
            return &desc->fields[i];
    return NULL;
}

static void end_event(struct foreign_event *event)
{
    if (event->kind && event->kind->desc)
        event->kind->identical = event->same && event->moved == event->kind->desc->n_fields;
}

static void begin_event(struct pt_schema *schema, struct foreign_event *event, unsigned id, const char *name,
                        const char *role, int row)
{
    static const char *const roles[] = {"UNIT", "SPAN", "POINT", "BEGIN", "END"};
    end_event(event);
    *event = (struct foreign_event){.id = id, .same = true};
    const struct pt_event_desc *desc = pt_event_desc_by_name(name);
    if (desc && strcmp(roles[desc->role], role) != 0)
        desc = NULL; /* the same name with another meaning */
    if (id > 255 || (id < 8 && desc && desc->id != id))
        return;
    event->kind = &schema->kinds[id];
    *event->kind = (struct pt_kind_map){.desc = desc};
    event->same = desc && desc->id == id;
    if (row < PT_TOTALS_ROWS)
        schema->rows[row] = desc ? desc->row : PT_NO_ROW;
    if (!desc)
        pt_str_printf(&schema->unknown, "%s%.60s", schema->unknown.n ? ", " : "", name);
}

static void add_field(struct foreign_event *event, const char *type, const char *name)
{
    const bool is_aux = !strcmp(type, "aux"), is_tag = !strcmp(type, "tag");
    const int bits = atoi(type + 1);
    const pt_u32 bytes = is_aux                                                ? 4
                         : is_tag                                              ? 3
                         : bits == 8 || bits == 16 || bits == 32 || bits == 64 ? (pt_u32)bits / 8
                                                                               : 0;
    const pt_u32 offset = is_aux || is_tag ? 0 : event->offset;
    if (!bytes || offset + bytes > 16) {
        event->kind = NULL; /* not a field that a record can hold: give the event up */
        return;
    }
    if (!is_aux && !is_tag)
        event->offset += bytes;
    if (!event->kind || !event->kind->desc)
        return;
    const struct pt_field_desc *own = own_field(event->kind->desc, name);
    const pt_u8 place = is_aux ? PT_FIELD_AUX : is_tag ? PT_FIELD_TAG : PT_FIELD_PAYLOAD;
    if (!own || event->kind->n_moves == PT_MAX_FIELDS || (own->type[0] == 'f') != (type[0] == 'f'))
        return;
    event->kind->moves[event->kind->n_moves++] = (struct pt_field_move){
        place, (pt_u8)offset, (pt_u8)bytes, type[0] == 'i', (pt_u8)own->place, (pt_u8)own->offset, (pt_u8)own->bytes};
    event->moved++;
    event->same = event->same && place == own->place && offset == own->offset && bytes == own->bytes;
}

static void parse(struct pt_schema *schema, const char *text)
{
    struct foreign_event event = {0};
    int row = 0;
    for (int i = 0; i < PT_TOTALS_ROWS; i++)
        schema->rows[i] = PT_NO_ROW;
    while (*text) {
        char line[200], first[16], name[64], third[32], fourth[16];
        int id;
        const size_t n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), text);
        if (sscanf(line, "event %i %63s %31s %15s", &id, name, third, fourth) == 4)
            begin_event(schema, &event, (unsigned)id, name, fourth, row++);
        else if (sscanf(line, " %15s %63s %31s", first, name, third) == 3)
            add_field(&event, first, name);
        text += n;
        text += *text == '\n';
    }
    end_event(&event);
}

struct pt_schema *pt_schema_new(const char *text)
{
    struct pt_schema *schema = pt_calloc(1, sizeof *schema);
    if (!strcmp(text, pt_schema_text) || strncmp(text, "event ", 6) != 0)
        set_identical(schema);
    else
        parse(schema, text);
    return schema;
}

void pt_schema_free(struct pt_schema *schema)
{
    if (!schema)
        return;
    pt_str_fini(&schema->unknown);
    free(schema);
}

static pt_u64 take_field(const struct pt_field_move *move, const struct pt_record *record)
{
    pt_u64 value = 0;
    if (move->from_place == PT_FIELD_AUX)
        return record->aux;
    if (move->from_place == PT_FIELD_TAG) /* a tag is signed: -1 = none */
        return (pt_u64)((pt_i64)(pt_i32)(record->tag_kind & 0xffffff00u) >> 8);
    memcpy(&value, record->payload + move->from_offset, move->from_bytes);
    const pt_u32 spare = 64 - 8u * move->from_bytes;
    return move->is_signed ? (pt_u64)((pt_i64)(value << spare) >> spare) : value;
}

void pt_schema_convert(const struct pt_kind_map *kind, struct pt_record *record)
{
    struct pt_record out = {.stamp = record->stamp, .aux = record->aux, .tag_kind = kind->desc->id | PT_TAG_NONE << 8};
    if (kind->desc->role != PT_ROLE_SPAN)
        out.aux = 0;
    for (pt_u32 i = 0; i < kind->n_moves; i++) {
        const struct pt_field_move *move = &kind->moves[i];
        const pt_u64 value = take_field(move, record);
        if (move->to_place == PT_FIELD_AUX)
            out.aux = (pt_u32)value;
        else if (move->to_place == PT_FIELD_TAG)
            out.tag_kind = (pt_u32)value << 8 | kind->desc->id;
        else
            memcpy(out.payload + move->to_offset, &value, move->to_bytes);
    }
    *record = out;
}

void pt_totals_add(struct pt_totals *totals, const struct pt_event_desc *desc, const void *payload, pt_u64 duration)
{
    totals->calls++;
    totals->ticks += duration;
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
