/* SPDX-License-Identifier: MIT
 *
 * The document and its renderers: hostile names inject nothing, unknown values carry their reason, narrow terminals
 * lose columns from the right, Markdown stays below its limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/build/verdict.h"
#include "report/doc/grid.h"
#include "report/doc/show.h"
#include "report/html/panel.h"
#include "report/html/table.h"
#include "report/json/panel.h"
#include "report/render.h"
#include "report/text/panel.h"
#include "util/text/width.h"

static const char hostile[] = "<script>alert(1)</script>|`x`\033[2J\xe2\x80\xae\xff\r\n# head [a](b)";
static const struct pt_profile empty;

/* A document of one stage without a line in it. */
static struct pt_doc *new_doc(void)
{
    struct pt_doc *doc = pt_doc_new();
    struct pt_doc_stage *stage = pt_arena_alloc(&doc->arena, sizeof *stage);
    *stage = (struct pt_doc_stage){.name = "train"};
    doc->profile = &empty;
    pt_vec_push(&doc->stages, stage);
    return doc;
}

static void add(struct pt_doc *doc, struct pt_panel *panel)
{
    pt_vec_push(&doc->stages.items[0]->panels, panel);
}

struct file_row {
    const char *path;
    pt_u64 bytes, calls;
    struct pt_value p50_s;
};

static struct pt_doc *new_table(const char *name, size_t rows)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct file_row, path, TEXT, "File"),
        PT_COLUMN(struct file_row, bytes, BYTES, "Bytes"),
        PT_COLUMN(struct file_row, calls, COUNT, "Calls"),
        PT_COLUMN(struct file_row, p50_s, SECONDS, "p50"),
    };
    struct pt_doc *doc = new_doc();
    struct pt_table *table;
    add(doc, pt_doc_table(doc, "files", "Files", columns, 4, &table));
    for (size_t i = 0; i < rows; i++)
        pt_table_add(table, &(struct file_row){name, 4096, 1234567, pt_unknown("no events")});
    return doc;
}

static void hostile_names_inject_nothing(void **state)
{
    (void)state;
    struct pt_doc *doc = new_table(hostile, 2);
    const struct pt_render_options wide = {.width = 200, .utf8 = true, .is_full = true},
                                   ascii = {.width = 40, .is_full = true};
    struct pt_str text = {0}, plain = {0}, md = {0}, json = {0};
    pt_render_text(doc, &wide, &text);
    pt_render_text(doc, &ascii, &plain);
    pt_render_md(doc, &wide, &md);
    pt_json_stage_panels(doc, &json);
    assert_null(strchr(text.text, '\033'));
    assert_null(strstr(text.text, "\xe2\x80\xae"));
    assert_null(strchr(text.text, '\r'));
    for (const char *at = plain.text; *at; at++)
        assert_true((unsigned char)*at < 0x80);
    const char *tag = strstr(md.text, "<script");
    assert_true(tag && tag[-1] == '\\');
    assert_null(strstr(md.text, "\n# head"));
    assert_null(strchr(md.text, '\033'));
    /* Four cells make five bars: a bar in a name is escaped. */
    const char *row = strstr(md.text, "script");
    assert_non_null(row);
    int bars = 0;
    for (const char *at = row; *at != '\n'; at++)
        bars += *at == '|' && at[-1] != '\\';
    assert_int_equal(bars, 3); /* p50 is unknown in every row: its column is left out */
    cJSON *parsed = cJSON_Parse(json.text);
    assert_non_null(parsed);
    cJSON_Delete(parsed);
    pt_str_fini(&text);
    pt_str_fini(&plain);
    pt_str_fini(&md);
    pt_str_fini(&json);
    pt_doc_free(doc);
}

