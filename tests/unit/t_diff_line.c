/* SPDX-License-Identifier: MIT
 *
 * t_diff_line.c - the first line of `diff` of two reports of which all is known: a command that is new or slower, code
 * without names, counts of processes, and counts beside a time that is noise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>

#include "diff/diff.h"
#include "util/auto.h"
#include "util/str.h"

static double overwritten; /* in B */

/* Of two documents with one stage each. */
static void assert_line(const char *stage_a, const char *stage_b, const char *wanted)
{
    const char *const stages[] = {stage_a, stage_b};
    cJSON *documents[2];
    for (int i = 0; i < 2; i++) {
        PT_AUTO(pt_str_fini) struct pt_str text = {0};
        pt_str_printf(&text,
                      "{\"trace_quality\": {\"overwritten\": %.0f, \"dropped\": 0}, "
                      "\"stages\": [{\"stage\": \"s\", \"status\": \"ok\", %s}]}",
                      i ? overwritten : 0, stages[i]);
        documents[i] = cJSON_Parse(pt_str_text(&text));
        assert_non_null(documents[i]);
    }
    const struct pt_diff_run a = {"A", NULL, documents[0]}, b = {"B", NULL, documents[1]};
    struct pt_error err = {0};
    struct pt_doc *doc = pt_diff_build(&a, &b, &err);
    assert_non_null(doc);
    assert_string_equal(doc->verdict, wanted);
    pt_doc_free(doc);
    for (int i = 0; i < 2; i++)
        cJSON_Delete(documents[i]);
}

#define PLACE(place, function, reason, total_s)                                                                        \
    "{\"place\": \"" place "\", \"function\": \"" function "\", \"file\": \"p.py\", \"reason\": \"" reason             \
    "\", \"total_s\": " total_s "}"
#define COMMAND(command, waits, total_s)                                                                               \
    "{\"command\": \"" command "\", \"waits\": " waits ", \"total_s\": " total_s "}"
#define NATIVE(function, module, self_s)                                                                               \
    "{\"function\": \"" function "\", \"module\": " module ", \"self_s\": " self_s ", \"samples\": 1}"
#define PYTHON(function, self_s)                                                                                       \
    "\"python\": {\"functions\": [{\"function\": \"" function                                                          \
    "\", \"file\": \"p.py\", \"line\": 9, \"self_s\": " self_s "}]}"

/* What a child computes is computing of the stage: its command is told, with the line that waits for it. */
static void test_a_slower_command(void **state)
{
    (void)state;
    assert_line(
        "\"duration_s\": 1, \"time\": {\"native_s\": 0.5, \"python_s\": 0.5}, " PYTHON(
            "other", "0.01") ", "
                             "\"cpu_functions\": [" NATIVE(
                                 "code", "\"/lib/z.so\"",
                                 "0.4") "], "
                                        "\"commands\": [" COMMAND("/bin/xz", "3", "0.5") "], "
                                                                                         "\"python_places\": [" PLACE(
                                                                                             "p.py:4 pack", "pack",
                                                                                             "Child wait", "0.5") "]",
        "\"duration_s\": 3, \"time\": {\"native_s\": 2.5, \"python_s\": 0.5}, " PYTHON(
            "other", "0.05") ", "
                             "\"cpu_functions\": [" NATIVE(
                                 "code", "\"/lib/z.so\"",
                                 "2.2") "], "
                                        "\"commands\": [" COMMAND("/bin/xz", "3", "2.5") "], "
                                                                                         "\"python_places\": [" PLACE(
                                                                                             "p.py:6 pack", "pack",
                                                                                             "Child wait", "2.5") "]",
        "s +2.00 s (1.00 s -> 3.00 s): +2.00 s Native in code, which computes for 2.20 s instead of 400 ms; "
        "/bin/xz in p.py:6 pack: it takes 5 x as long");
}

/* The function of Python that the code is called from says more, where most of it is in that one. */
static void test_native_code_below_python(void **state)
{
    (void)state;
    assert_line("\"duration_s\": 1, \"time\": {\"native_s\": 0.5}, " PYTHON(
                    "pack", "0.4") ", "
                                   "\"cpu_functions\": [" NATIVE("deflate", "\"/lib/z.so\"", "0.4") "]",
                "\"duration_s\": 3, \"time\": {\"native_s\": 2.5}, " PYTHON(
                    "pack", "2.3") ", "
                                   "\"cpu_functions\": [" NATIVE("deflate", "\"/lib/z.so\"", "2.2") "]",
                "s +2.00 s (1.00 s -> 3.00 s): +2.00 s Native in pack (p.py:9), which computes for 2.30 s instead of "
                "400 ms");
}

