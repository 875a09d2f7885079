/* SPDX-License-Identifier: MIT
 *
 * schema_table.h - how the events of a file map onto the events of this build.
 *
 * A file carries the text of the schema it was written with. If it equals ours, records are used as they are. Else
 * kinds and fields are matched by name, unknown kinds are skipped, and fields that the file lacks are zero.
 */
#ifndef PT_DECODE_SCHEMA_TABLE_H
#define PT_DECODE_SCHEMA_TABLE_H

#include <stdbool.h>

#include "proftrace/format.h"
#include "util/str.h"
#include "event.h"

/* Where a field lies in a stored record, and where in our layout. */
struct pt_field_move {
    pt_u8 from_place, from_offset, from_bytes, is_signed;
    pt_u8 to_place, to_offset, to_bytes;
};

struct pt_kind_map {
    const struct pt_event_desc *desc; /* NULL = unknown to this build */
    bool identical;                   /* the record can be taken as it is */
    pt_u8 n_moves;
    struct pt_field_move moves[PT_MAX_FIELDS];
};

struct pt_schema {
    struct pt_kind_map kinds[256];
    pt_u16 kind_of_row[PT_TOTALS_ROWS]; /* row of the file's totals -> PT_KIND_x, or PT_NO_KIND */
    bool identical;
    char *text;            /* as the file has it */
    struct pt_str unknown; /* names of kinds that this build does not know, ", " between them */
};
#define PT_NO_KIND 0xffffu

/* `text` = what the file stores. An empty or unreadable schema counts as ours. */
struct pt_schema *pt_schema_new(const char *text);
void pt_schema_free(struct pt_schema *schema);
bool pt_schema_is_of(const struct pt_schema *schema, const char *text);

/* Bring a stored record into our layout; only for kinds that are known and not identical. */
void pt_schema_convert(const struct pt_kind_map *kind, struct pt_record *record);

#endif