static void narrow_tables_lose_columns_from_the_right(void **state)
{
    (void)state;
    struct pt_doc *doc = new_table("/a/rather/long/path/of/a/file/in/some/dataset/000001.png", 3);
    int n_signs = 0;
    for (pt_u32 width = 20; width < 120; width += 7) {
        const struct pt_render_options options = {.width = width, .utf8 = true};
        struct pt_str text = {0};
        const struct pt_text_out t = {&options, &text};
        pt_text_panels(&t, &doc->stages.items[0]->panels, NULL);
        n_signs += strstr(text.text, "  ...\n") != NULL;
        for (char *line = strtok(text.text, "\n"); line; line = strtok(NULL, "\n"))
            assert_true(pt_text_width(line) <= width + 4);
        pt_str_fini(&text);
    }
    assert_true(n_signs > 0 && n_signs < 10); /* not without a sign, nor with one where all fits */
    pt_doc_free(doc);
}

/* A Chinese character takes two cells of a terminal, and a combining accent none. */
static void columns_stand_below_one_another_without_utf8(void **state)
{
    (void)state;
    static const char *const names[] = {"/data/\xe7\x8c\xab\xe7\x8c\xab.png", "/data/cafe\xcc\x81.png", "/data/a.png"};
    static const struct pt_column columns[] = {
        PT_COLUMN(struct file_row, path, TEXT, "File"),
        PT_COLUMN(struct file_row, bytes, BYTES, "Bytes"),
    };
    const struct pt_render_options options = {.width = 80};
    struct pt_doc *doc = new_doc();
    struct pt_table *table;
    struct pt_str text = {0};
    add(doc, pt_doc_table(doc, "files", "Files", columns, 2, &table));
    for (size_t i = 0; i < 3; i++)
        pt_table_add(table, &(struct file_row){.path = names[i], .bytes = 4096});
    pt_text_panels(&(struct pt_text_out){&options, &text}, &doc->stages.items[0]->panels, NULL);
    size_t n_rows = 0, bytes_at = 0;
    for (char *line = strtok(text.text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *bytes = strstr(line, "4.00 KiB");
        if (!bytes)
            continue;
        assert_true(!n_rows || (size_t)(bytes - line) == bytes_at);
        bytes_at = (size_t)(bytes - line);
        n_rows++;
    }
    assert_int_equal(n_rows, 3);
    pt_str_fini(&text);
    pt_doc_free(doc);
}

static void unknown_values_are_null_with_a_reason(void **state)
{
    (void)state;
    struct pt_doc *doc = new_doc();
    struct pt_panel *panel = pt_doc_panel(doc, PT_PANEL_LINES, "use", "Use");
    pt_doc_line(&panel->lines, "cpu_s", "CPU", PT_SHOW_SECONDS, pt_unknown("nobody sampled"));
    pt_doc_line(&panel->lines, "ratio", "Ratio", PT_SHOW_NUMBER, pt_real(0.0 / 0.0));
    add(doc, panel);
    const struct pt_render_options options = {.width = 80, .is_full = true};
    struct pt_str json = {0}, text = {0};
    pt_json_stage_panels(doc, &json);
    pt_render_text(doc, &options, &text);
    cJSON *parsed = cJSON_Parse(json.text);
    const cJSON *stage = cJSON_GetArrayItem(cJSON_GetObjectItem(parsed, "stages"), 0);
    const cJSON *use = cJSON_GetObjectItem(stage, "use");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(use, "cpu_s")));
    assert_string_equal(cJSON_GetObjectItem(use, "cpu_s_reason")->valuestring, "nobody sampled");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(use, "ratio")));
    assert_non_null(strstr(text.text, "nobody sampled"));
    cJSON_Delete(parsed);
    pt_str_fini(&json);
    pt_str_fini(&text);
    pt_doc_free(doc);
}

static void markdown_stays_below_its_limit(void **state)
{
    (void)state;
    static const char *texts[15];
    struct pt_doc *doc = new_doc();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        texts[i] = "a line that says something of some length";
    for (int section = 0; section < 200; section++) {
        struct pt_panel *panel = pt_doc_panel(doc, PT_PANEL_TEXTS, "x", "Section");
        panel->texts = texts;
        panel->n_texts = sizeof texts / sizeof *texts;
        add(doc, panel);
    }
    const struct pt_render_options options = {0};
    struct pt_str md = {0};
    pt_render_md(doc, &options, &md);
    assert_true(md.n < 60 * 1024);
    assert_non_null(strstr(md.text, "left out"));
    assert_non_null(strstr(md.text, "<!-- proftrace:report -->"));
    pt_str_fini(&md);
    pt_doc_free(doc);
}

