/* SPDX-License-Identifier: MIT
 *
 * csv.c - a line for each event, as RFC 4180 has it, for spreadsheets and pandas.
 *
 * A spreadsheet takes a text that begins with = + - @ for a formula and runs it: names are hostile, so such a text gets
 * an apostrophe before it. Numbers stay as they are.
 *
 * Owns: a line. One thread. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "util/str.h"
#include "util/text/sanitize.h"
#include "write.h"

struct csv {
    struct pt_sink *sink;
    struct pt_str line, text;
};

static void put_char(struct pt_str *line, char c)
{
    if (c == '"')
        pt_str_char(line, '"');
    pt_str_char(line, c);
}

static bool begins_formula(char c)
{
    return c && strchr("=+-@", c);
}

/* Control characters, which may begin a formula, too, become visible; what is malformed becomes U+FFFD. No cell begins
 * as a formula does, also where a spreadsheet divides lines at each semicolon, quoted or not (in most of Europe). */
static void put_text(struct csv *csv, const char *text)
{
    pt_str_clear(&csv->text);
    pt_sanitize_terminal(&csv->text, text);
    char before = ';';
    pt_str_char(&csv->line, '"');
    for (const char *at = pt_str_text(&csv->text); *at; before = *at++) {
        if (before == ';' && begins_formula(*at))
            pt_str_char(&csv->line, '\'');
        put_char(&csv->line, *at);
    }
    pt_str_char(&csv->line, '"');
}

/* A semicolon there is within a string of JSON, which has another way to write it. */
static void put_fields(struct csv *csv, const struct pt_event *event)
{
    pt_str_clear(&csv->text);
    pt_tabular_fields_text(event, &csv->text);
    pt_str_char(&csv->line, '"');
    for (const char *at = pt_str_text(&csv->text); *at; at++)
        if (*at == ';' && begins_formula(at[1]))
            pt_str_add(&csv->line, "\\u003b");
        else
            put_char(&csv->line, *at);
    pt_str_char(&csv->line, '"');
}

static void put_value(struct csv *csv, const struct pt_value *value)
{
    switch (value->type) {
    case PT_VALUE_UNKNOWN:
        break;
    case PT_VALUE_INTEGER:
    case PT_VALUE_BOOL:
        pt_str_printf(&csv->line, "%" PRId64, value->integer);
        break;
    case PT_VALUE_REAL:
        pt_str_printf(&csv->line, "%.9g", value->real);
        break;
    case PT_VALUE_TEXT:
        put_text(csv, value->text);
    }
}

static void put_row(const struct pt_tabular_writer *writer, const struct pt_tabular *table,
                    const struct pt_value *values, const struct pt_event *event)
{
    struct csv *csv = writer->context;
    pt_str_clear(&csv->line);
    for (pt_u32 i = 0; i < table->n_columns; i++) {
        if (i)
            pt_str_char(&csv->line, ',');
        if (table->columns[i].type == PT_TABULAR_JSON)
            put_fields(csv, event);
        else
            put_value(csv, &values[i]);
    }
    pt_str_add(&csv->line, "\r\n");
    pt_sink_put(csv->sink, pt_str_text(&csv->line), csv->line.n);
}

static void put_head(struct csv *csv, const struct pt_tabular *table)
{
    for (pt_u32 i = 0; i < table->n_columns; i++)
        pt_str_printf(&csv->line, "%s%s", i ? "," : "", table->columns[i].name);
    pt_str_add(&csv->line, "\r\n");
    pt_sink_put(csv->sink, pt_str_text(&csv->line), csv->line.n);
}

static bool has_failed(const struct pt_tabular_writer *writer)
{
    const struct csv *csv = writer->context;
    return pt_sink_failed(csv->sink);
}

int pt_export_csv(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                  struct pt_export_summary *ret_summary, struct pt_error *err)
{
    struct csv csv = {.sink = sink};
    const struct pt_tabular_writer writer = {
        .session = session, .options = options, .context = &csv, .row = put_row, .has_failed = has_failed};
    put_head(&csv, &pt_tabulars[PT_TABULAR_events]);
    const int result = pt_tabular_write(&writer, ret_summary, err);
    pt_str_fini(&csv.line);
    pt_str_fini(&csv.text);
    return result;
}
