/* SPDX-License-Identifier: MIT
 *
 * t_util.c - names made harmless, numbers made readable, JSON made valid, options read.
 */
#include "helper_trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/arguments/options.h"
#include "util/auto.h"
#include "util/json/json_writer.h"
#include "util/map.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "util/text/sanitize_markdown.h"
#include "util/text/utf8.h"
#include "util/text/width.h"

static void names_are_made_harmless(void **state)
{
    (void)state;
    static const struct {
        void (*clean)(struct pt_str *, const char *);
        const char *from, *to;
    } cases[] = {
        {pt_sanitize_terminal, "a\x1b[31mb\x7f\xff", "a\\x1b[31mb\\x7f\xef\xbf\xbd"},
        {pt_sanitize_terminal,
         "\xe2\x80\xae"
         "exe",
         "\\u{202e}exe"},
        {pt_sanitize_terminal,
         "\xc2\x9b"
         "1m",
         "\\x9b1m"},
        {pt_sanitize_markdown, "a|b`c[d]<e>\n", "a\\|b\\`c\\[d\\]\\<e\\>\\\\x0a"},
        {pt_sanitize_markdown, "- x", "\\- x"},
        {pt_sanitize_markdown, "-5 of 3-4", "-5 of 3-4"},
        {pt_sanitize_markdown, "12. x", "12\\. x"},
        {pt_sanitize_markdown, "1.5 s", "1.5 s"},
        {pt_sanitize_markdown, "    a  b ", "&#32;&#32;&#32;&#32;a  b&#32;"},
        {pt_sanitize_markdown, "&lt;@me #1", "`&lt;@me` `#1`"},
        {pt_sanitize_markdown, "`@me` #|1 @|", "\\`@&#8203;me\\` \\#\\|1 @&#8203;\\|"},
        {pt_sanitize_markdown, "http://www.a", "`http://www.a`"},
        {pt_sanitize_markdown, "12:30:00 :x: gh-1", "12:30:00 `:x:` `gh-1`"},
        {pt_sanitize_markdown, "a.py:141 b:x", "a.py:141 `b:x`"},
        {pt_sanitize_markdown, "1234567 1a23456 1a2345x", "1234567 `1a23456` 1a2345x"},
        {pt_sanitize_markdown, "/data/my file_1.npy", "`/data/my file_1.npy`"},
        {pt_sanitize_markdown, "/data/two  blanks_1", "`/data/two`  blanks\\_1"},
        {pt_sanitize_markdown, "read /data/x.npy", "read `/data/x.npy`"},
        {pt_sanitize_markdown, "n/a 12.5MB/s", "n/a 12.5MB/s"},
        {pt_sanitize_markdown, "f1_score", "`f1_score`"},
        {pt_sanitize_markdown_html, "<b>@me", "&lt;b&gt;@&#8203;me"},
        {pt_sanitize_html, "<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        PT_AUTO(pt_str_fini) struct pt_str out = {0};
        cases[i].clean(&out, cases[i].from);
        assert_string_equal(pt_str_text(&out), cases[i].to);
    }
}

static void cut_texts_end_with_a_whole_character(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kept;
        size_t room;
    } cases[] = {{"ab", "ab", 3},
                 {"a\xc3\xa9", "a\xc3\xa9", 4},
                 {"a\xc3", "a", 3},
                 {"a\xe2\x82", "a", 4},
                 {"\xf0\x9f\x98", "", 4},
                 {"a\xe2\x82\xac", "a\xe2\x82\xac", 5},
                 {"a\xc3", "a\xc3", 9}, /* that is how it was */
                 {"\x80\x80\x80\x80\x80", "\x80\x80\x80\x80\x80", 6},
                 {"", "", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[16];
        strcpy(text, cases[i].text);
        pt_utf8_trim(text, cases[i].room);
        assert_string_equal(text, cases[i].kept);
    }
}

static void long_texts_keep_what_tells_them_apart(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        unsigned width;
        const char *to;
    } cases[] = {
        {"train", 5, "train"},
        {"detector-train", 10, "detecto..."},
        {"/data/coco/images/0001.npy", 20, ".../images/0001.npy"},
        {"/data/coco/images/0001.npy", 12, ".../0001.npy"},
        {"/data/coco/images/0001.npy", 9, "...01.npy"},
        {"/data/coco/images/", 13, ".../images/"},
        {"/bin/sh -c 'cd /tmp; make'", 14, "/bin/sh -c ..."},
        {"/data/coco/images/0001.npy", 2, "..."},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4, "\xc3\xa9..."},
        {"\u4f60\u597d\u4f60\u597d", 8, "\u4f60\u597d\u4f60\u597d"}, /* two cells each */
        {"\u4f60\u597d\u4f60\u597d", 6, "\u4f60..."},
        {"/data/\u4f60\u597d.npy", 10, "...\u597d.npy"},
        {"\u2705 \u274c\u2b50", 7, "\u2705 \u274c\u2b50"}, /* symbols that are drawn as wide as emoji */
        {"\u0e17\u0e35\u0e48", 1, "\u0e17\u0e35\u0e48"},   /* Thai vowels and tones stand above */
        {"\U00031350\U00031350", 3, "..."},                /* Chinese that Unicode 15 brought */
        {"\u0e81\u0ece", 1, "\u0e81\u0ece"},               /* a mark that it brought */
        {"e\u0301e\u0301e\u0301e\u0301", 4, "e\u0301e\u0301e\u0301e\u0301"}, /* accents take none */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        PT_AUTO(pt_str_fini) struct pt_str out = {0};
        pt_text_shorten(&out, cases[i].from, cases[i].width, "...");
        assert_string_equal(pt_str_text(&out), cases[i].to);
    }
}