#define COMPUTING(wall_s, computing_s, parts)                                                                          \
    "\"duration_s\": " wall_s ", \"time\": {\"computing_s\": " computing_s ", " parts "}"
#define NOT_SPLIT "\"python_s\": null, \"native_s\": null"

/* Without samples nobody knows what of the computing was Python: then the sum is all that there is. */
static void test_computing_that_is_not_split(void **state)
{
    (void)state;
    assert_line(COMPUTING("1", "0.9", NOT_SPLIT), COMPUTING("6", "5.9", NOT_SPLIT),
                "s +5.00 s (1.00 s -> 6.00 s): +5.00 s Computing");
    assert_line(COMPUTING("1", "0.9", "\"python_s\": 0.5, \"native_s\": 0.4"), COMPUTING("6", "5.9", NOT_SPLIT),
                "s +5.00 s (1.00 s -> 6.00 s): +5.00 s Computing");
    assert_line(COMPUTING("1", "0.9", "\"python_s\": 0.5, \"native_s\": 0.4"),
                COMPUTING("6", "5.9", "\"python_s\": 5.5, \"native_s\": 0.4"),
                "s +5.00 s (1.00 s -> 6.00 s): +5.00 s Python");
    /* A command that is waited for is told with it. */
    assert_line(COMPUTING("1", "0.9", NOT_SPLIT) ", \"commands\": [" COMMAND("/bin/xz", "3", "0.5") "]",
                COMPUTING("6", "5.9", NOT_SPLIT) ", \"commands\": [" COMMAND("/bin/xz", "3", "5.5") "]",
                "s +5.00 s (1.00 s -> 6.00 s): +5.00 s Computing; /bin/xz: it takes 11 x as long");
}

/* Code of a file without names is known to be that file's; what was not sampled is nobody's. */
static void test_a_new_command_without_names(void **state)
{
    (void)state;
    assert_line("\"duration_s\": 1, \"time\": {\"native_s\": 0.5}, "
                "\"cpu_functions\": [" NATIVE("[not sampled]", "null",
                                              "0.1") "], "
                                                     "\"commands\": [" COMMAND("/bin/sort", "10", "0.9") "]",
                "\"duration_s\": 2, \"time\": {\"native_s\": 1.5}, "
                "\"cpu_functions\": [" NATIVE("[not sampled]", "null", "0.9") ", " NATIVE(
                    "[gzip]", "\"/bin/gzip\"",
                    "0.6") "], "
                           "\"commands\": [" COMMAND("/bin/sort", "10", "0.9") ", " COMMAND("/bin/gzip", "10", "1") "]",
                "s +1.00 s (1.00 s -> 2.00 s): +1.00 s Native in [gzip], which computes for 600 ms instead of 0 ns; "
                "/bin/gzip: the runs (0 -> 10)");
}