/* The first ones, whole, and how many there are besides; how far the report can be trusted, too. */
static void markdown_has_the_findings_that_fit(void **state)
{
    (void)state;
    enum { N = 200 };
    char title[400];
    snprintf(title, sizeof title, "%0390d", 0);
    const struct pt_finding of = {.rule = "a", .title = title, .advice = "pack", .gain_upper_s = 3};
    struct pt_doc *doc = new_doc();
    const struct pt_render_options options = {0};
    struct pt_str md = {0};
    for (pt_u32 i = 0; i < N; i++)
        pt_vec_push(&doc->findings, ((struct pt_doc_finding){.of = &of, .number = i + 1}));
    pt_doc_line(&doc->trace_quality, "events", "Events", PT_SHOW_COUNT, pt_integer(12345));
    pt_render_md(doc, &options, &md);
    size_t n = 0;
    for (const char *at = md.text; (at = strstr(at, "confidence")); at++)
        n++;
    char more[40];
    snprintf(more, sizeof more, "\n... and %zu more", N - n);
    assert_in_range(n, 50, N - 1);
    assert_non_null(strstr(md.text, more));
    assert_non_null(strstr(md.text, "Events"));
    assert_non_null(strstr(md.text, "left out"));
    assert_true(md.n < 60 * 1024);
    pt_str_fini(&md);
    pt_doc_free(doc);
}

/* A sentence for each of hundreds of failures would be longer than a page. */
static void the_verdict_names_few_failures(void **state)
{
    (void)state;
    enum { N = 12 };
    static struct pt_doc_stage stages[N];
    struct pt_session session = {0};
    const struct pt_profile profile = {.session = &session};
    struct pt_doc *doc = pt_doc_new();
    doc->duration_s = NAN;
    doc->epochs = NAN;
    for (size_t i = 0; i < N; i++) {
        stages[i] = (struct pt_doc_stage){.name = "fit", .status = i < 4 ? "ok" : "failed"};
        if (i >= 4)
            stages[i].reason = pt_cell(PT_SHOW_TEXT, pt_text("exit 3"));
        pt_vec_push(&doc->stages, &stages[i]);
    }
    pt_build_verdict(&(struct pt_build){.doc = doc, .profile = &profile});
    size_t n = 0;
    for (const char *at = doc->verdict; (at = strstr(at, " fit: failed (exit 3).")); at++)
        n++;
    assert_int_equal(n, 5);
    assert_non_null(strstr(doc->verdict, " And 3 more."));
    for (size_t i = 0; i < N; i++)
        stages[i].was_skipped = i > 0;
    pt_build_verdict(&(struct pt_build){.doc = doc, .profile = &profile});
    assert_string_equal(doc->verdict, "1 stage, 11 skipped.");
    pt_doc_free(doc);
}

static void fill_summary(struct pt_doc *doc, char (*names)[80], int n, int digits)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct file_row, path, TEXT, "Stage"),
        PT_COLUMN(struct file_row, bytes, BYTES, "Bytes"),
    };
    struct pt_table *table;
    doc->summary = pt_doc_table(doc, "stages", "Summary", columns, 2, &table);
    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof *names, "stage%0*d", digits, i);
        pt_table_add(table, &(struct file_row){.path = names[i], .bytes = 4096});
    }
}

/* What comes first stays where one part of it has no room, and of very many stages the summary has the first. */
static void markdown_keeps_the_summary_of_many_stages(void **state)
{
    (void)state;
    enum { N = 2000 };
    static char names[N][80];
    const struct pt_render_options options = {0};
    struct pt_doc *doc = new_doc();
    struct pt_str md = {0};
    fill_summary(doc, names, N, 60);
    doc->verdict = "It failed.";
    pt_doc_line(&doc->grades, "loss", "loss", PT_SHOW_NUMBER, pt_real(0.25));
    pt_render_md(doc, &options, &md);
    assert_non_null(strstr(md.text, "It failed."));
    assert_non_null(strstr(md.text, "\n## Summary\n| Stage"));
    assert_non_null(strstr(md.text, "... and 1,950 more"));
    assert_non_null(strstr(md.text, "loss: 0.25"));
    pt_str_fini(&md);
    pt_doc_free(doc);
}

