/* SPDX-License-Identifier: MIT
 *
 * schema_table.c - Owns: the match of a foreign schema with ours. Never: guesses; what it does not understand is
 * skipped. Threads: any after pt_schema_new.
 */
#include "schema_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "proftrace/schema_text.h"
#include "util/mem.h"

/* ---- a foreign schema ---- */

static void set_identical(struct pt_schema *schema)
{
    schema->identical = true;
    for (int kind = 0; kind < PT_TOTALS_ROWS; kind++)
        schema->kind_of_row[kind] = kind < PT_KIND__COUNT ? (pt_u16)kind : PT_NO_KIND;
    for (int kind = 0; kind < PT_KIND__COUNT; kind++)
        schema->kinds[pt_event_descs[kind].id] = (struct pt_kind_map){.desc = &pt_event_descs[kind], .identical = true};
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
        schema->kind_of_row[row] = desc ? desc->kind : PT_NO_KIND;
    if (!desc)
        pt_str_printf(&schema->unknown, "%s%.60s", schema->unknown.n ? ", " : "", name);
}

/* A field of a foreign schema: where a record holds it. */
struct foreign_field {
    enum pt_field_place place;
    pt_u32 offset, bytes; /* 0 bytes = nothing that a record can hold */
    bool is_signed, is_float;
};

static pt_u32 bytes_of_type(const char *type)
{
    const int bits = atoi(type + 1);
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? (pt_u32)bits / 8 : 0;
}

static struct foreign_field foreign_field(const struct foreign_event *event, const char *type)
{
    struct foreign_field field = {.is_signed = type[0] == 'i', .is_float = type[0] == 'f'};
    if (!strcmp(type, "aux")) {
        field.place = PT_FIELD_AUX;
        field.bytes = 4;
    } else if (!strcmp(type, "tag")) {
        field.place = PT_FIELD_TAG;
        field.bytes = 3;
    } else {
        field.place = PT_FIELD_PAYLOAD;
        field.offset = event->offset;
        field.bytes = bytes_of_type(type);
    }
    if (field.offset + field.bytes > 16)
        field.bytes = 0;
    return field;
}

static void add_field(struct foreign_event *event, const char *type, const char *name)
{
    const struct foreign_field field = foreign_field(event, type);
    if (!field.bytes) {
        event->kind = NULL; /* skip the event */
        return;
    }
    if (field.place == PT_FIELD_PAYLOAD)
        event->offset += field.bytes;
    struct pt_kind_map *kind = event->kind;
    const struct pt_field_desc *own = kind && kind->desc ? own_field(kind->desc, name) : NULL;
    if (!own || kind->n_moves == PT_MAX_FIELDS || (own->type[0] == 'f') != field.is_float)
        return;
    kind->moves[kind->n_moves++] = (struct pt_field_move){.from_place = (pt_u8)field.place,
                                                          .from_offset = (pt_u8)field.offset,
                                                          .from_bytes = (pt_u8)field.bytes,
                                                          .is_signed = field.is_signed,
                                                          .to_place = (pt_u8)own->place,
                                                          .to_offset = (pt_u8)own->offset,
                                                          .to_bytes = (pt_u8)own->bytes};
    event->moved++;
    event->same = event->same && field.place == own->place && field.offset == own->offset && field.bytes == own->bytes;
}

static void parse(struct pt_schema *schema, const char *text)
{
    struct foreign_event event = {0};
    int row = 0;
    for (int i = 0; i < PT_TOTALS_ROWS; i++)
        schema->kind_of_row[i] = PT_NO_KIND;
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
    schema->text = pt_strdup(text);
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
    free(schema->text);
    free(schema);
}

bool pt_schema_is_of(const struct pt_schema *schema, const char *text)
{
    return !strcmp(schema->text, text);
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