static void numbers_are_readable(void **state)
{
    (void)state;
    assert_string_equal(pt_fmt_bytes(1023).text, "1023 B");
    assert_string_equal(pt_fmt_bytes(1536).text, "1.50 KiB");
    assert_string_equal(pt_fmt_bytes(~0ull).text, "16.0 EiB");
    assert_string_equal(pt_fmt_duration(999).text, "999 ns");
    assert_string_equal(pt_fmt_duration(1500000).text, "1.50 ms");
    assert_string_equal(pt_fmt_duration(125000000000).text, "2 m 05 s");
    assert_string_equal(pt_fmt_duration(-1500).text, "-1.50 us");
    assert_string_equal(pt_fmt_seconds(-1).text, "-0.000000001");
    assert_string_equal(pt_fmt_count(1234567).text, "1,234,567");
    assert_non_null(pt_fmt_duration(INT64_MIN).text);
}

static int append(void *context, const char *bytes, size_t n)
{
    pt_str_bytes(context, bytes, n);
    return 0;
}

static void json_is_valid(void **state)
{
    (void)state;
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    static struct pt_json json;
    pt_json_init(&json, append, &out, false);
    pt_json_object(&json, NULL);
    pt_json_text(&json, "a\"b", "x\n\x01\xff\xe2\x82\xac");
    pt_json_array(&json, "n");
    pt_json_f64(&json, NULL, NAN);
    pt_json_f64(&json, NULL, 0.1);
    pt_json_i64(&json, NULL, INT64_MIN);
    pt_json_u64(&json, NULL, UINT64_MAX);
    pt_json_fixed(&json, NULL, -1234567, 3);
    pt_json_fixed(&json, NULL, 5, 3);
    pt_json_text(&json, NULL, NULL);
    pt_json_end(&json);
    pt_json_end(&json);
    assert_int_equal(pt_json_close(&json), 0);
    assert_string_equal(out.text,
                        "{\"a\\\"b\":\"x\\n\\u0001\xef\xbf\xbd\xe2\x82\xac\",\"n\":[null,0.1,-9223372036854775808,"
                        "18446744073709551615,-1234.567,0.005,null]}");
}

static void options_are_read(void **state)
{
    (void)state;
    bool json = false, report = true;
    const char *output = NULL;
    pt_u64 top = 0, size = 0;
    pt_i64 from = 0;
    int format = 0;
    const struct pt_opt table[] = {
        PT_OPT_FLAG("json", 'j', &json, ""),
        PT_OPT_FLAG("report", 0, &report, ""),
        PT_OPT_TEXT("output", 'o', &output, "F", ""),
        PT_OPT_COUNT("top", 0, &top, "N", ""),
        PT_OPT_SIZE("max-size", 0, &size, "B", ""),
        PT_OPT_DURATION("from", 0, &from, "T", ""),
        PT_OPT_CHOICE("format", 0, &format, "text|json|md", ""),
        PT_OPT_END,
    };
    const char *argv[] = {"report", "run",  "--no-report", "-jo", "file", "--top=7", "--max-size", "1.5K",
                          "--from", "20ms", "--format",    "md",  "--",   "--json",  NULL};
    struct pt_arguments args = {.max = 2};
    struct pt_error err = {0};
    assert_int_equal(pt_options_parse(table, 14, (char **)(void *)argv, &args, &err), 0);
    assert_true(json && !report && top == 7 && size == 1536 && from == 20000000 && format == 2);
    assert_string_equal(output, "file");
    assert_int_equal(args.n, 2);
    assert_string_equal(args.values[1], "--json");

    const char *wrong[] = {"report", "--fromat", "md", NULL};
    assert_int_equal(pt_options_parse(table, 3, (char **)(void *)wrong, &args, &err), -1);
    assert_int_equal(err.exit_code, 2);
    assert_string_equal(err.text, "unknown option '--fromat'; did you mean '--format'?");

    const char *command[] = {"run", "-j", "ls", "-l", "--", "x", NULL};
    struct pt_arguments all = {.max = -1, .stop_at_first = true};
    assert_int_equal(pt_options_parse(table, 6, (char **)(void *)command, &all, &err), 0);
    assert_int_equal(all.n, 4);
    assert_string_equal(all.values[1], "-l");
    assert_string_equal(all.values[2], "--");
}

static void tables_hold_many(void **state)
{
    (void)state;
    struct pt_map map = {0};
    struct pt_intern intern = {0};
    for (uint64_t i = 0; i < 100000; i++)
        *pt_map_at(&map, i * 0x10001) = i;
    for (uint64_t i = 0; i < 100000; i++)
        assert_int_equal(*pt_map_find(&map, i * 0x10001), i);
    assert_null(pt_map_find(&map, 1));
    assert_null(pt_intern_known(&intern, "name"));
    const char *first = pt_intern_text(&intern, "name");
    for (int i = 0; i < 10000; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        assert_ptr_equal(pt_intern_text(&intern, text), pt_intern_text(&intern, text));
    }
    assert_ptr_equal(pt_intern_text(&intern, "name"), first);
    const size_t n = intern.n;
    assert_ptr_equal(pt_intern_known(&intern, "name"), first);
    assert_null(pt_intern_known(&intern, "nam"));
    assert_int_equal(intern.n, n);
    pt_map_fini(&map);
    pt_intern_fini(&intern);
}

/* Lengths around the end of a block, where padding needs another one. */
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_made_harmless),
        cmocka_unit_test(cut_texts_end_with_a_whole_character),
        cmocka_unit_test(long_texts_keep_what_tells_them_apart),
        cmocka_unit_test(numbers_are_readable),
        cmocka_unit_test(json_is_valid),
        cmocka_unit_test(options_are_read),
        cmocka_unit_test(tables_hold_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