static void markdown_has_all_stages_that_fit(void **state)
{
    (void)state;
    enum { N = 60 };
    static char names[N][80];
    const struct pt_render_options options = {0};
    struct pt_doc *doc = new_doc();
    struct pt_str md = {0};
    fill_summary(doc, names, N, 3);
    pt_render_md(doc, &options, &md);
    for (int i = 0; i < N; i++)
        assert_non_null(strstr(md.text, names[i]));
    assert_null(strstr(md.text, "more"));
    pt_str_fini(&md);
    pt_doc_free(doc);
}

static void a_long_list_says_how_much_is_left_out(void **state)
{
    (void)state;
    enum { N = PT_HTML_MOST_ROWS + 100 };
    static const char *texts[N];
    struct pt_str page = {0};
    for (size_t i = 0; i < N; i++)
        texts[i] = "a note";
    pt_html_texts(&page, texts, PT_HTML_MOST_ROWS);
    assert_null(strstr(page.text, "more</li>"));
    pt_html_texts(&page, texts, N);
    assert_non_null(strstr(page.text, "<li>… and 100 more</li></ul></details>"));
    pt_str_fini(&page);
}

/* A long name, a narrow terminal and a stage that did not run: its status is cut, and nothing is wider than memory. */
static void a_skipped_stage_fits_into_its_line(void **state)
{
    (void)state;
    struct pt_doc_stage ran = {.name = "extract_features_of_2025", .status = "failed", .reason = {0}},
                        skipped = {.name = "train_on_all_the_features", .status = "skipped", .was_skipped = true};
    struct pt_session session = {0};
    const struct pt_profile profile = {.session = &session};
    for (pt_u32 width = 40; width < 90; width += 10) {
        struct pt_doc *doc = pt_doc_new();
        const struct pt_render_options options = {.width = width};
        struct pt_str text = {0};
        skipped.reason = pt_cell(PT_SHOW_TEXT, pt_text("extract_features_of_2025 failed"));
        doc->profile = &profile;
        doc->verdict = "It failed.";
        pt_vec_push(&doc->stages, &ran);
        pt_vec_push(&doc->stages, &skipped);
        pt_render_text(doc, &options, &text);
        assert_true(text.n < 2000);
        assert_non_null(strstr(text.text, width < 80 ? "skipp" : "skipped: extract"));
        pt_str_fini(&text);
        pt_doc_free(doc);
    }
}

/* Its reason is there where the line has room for it, and never half of its status. */
static void a_failed_stage_says_so_in_its_line(void **state)
{
    (void)state;
    static const char *const names[] = {"fit", "extract_features_of_2025"};
    struct pt_session session = {0};
    const struct pt_profile profile = {.session = &session};
    for (int which = 0; which < 4; which++) {
        struct pt_doc_stage first = {.name = names[which % 2], .status = "ok"},
                            second = {.name = names[which % 2], .status = "failed"};
        const struct pt_render_options options = {.width = which < 2 ? 80 : 100, .is_terminal = true, .utf8 = true};
        struct pt_doc *doc = pt_doc_new();
        struct pt_str text = {0};
        second.reason = pt_cell(PT_SHOW_TEXT, pt_text("signal 9 (SIGKILL)"));
        doc->profile = &profile;
        doc->verdict = "It failed.";
        pt_vec_push(&doc->stages, &first);
        pt_vec_push(&doc->stages, &second);
        pt_render_text(doc, &options, &text);
        assert_non_null(strstr(text.text, names[which % 2]));
        assert_null(strstr(text.text, "faile..."));
        assert_non_null(strstr(text.text, which == 2 ? "failed: signal 9 (SIGKILL)\n" : "failed\n"));
        for (char *line = strtok(text.text, "\n"); line; line = strtok(NULL, "\n"))
            assert_true(pt_text_width(line) <= options.width);
        pt_str_fini(&text);
        pt_doc_free(doc);
    }
}

