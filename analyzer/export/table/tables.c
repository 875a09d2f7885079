/* SPDX-License-Identifier: MIT
 *
 * tables.c - Owns: tables.def as data. Any thread. */
#include "tables.h"

#include "model/text/json_fields.h"

#define COLUMN(name, type, doc) {#name, PT_TABULAR_##type},
#define TABLE(name, doc, ...) static const struct pt_tabular_column columns_of_##name[] = {__VA_ARGS__};
#include "tables.def"
#undef TABLE
#undef COLUMN

const struct pt_tabular pt_tabulars[PT_TABULAR__COUNT] = {
#define TABLE(name, ...) {#name, columns_of_##name, sizeof columns_of_##name / sizeof *columns_of_##name},
#include "tables.def"
#undef TABLE
};

void pt_tabular_fields(struct pt_json *json, const struct pt_event *event)
{
    const struct pt_tabular *table = &pt_tabulars[PT_TABULAR_events];
    const char *taken[sizeof columns_of_events / sizeof *columns_of_events + 1] = {NULL};
    for (pt_u32 i = 0; i < table->n_columns; i++)
        taken[i] = table->columns[i].name;
    pt_json_fields(json, event, taken);
}

static int append(void *out, const char *bytes, size_t n)
{
    pt_str_bytes(out, bytes, n);
    return 0;
}

void pt_tabular_fields_text(const struct pt_event *event, struct pt_str *out)
{
    struct pt_json json;
    pt_json_init(&json, append, out, false);
    pt_json_object(&json, NULL);
    pt_tabular_fields(&json, event);
    pt_json_end(&json);
    pt_json_close(&json);
}
