/* SPDX-License-Identifier: MIT
 *
 * tables.h - a run as tables, row by row: for formats that databases and spreadsheets read.
 */
#ifndef PT_EXPORT_TABLE_TABLES_H
#define PT_EXPORT_TABLE_TABLES_H

#include "export/export.h"
#include "profile/value.h"
#include "util/json/json_writer.h"
#include "util/str.h"

enum pt_tabular_type { PT_TABULAR_INTEGER, PT_TABULAR_REAL, PT_TABULAR_TEXT, PT_TABULAR_JSON };

struct pt_tabular_column {
    const char *name;
    enum pt_tabular_type type;
};

/* A table of tables.def. */
struct pt_tabular {
    const char *name;
    const struct pt_tabular_column *columns;
    pt_u32 n_columns;
};

enum pt_tabular_number {
#define TABLE(name, ...) PT_TABULAR_##name,
#include "tables.def"
#undef TABLE
    PT_TABULAR__COUNT
};
extern const struct pt_tabular pt_tabulars[PT_TABULAR__COUNT];

/* A row of each: a value for each column. */
#define TABLE(name, doc, ...)                                                                                          \
    struct pt_row_##name {                                                                                             \
        __VA_ARGS__                                                                                                    \
    };
#define COLUMN(name, type, doc) struct pt_value name;
#include "tables.def"
#undef TABLE
#undef COLUMN

/* Where rows go. */
struct pt_tabular_writer {
    struct pt_session *session;
    const struct pt_export_options *options;
    void *context;
    bool has_all; /* tables; else events alone */
    /* `values`: a row of that table. Texts are hostile and live until the call returns; a JSON column has none, see
     * pt_tabular_fields. `event` is that of a row of events. */
    void (*row)(const struct pt_tabular_writer *writer, const struct pt_tabular *table, const struct pt_value *values,
                const struct pt_event *event);
    bool (*has_failed)(const struct pt_tabular_writer *writer); /* and wants no more */
};

/* The members of the column `fields` of events, into the object that is open. */
void pt_tabular_fields(struct pt_json *json, const struct pt_event *event);
/* The same as a text of its own, behind what `out` holds. */
void pt_tabular_fields_text(const struct pt_event *event, struct pt_str *out);

#endif