/* Each process that a program starts counts, however short it is; what starts it is told once. */
static void test_counts_of_processes(void **state)
{
    (void)state;
    const char *usual = "\"duration_s\": 1, \"commands\": [" COMMAND(
        "/bin/tar", "6", "0.5") "], "
                                "\"calls\": [{\"call\": \"proc_exec\", \"calls\": 6}], "
                                "\"python_places\": [" PLACE("p.py:5 run", "run", "Child wait", "0.5") "]";
    assert_line(usual,
                "\"duration_s\": 1.01, \"commands\": [" COMMAND("/bin/tar", "6", "0.51") ", " COMMAND(
                    "/bin/git", "6", "0.01") "], \"calls\": [{\"call\": \"proc_exec\", \"calls\": 90}], "
                                             "\"python_places\": [" PLACE("p.py:5 run", "run", "Child wait",
                                                                          "0.5") ", " PLACE("p.py:7 run", "run",
                                                                                            "Child wait", "0.0102") "]",
                "s: no difference of more than 5 % and 50 ms (1.00 s -> 1.01 s), but /bin/git in p.py:7 run: the runs "
                "(0 -> 6)");
    /* Of waits below a millisecond not each is seen with its line: the only line that is new waits for what is new. */
    assert_line(usual,
                "\"duration_s\": 1, \"commands\": [" COMMAND("/bin/tar", "6", "0.5") ", " COMMAND(
                    "/bin/git", "6", "0.01") "], "
                                             "\"python_places\": [" PLACE("p.py:5 run", "run", "Child wait",
                                                                          "0.5") ", " PLACE("p.py:7 ask", "ask",
                                                                                            "Child wait", "0.004") "]",
                "s: no difference of more than 5 % and 50 ms (1.00 s -> 1.00 s), but /bin/git in p.py:7 ask: the runs "
                "(0 -> 6)");
    assert_line("\"duration_s\": 1, \"calls\": [{\"call\": \"proc_fork\", \"calls\": 4}]",
                "\"duration_s\": 1, \"calls\": [{\"call\": \"proc_fork\", \"calls\": 6}]",
                "s: no difference of more than 5 % and 50 ms (1.00 s -> 1.00 s), but proc_fork: 1.5 x the calls "
                "(4 -> 6)");
    /* Threads come and go with the work. */
    assert_line("\"duration_s\": 1, \"calls\": [{\"call\": \"thread_create\", \"calls\": 4}]",
                "\"duration_s\": 1, \"calls\": [{\"call\": \"thread_create\", \"calls\": 6}]",
                "s: no difference of more than 5 % and 50 ms (1.00 s -> 1.00 s)");
    /* Rows of commands are made of events, and some of these are lost. */
    overwritten = 9;
    assert_line("\"duration_s\": 1, \"commands\": [" COMMAND("/bin/git", "6", "0.01") "]",
                "\"duration_s\": 1, \"commands\": [" COMMAND("/bin/git", "2", "0.01") "]",
                "s: no difference of more than 5 % and 50 ms (1.00 s -> 1.00 s)");
    overwritten = 0;
    /* What is no longer run. */
    assert_line("\"duration_s\": 1, \"commands\": [" COMMAND("/bin/git", "6", "0.01") "]", "\"duration_s\": 1",
                "s: no difference of more than 5 % and 50 ms (1.00 s -> 1.00 s), but /bin/git: the runs (6 -> 0)");
}

/* A report has room for the commands that took longest: one that is not there may have been run, too. */
static void test_a_command_that_the_other_report_has_no_room_for(void **state)
{
    (void)state;
    PT_AUTO(pt_str_fini) struct pt_str full = {0}, fuller = {0};
    pt_str_add(&full, "\"duration_s\": 1, \"commands\": [");
    pt_str_add(&fuller, "\"duration_s\": 1, \"commands\": [" COMMAND("/bin/new", "9", "0.9"));
    for (int i = 0; i < 20; i++)
        pt_str_printf(&full, "%s{\"command\": \"/bin/%d\", \"waits\": 1, \"total_s\": 0.5}", i ? ", " : "", i);
    for (int i = 0; i < 19; i++)
        pt_str_printf(&fuller, ", {\"command\": \"/bin/%d\", \"waits\": 1, \"total_s\": 0.5}", i);
    pt_str_add(&full, "]");
    pt_str_add(&fuller, "]");
    assert_line(pt_str_text(&full), pt_str_text(&fuller),
                "s: no difference of more than 5 % and 50 ms (1.00 s -> 1.00 s)");
}

#define READS(first, second, rows)                                                                                     \
    "\"calls\": [{\"call\": \"read\", \"calls\": " first ", \"bytes\": 1000000, \"total_s\": 0.01}], "                 \
    "\"file_groups\": [{\"path_group\": \"/d/*.bin\", \"reads\": " first "}], \"files\": ["                            \
    "{\"path\": \"/d/1.bin\", \"reads\": " second ", \"python_place\": \"p.py:2 <module>\"}, "                         \
    "{\"path\": \"/d/2.bin\", \"reads\": " second ", \"python_place\": \"p.py:5 label\"}, "                            \
    "{\"path\": \"/d/3.bin\", \"reads\": " second ", \"python_place\": \"p.py:6 label\"}], \"python_places\": [" rows  \
    "]"
#define READS_A                                                                                                        \
    READS("1600", "8",                                                                                                 \
          PLACE("p.py:5 label", "label", "File metadata", "0.01") ", " PLACE("p.py:6 label", "label", "File read",     \
                                                                             "0.003"))
#define READS_B                                                                                                        \
    READS("3200", "16",                                                                                                \
          PLACE("p.py:2 <module>", "<module>", "File read",                                                            \
                "0.009") ", " PLACE("p.py:6 label", "label", "File read", "0.003") ", " PLACE("p.py:7 label", "label", \
                                                                                              "File read", "0.002"))
#define READ_MORE "read: 2 x the calls (1,600 -> 3,200) of /d/*.bin in p.py:7 label"