static void slow_rates_are_shown_as_they_are(void **state)
{
    (void)state;
    static const struct {
        double per_second;
        const char *shown;
    } cases[] = {{0, "0/s"},          {0.4, "0.4/s"},        {1.6, "1.6/s"},         {-0.25, "-0.25/s"},
                 {32, "32/s"},        {12345.6, "12,346/s"}, {0.00005, "0.00005/s"}, {0.0001234, "0.0001234/s"},
                 {12.345, "12.35/s"}, {99.9996, "100/s"},    {123.4, "123/s"},       {9999.7, "10,000/s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pt_cell cell = {.value = pt_real(cases[i].per_second), .show = PT_SHOW_PER_SECOND};
        struct pt_str out = {0};
        pt_show_value(&out, cell, PT_STYLE_TERMINAL);
        assert_string_equal(pt_str_text(&out), cases[i].shown);
        pt_str_fini(&out);
    }
}

static void numbers_have_no_exponent(void **state)
{
    (void)state;
    static const struct {
        struct pt_value value;
        const char *shown;
    } cases[] = {{{.type = PT_VALUE_REAL, .real = 9999.7}, "10000"},
                 {{.type = PT_VALUE_REAL, .real = -9999.7}, "-10000"},
                 {{.type = PT_VALUE_REAL, .real = 1234.56}, "1235"},
                 {{.type = PT_VALUE_REAL, .real = 0.0000123}, "0.0000123"},
                 {{.type = PT_VALUE_REAL, .real = 0}, "0"},
                 {{.type = PT_VALUE_INTEGER, .integer = 4026531840123}, "4026531840123"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_str out = {0};
        pt_show_value(&out, pt_cell(PT_SHOW_NUMBER, cases[i].value), PT_STYLE_TERMINAL);
        assert_string_equal(pt_str_text(&out), cases[i].shown);
        pt_str_fini(&out);
    }
}

/* What is about memory promises no seconds, and is shown; nobody begins with a hundredth of the run. */
static void small_findings_are_counted_not_shown(void **state)
{
    (void)state;
    static const struct pt_finding of[] = {
        {.rule = "a", .title = "Files are slow", .remedy = "pack", .gain_upper_s = 3, .gain_upper_percent = 30},
        {.rule = "b", .title = "Locks are slow", .remedy = "split", .gain_upper_s = 0.1, .gain_upper_percent = 1},
        {.rule = "c", .title = "Memory grows", .remedy = "bound"},
    };
    struct pt_session session = {0};
    const struct pt_profile profile = {.session = &session};
    struct pt_doc *doc = pt_doc_new();
    doc->profile = &profile;
    doc->verdict = "It ran.";
    for (size_t i = 0; i < 3; i++)
        pt_vec_push(&doc->findings, ((struct pt_doc_finding){.of = &of[i], .number = (pt_u32)i + 1}));
    const struct pt_render_options options = {.width = 80};
    struct pt_str text = {0};
    pt_render_text(doc, &options, &text);
    assert_non_null(strstr(text.text, "Files are slow"));
    assert_null(strstr(text.text, "Locks are slow"));
    assert_non_null(strstr(text.text, "Memory grows"));
    assert_non_null(strstr(text.text, "... and 1 more"));
    pt_str_fini(&text);
    pt_doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_names_inject_nothing),
        cmocka_unit_test(narrow_tables_lose_columns_from_the_right),
        cmocka_unit_test(columns_stand_below_one_another_without_utf8),
        cmocka_unit_test(unknown_values_are_null_with_a_reason),
        cmocka_unit_test(markdown_stays_below_its_limit),
        cmocka_unit_test(markdown_has_the_findings_that_fit),
        cmocka_unit_test(the_verdict_names_few_failures),
        cmocka_unit_test(markdown_keeps_the_summary_of_many_stages),
        cmocka_unit_test(markdown_has_all_stages_that_fit),
        cmocka_unit_test(a_long_list_says_how_much_is_left_out),
        cmocka_unit_test(a_skipped_stage_fits_into_its_line),
        cmocka_unit_test(a_failed_stage_says_so_in_its_line),
        cmocka_unit_test(slow_rates_are_shown_as_they_are),
        cmocka_unit_test(numbers_have_no_exponent),
        cmocka_unit_test(small_findings_are_counted_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
