/* SPDX-License-Identifier: MIT
 *
 * ndjson.c - a folder of tables as lines of JSON: events/stage=NAME/kind=NAME/events.ndjson, as Hive, DuckDB, Spark and
 * ClickHouse partition files, and <table>.ndjson for each other table. A line has the stage and kind, too: it can be
 * read alone.
 *
 * Owns: which row goes into which file. One thread. */
#include <ctype.h>
#include <stdlib.h>

#include "util/mem.h"
#include "folder.h"
#include "write.h"

enum { NAME_BYTES = 180 }; /* of a folder: file systems take 255 */

struct ndjson {
    struct pt_folder folder;
    struct pt_intern stages;
    struct pt_map files; /* table; or stage and kind -> file */
    struct pt_json json;
    struct pt_folder_file *file; /* that the writer writes into */
};

/* As Hive writes a name into a path. Of long ones that begin alike the events are in one folder. */
static void put_name(struct pt_str *path, const char *name)
{
    const size_t most = path->n + NAME_BYTES;
    for (; *name && path->n < most; name++)
        if (isalnum((unsigned char)*name) || *name == '-' || *name == '_' || *name == '.')
            pt_str_char(path, *name);
        else
            pt_str_printf(path, "%%%02X", (unsigned char)*name);
}

static struct pt_folder_file *new_file(struct ndjson *ndjson, const struct pt_tabular *table,
                                       const struct pt_event *event, const char *stage)
{
    struct pt_str path = {0};
    if (event) {
        pt_str_add(&path, "events/stage=");
        put_name(&path, stage);
        pt_str_printf(&path, "/kind=%s/", event->desc->name);
    }
    pt_str_printf(&path, "%s.ndjson", table->name);
    struct pt_folder_file *file = pt_folder_file(&ndjson->folder, pt_str_text(&path));
    pt_str_fini(&path);
    return file;
}

static struct pt_folder_file *file_of(struct ndjson *ndjson, const struct pt_tabular *table,
                                      const struct pt_event *event, const char *stage)
{
    const pt_u64 key = event ? (uintptr_t)pt_intern_text(&ndjson->stages, stage) << 8 | event->desc->id
                             : (pt_u64)(table - pt_tabulars);
    uint64_t *slot = pt_map_at(&ndjson->files, key);
    if (!*slot)
        *slot = (uintptr_t)new_file(ndjson, table, event, stage);
    return (struct pt_folder_file *)(uintptr_t)*slot;
}

static int append(void *context, const char *bytes, size_t n)
{
    const struct ndjson *ndjson = context;
    pt_str_bytes(&ndjson->file->buffer, bytes, n);
    return 0;
}

static void put_value(struct pt_json *json, const char *key, const struct pt_value *value)
{
    switch (value->type) {
    case PT_VALUE_UNKNOWN:
        pt_json_null(json, key);
        break;
    case PT_VALUE_INTEGER:
    case PT_VALUE_BOOL:
        pt_json_i64(json, key, value->integer);
        break;
    case PT_VALUE_REAL:
        pt_json_f64(json, key, value->real);
        break;
    case PT_VALUE_TEXT:
        pt_json_text(json, key, value->text);
    }
}

static void put_row(const struct pt_tabular_writer *writer, const struct pt_tabular *table,
                    const struct pt_value *values, const struct pt_event *event)
{
    struct ndjson *ndjson = writer->context;
    struct pt_json *json = &ndjson->json;
    const char *stage = event ? ((const struct pt_row_events *)(const void *)values)->stage.text : NULL;
    ndjson->file = file_of(ndjson, table, event, stage);
    pt_json_init(json, append, ndjson, false);
    pt_json_object(json, NULL);
    for (pt_u32 i = 0; i < table->n_columns; i++)
        if (table->columns[i].type == PT_TABULAR_JSON)
            pt_tabular_fields(json, event);
        else
            put_value(json, table->columns[i].name, &values[i]);
    pt_json_end(json);
    pt_json_line(json);
    pt_json_close(json);
    pt_folder_wrote(&ndjson->folder, ndjson->file);
}

static bool has_failed(const struct pt_tabular_writer *writer)
{
    const struct ndjson *ndjson = writer->context;
    return ndjson->folder.has_failed;
}

int pt_export_ndjson(struct pt_session *session, const struct pt_export_options *options,
                     const struct pt_out_place *place, struct pt_export_summary *ret_summary,
                     struct pt_sink_result *ret_result, struct pt_error *err)
{
    struct ndjson *ndjson = pt_calloc(1, sizeof *ndjson);
    const struct pt_tabular_writer writer = {.session = session,
                                             .options = options,
                                             .context = ndjson,
                                             .has_all = true,
                                             .row = put_row,
                                             .has_failed = has_failed};
    *ret_summary = (struct pt_export_summary){0};
    int result = pt_folder_begin(&ndjson->folder, place, options->max_bytes, err);
    for (int i = PT_TABULAR_events + 1; !result && i < PT_TABULAR__COUNT; i++)
        file_of(ndjson, &pt_tabulars[i], NULL, NULL); /* also where it has no row */
    if (!result)
        result = pt_tabular_write(&writer, ret_summary, err);
    if (!result)
        result = pt_folder_finish(&ndjson->folder, err);
    *ret_result = (struct pt_sink_result){ndjson->folder.bytes, ndjson->folder.bytes};
    pt_folder_fini(&ndjson->folder);
    pt_map_fini(&ndjson->files);
    pt_intern_fini(&ndjson->stages);
    free(ndjson);
    return result;
}