/* Reads of many files have the name of all and the line that makes them, and go before a time that may be noise. */
static void test_counts_before_noise(void **state)
{
    (void)state;
    assert_line("\"duration_s\": 1, " READS_A, "\"duration_s\": 1.01, " READS_B,
                "s: no difference of more than 5 % and 50 ms (1.00 s -> 1.01 s), but " READ_MORE);
    /* A little more. */
    assert_line("\"duration_s\": 1, \"time\": {\"python_s\": 0.5}, " PYTHON("f", "0.5") ", " READS_A,
                "\"duration_s\": 1.09, \"time\": {\"python_s\": 0.59}, " PYTHON("f", "0.59") ", " READS_B,
                "s: " READ_MORE "; beside that +90.0 ms (1.00 s -> 1.09 s): +90.0 ms Python in f (p.py:9), which "
                "computes for 590 ms instead of 500 ms");
    /* Less time with more reads. */
    assert_line("\"duration_s\": 1, \"time\": {\"python_s\": 0.9}, " PYTHON("f", "0.9") ", " READS_A,
                "\"duration_s\": 0.7, \"time\": {\"python_s\": 0.6}, " PYTHON("f", "0.6") ", " READS_B,
                "s: " READ_MORE "; beside that -300 ms (1.00 s -> 700 ms): -300 ms Python in f (p.py:9), which "
                "computes for 600 ms instead of 900 ms");
    /* A time that no noise makes leads. */
    assert_line("\"duration_s\": 1, \"time\": {\"python_s\": 0.9}, " PYTHON("f", "0.9") ", " READS_A,
                "\"duration_s\": 2, \"time\": {\"python_s\": 1.9}, " PYTHON("f", "1.9") ", " READS_B,
                "s +1.00 s (1.00 s -> 2.00 s): +1.00 s Python in f (p.py:9), which computes for 1.90 s instead of 900 "
                "ms; beside that " READ_MORE);
}

/* CPU time beside the wall is of the code that has it, not of any Python that has a little more, and comes after what
 * is exact. */
static void test_cpu_time_beside_the_wall(void **state)
{
    (void)state;
    assert_line("\"duration_s\": 5, \"cpu_s\": 1, " PYTHON("other", "0.1") ", "
                                                                           "\"cpu_functions\": [" NATIVE(
                                                                               "code", "\"/lib/z.so\"", "0.5") "]",
                "\"duration_s\": 5, \"cpu_s\": 2, " PYTHON("other", "0.32") ", "
                                                                            "\"cpu_functions\": [" NATIVE(
                                                                                "code", "\"/lib/z.so\"", "1.3") "]",
                "s: no difference of more than 5 % and 50 ms (5.00 s -> 5.00 s), but +1.00 s CPU in code, which "
                "computes for 1.30 s instead of 500 ms");
    assert_line("\"duration_s\": 5, \"cpu_s\": 1, " READS_A, "\"duration_s\": 5, \"cpu_s\": 1.2, " READS_B,
                "s: no difference of more than 5 % and 50 ms (5.00 s -> 5.00 s), but " READ_MORE ", and +200 ms CPU");
}

/* What workers do is told in the direction in which the wait for them went. */
static void test_workers_that_take_less_time(void **state)
{
#define WORKERS(seconds, calls)                                                                                        \
    "\"duration_s\": " seconds ", \"time\": {\"workers_s\": " seconds "}, \"python_places\": [" PLACE(                 \
        "p.py:9", "load", "Sleep", seconds) "], \"calls\": [{\"call\": \"wait_sleep\", \"total_s\": " seconds          \
                                            ", \"calls\": " calls "}]"
    (void)state;
    assert_line(WORKERS("2", "180"), WORKERS("1", "90"),
                "s -1.00 s (2.00 s -> 1.00 s): -1.00 s Own workers: it waits for workers, whose load (p.py) takes less "
                "time; wait_sleep: 0.5 x the calls (180 -> 90)");
    assert_line(WORKERS("1", "90"), WORKERS("2", "180"),
                "s +1.00 s (1.00 s -> 2.00 s): +1.00 s Own workers: it waits for workers, whose load (p.py) takes "
                "longer; wait_sleep: 2 x the calls (90 -> 180)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slower_command),
        cmocka_unit_test(test_native_code_below_python),
        cmocka_unit_test(test_computing_that_is_not_split),
        cmocka_unit_test(test_a_new_command_without_names),
        cmocka_unit_test(test_counts_of_processes),
        cmocka_unit_test(test_a_command_that_the_other_report_has_no_room_for),
        cmocka_unit_test(test_counts_before_noise),
        cmocka_unit_test(test_cpu_time_beside_the_wall),
        cmocka_unit_test(test_workers_that_take_less_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
