/* SPDX-License-Identifier: MIT
 *
 * Owns: a check as test cases for CI systems: one for each figure of each stage, in the form of Ant's JUnit task.
 * Threads: any. Never: writes a character that XML has not.
 */
#include "junit.h"

#include <string.h>

#include "util/text/sanitize.h"
#include "check_doc.h"

struct suites {
    struct pt_str text;
    pt_u32 tests, failures, skipped;
};

static const char *text_of(const struct pt_table *table, size_t row, const char *key)
{
    const struct pt_value value = pt_table_cell(table, row, key);
    return value.type == PT_VALUE_TEXT && value.text ? value.text : "";
}

static void put_case(struct suites *suites, const char *stage, const char *name)
{
    suites->tests++;
    pt_str_add(&suites->text, "  <testcase classname=\"proftrace.check.");
    pt_sanitize_html(&suites->text, stage);
    pt_str_add(&suites->text, "\" name=\"");
    pt_sanitize_html(&suites->text, name);
    pt_str_add(&suites->text, "\" time=\"0\">");
}

static void put_skipped(struct suites *suites, const char *reason)
{
    suites->skipped++;
    pt_str_add(&suites->text, "<skipped message=\"");
    pt_sanitize_html(&suites->text, reason);
    pt_str_add(&suites->text, "\"/>");
}

static void put_row(struct suites *suites, const char *stage, const struct pt_table *table, size_t row)
{
    const char *verdict = text_of(table, row, "verdict"), *how = text_of(table, row, "how");
    put_case(suites, stage, text_of(table, row, "figure"));
    if (!strcmp(verdict, pt_figure_state_word(PT_FIGURE_WORSE))) {
        suites->failures++;
        pt_str_add(&suites->text, "<failure type=\"regression\" message=\"");
        pt_sanitize_html(&suites->text, text_of(table, row, "before"));
        pt_str_add(&suites->text, " -&gt; ");
        pt_sanitize_html(&suites->text, text_of(table, row, "now"));
        pt_str_add(&suites->text, " (");
        pt_sanitize_html(&suites->text, how);
        pt_str_add(&suites->text, ")\"/>");
    } else if (!strcmp(verdict, pt_figure_state_word(PT_FIGURE_NOT_JUDGED))) {
        put_skipped(suites, how);
    }
    pt_str_add(&suites->text, "</testcase>\n");
}

static void put_panel(struct suites *suites, const char *stage, const struct pt_panel *panel)
{
    if (panel->kind == PT_PANEL_TABLE)
        for (size_t row = 0; row < panel->table->n_rows; row++)
            put_row(suites, stage, panel->table, row);
    if (panel->kind == PT_PANEL_TEXTS && !strcmp(panel->key, "undecided")) {
        put_case(suites, stage, "(the stage)");
        put_skipped(suites, panel->texts[0]);
        pt_str_add(&suites->text, "</testcase>\n");
    }
}

void pt_check_junit(const struct pt_doc *doc, struct pt_str *out)
{
    struct suites suites = {0};
    for (size_t i = 0; i < doc->stages.n; i++)
        for (size_t j = 0; j < doc->stages.items[i]->panels.n; j++)
            put_panel(&suites, doc->stages.items[i]->name, doc->stages.items[i]->panels.items[j]);
    if (!doc->stages.n) {
        put_case(&suites, "run", "(the run)");
        put_skipped(&suites, doc->verdict);
        pt_str_add(&suites.text, "</testcase>\n");
    }
    pt_str_printf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite id=\"0\" package=\"proftrace\" "
                  "name=\"proftrace check\" timestamp=\"1970-01-01T00:00:00\" hostname=\"localhost\" tests=\"%u\" "
                  "failures=\"%u\" errors=\"0\" skipped=\"%u\" time=\"0\">\n  <properties/>\n",
                  suites.tests, suites.failures, suites.skipped);
    pt_str_add(out, pt_str_text(&suites.text));
    pt_str_add(out, "  <system-out>");
    pt_sanitize_html(out, doc->verdict);
    pt_str_add(out, "</system-out>\n  <system-err/>\n</testsuite>\n</testsuites>\n");
    pt_str_fini(&suites.text);
}
