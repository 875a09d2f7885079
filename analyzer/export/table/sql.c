/* SPDX-License-Identifier: MIT
 *
 * sql.c - the tables as statements that make a database: sqlite3 run.db < run.sql. Why text: docs/decisions/.
 *
 * Owns: a statement. One thread. Never: writes a recorded text other than as a literal, on one line.
 */
#include <inttypes.h>
#include <string.h>

#include "util/str.h"
#include "util/text/utf8.h"
#include "write.h"

/* Rows of one statement: sqlite3 reads a statement of many rows faster than as many statements. */
enum { ROWS = 100 };

struct sql {
    struct pt_sink *sink;
    struct pt_str line, text;
    const struct pt_tabular *table; /* of the statement that is open; NULL = none */
    pt_u32 n_rows;                  /* of it */
};

static void end_statement(struct sql *sql)
{
    if (sql->table)
        pt_sink_put(sql->sink, ";\n", 2);
    sql->table = NULL;
    sql->n_rows = 0;
}

/* Well-formed; what is not becomes U+FFFD. True when no character of it is a control. */
static bool clean(struct pt_str *out, const char *text)
{
    bool is_plain = true;
    for (size_t left = strlen(text), n; left; left -= n, text += n) {
        uint32_t code;
        n = pt_utf8_next(text, left, &code);
        is_plain = is_plain && !(n && pt_utf8_is_control(code));
        pt_str_bytes(out, n ? text : PT_UTF8_REPLACEMENT, n ? n : 3);
        n = n ? n : 1;
    }
    return is_plain;
}

/* A text with control characters is written as the bytes of it: a line stays a line, and no terminal is told anything
 * by the file. */
static void put_text(struct sql *sql, const char *text)
{
    pt_str_clear(&sql->text);
    const bool is_plain = clean(&sql->text, text);
    const char *at = pt_str_text(&sql->text), *const end = at + sql->text.n;
    pt_str_add(&sql->line, is_plain ? "'" : "CAST(X'");
    for (; at < end; at++) {
        if (!is_plain)
            pt_str_printf(&sql->line, "%02x", (unsigned char)*at);
        else if (*at == '\'')
            pt_str_add(&sql->line, "''");
        else
            pt_str_char(&sql->line, *at);
    }
    pt_str_add(&sql->line, is_plain ? "'" : "' AS TEXT)");
}

static void put_fields(struct sql *sql, const struct pt_event *event)
{
    struct pt_str fields = {0};
    pt_tabular_fields_text(event, &fields);
    put_text(sql, pt_str_text(&fields));
    pt_str_fini(&fields);
}

static void put_value(struct sql *sql, const struct pt_value *value)
{
    switch (value->type) {
    case PT_VALUE_UNKNOWN:
        pt_str_add(&sql->line, "NULL");
        break;
    case PT_VALUE_INTEGER:
    case PT_VALUE_BOOL:
        pt_str_printf(&sql->line, "%" PRId64, value->integer);
        break;
    case PT_VALUE_REAL:
        pt_str_printf(&sql->line, "%.17g", value->real);
        break;
    case PT_VALUE_TEXT:
        put_text(sql, value->text);
    }
}

static void put_row(const struct pt_tabular_writer *writer, const struct pt_tabular *table,
                    const struct pt_value *values, const struct pt_event *event)
{
    struct sql *sql = writer->context;
    if (sql->table != table || sql->n_rows == ROWS)
        end_statement(sql);
    pt_str_clear(&sql->line);
    if (sql->table)
        pt_str_add(&sql->line, ",\n(");
    else
        pt_str_printf(&sql->line, "INSERT INTO %s VALUES\n(", table->name);
    for (pt_u32 i = 0; i < table->n_columns; i++) {
        if (i)
            pt_str_char(&sql->line, ',');
        if (table->columns[i].type == PT_TABULAR_JSON)
            put_fields(sql, event);
        else
            put_value(sql, &values[i]);
    }
    pt_str_char(&sql->line, ')');
    pt_sink_put(sql->sink, pt_str_text(&sql->line), sql->line.n);
    sql->table = table;
    sql->n_rows++;
}

/* All or nothing. Read twice, or into the database of another run, the tables are those that were read last. */
static void put_head(struct sql *sql)
{
    static const char *const types[] = {"INTEGER", "REAL", "TEXT", "TEXT"};
    pt_str_add(&sql->line, "-- proftrace: sqlite3 run.db < this file\nBEGIN;\n");
    for (int i = 0; i < PT_TABULAR__COUNT; i++) {
        const struct pt_tabular *table = &pt_tabulars[i];
        pt_str_printf(&sql->line, "DROP TABLE IF EXISTS %s;\nCREATE TABLE %s (", table->name, table->name);
        for (pt_u32 j = 0; j < table->n_columns; j++)
            pt_str_printf(&sql->line, "%s%s %s", j ? ", " : "", table->columns[j].name, types[table->columns[j].type]);
        pt_str_add(&sql->line, ");\n");
    }
    pt_sink_put(sql->sink, pt_str_text(&sql->line), sql->line.n);
}

static bool has_failed(const struct pt_tabular_writer *writer)
{
    const struct sql *sql = writer->context;
    return pt_sink_failed(sql->sink);
}

int pt_export_sqlite(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                     struct pt_export_summary *ret_summary, struct pt_error *err)
{
    struct sql sql = {.sink = sink};
    const struct pt_tabular_writer writer = {.session = session,
                                             .options = options,
                                             .context = &sql,
                                             .has_all = true,
                                             .row = put_row,
                                             .has_failed = has_failed};
    put_head(&sql);
    const int result = pt_tabular_write(&writer, ret_summary, err);
    end_statement(&sql);
    pt_sink_put(sink, "COMMIT;\n", 8);
    pt_str_fini(&sql.line);
    pt_str_fini(&sql.text);
    return result;
}
