/* SPDX-License-Identifier: MIT
 *
 * t_pipeline_config.c - a pipeline's configuration: what holds when it says little, who wins when several say
 * something, and one clear line for each way in which it can be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper_files.h"
#include "pipeline/config_read.h"
#include "util/auto.h"
#include "util/nearest.h"

#define STAGES(rows) "{\"profile\": {\"stages\": [" rows "]}}"

static struct pt_config *read_config(const char *text, const struct pt_config_overrides *overrides)
{
    struct pt_config *config = NULL;
    struct pt_error err = {0};
    write_text("config.json", text);
    if (pt_config_read("config.json", overrides, &config, &err) < 0)
        fail_msg("%s", err.text);
    return config;
}

static void check_refused(const char *path, const struct pt_config_overrides *overrides, const char *message)
{
    struct pt_config *config = NULL;
    struct pt_error err = {0};
    assert_int_equal(pt_config_read(path, overrides, &config, &err), -1);
    assert_string_equal(err.text, message);
    assert_int_equal(err.exit_code, 2);
    assert_null(strchr(err.text, '\n'));
    assert_null(config);
}

static void an_empty_object_is_the_document(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"fetch-dataset", "dataset-fetcher"},
        {"fetch-dinov3", "dinov3-fetcher"},
        {"label-targets", NULL},
        {"generate-dataset", "dataset-generator"},
        {"check-dataset", "augment-checker"},
        {"train", "detector-train"},
        {"infer", "detector-infer"},
        {"eval", "detector-grader"},
        {"review", NULL},
    };
    PT_AUTO(pt_config_freep) struct pt_config *config = read_config("\xef\xbb\xbf{}\n", NULL);
    assert_string_equal(config->dataset, "coco128");
    assert_int_equal(config->train_epochs, 50);
    assert_true(config->gpu_sampling);
    assert_int_equal(config->interval_ns, 500000000);
    assert_string_equal(config->heap, "sampled");
    assert_true(config->thresholds.cpu_percent == 90 && config->thresholds.memory_percent == 85 &&
                config->thresholds.disk_percent == 80 && config->thresholds.sustained_s == 10);
    assert_true(isnan(config->carbon_intensity_g_per_kwh) && isnan(config->thresholds.memory_growth_mb));
    assert_true(!config->report_dir && !config->quality.file && !config->quality.keys && !config->warnings.n);
    assert_int_equal(config->stages.n, 9);
    for (size_t i = 0; i < 9; i++) {
        const struct pt_config_stage *stage = &config->stages.items[i];
        assert_string_equal(stage->name, table[i][0]);
        assert_true(isnan(stage->timeout_s));
        if (!table[i][1]) {
            assert_string_equal(stage->skip, "requires GUI");
            assert_null(stage->command);
            continue;
        }
        assert_null(stage->skip);
        assert_string_equal(stage->command[0], table[i][1]);
        assert_string_equal(stage->command[1], "--config");
        assert_string_equal(stage->command[2], "{config}");
        assert_null(stage->command[3]);
    }
}

static void every_key_is_read(void **state)
{
    (void)state;
    PT_AUTO(pt_config_freep)
    struct pt_config *config =
        read_config("{\"profile\": {\"dataset\": \"coco32\", \"train_epochs\": 1e1, \"enable_gpu_sampling\": false,"
                    " \"interval_ms\": 12.5, \"heap\": \"full\", \"report_dir\": \"profiles\","
                    " \"carbon_intensity_g_per_kwh\": 350.5,"
                    " \"quality\": {\"file\": \"/grade.json\", \"keys\": [\"f1\"], \"min\": {\"f1\": 0.5}},"
                    " \"thresholds\": {\"cpu_percent\": 50, \"sustained_s\": 2, \"memory_growth_mb\": 100},"
                    " \"stages\": [{\"stage\": \"a b\", \"cmd\": [\"x\", \"\", \"{epochs}\"], \"timeout_s\": 1.5,"
                    "   \"env\": {\"A\": \"1=2\", \"B\": \"\"}, \"cwd\": \"/sub\", \"skip\": null},"
                    "  {\"stage\": \"b\", \"skip\": \"not today\"}]},"
                    " \"mine\": {\"dataste\": [1, {\"profile\": 2}]}}",
                    NULL);
    char expected[4200];
    char *cwd = getcwd(NULL, 0);
    snprintf(expected, sizeof expected, "%s/profiles", cwd);
    assert_string_equal(config->report_dir, expected);
    snprintf(expected, sizeof expected, "%s/config.json", cwd);
    assert_string_equal(config->absolute, expected);
    free(cwd);
    assert_string_equal(config->dataset, "coco32");
    assert_true(config->train_epochs == 10 && !config->gpu_sampling && config->interval_ns == 12500000);
    assert_string_equal(config->heap, "full");
    assert_true(config->carbon_intensity_g_per_kwh == 350.5 && config->thresholds.memory_growth_mb == 100);
    assert_string_equal(config->quality.file, "/grade.json");
    assert_string_equal(config->quality.keys[0], "f1");
    assert_null(config->quality.keys[1]);
    assert_true(config->quality.min.n == 1 && config->quality.min.items[0].value == 0.5);
    assert_true(config->thresholds.cpu_percent == 50 && config->thresholds.memory_percent == 85);
    const struct pt_config_stage *stage = config->stages.items;
    assert_int_equal(config->stages.n, 2);
    assert_true(stage->timeout_s == 1.5 && !stage->skip && stage->env.n == 2);
    assert_string_equal(stage->command[2], "{epochs}");
    assert_string_equal(stage->env.items[0].value, "1=2");
    assert_string_equal(stage->cwd, "/sub");
    assert_string_equal(stage[1].skip, "not today");
    assert_null(stage[1].command);
    assert_int_equal(config->warnings.n, 0);
}

/* As Hydra and pydantic write what is not set. */
static void null_is_as_good_as_nothing(void **state)
{
    (void)state;
    PT_AUTO(pt_config_freep)
    struct pt_config *config =
        read_config("{\"profile\": null, \"paths\": null, \"run\": null, \"train\": null}", NULL);
    assert_true(config->train_epochs == 50 && config->stages.n == 9 && config->warnings.n == 0);
    PT_AUTO(pt_config_freep)
    struct pt_config *members = read_config(
        "{\"profile\": {\"quality\": {\"min\": {\"f1\": null, \"f2\": 1}}, \"thresholds\": null, \"stages\": ["
        "{\"stage\": \"a\", \"cmd\": [\"x\"], \"env\": {\"A\": null, \"B\": \"1\"}, \"cwd\": null}]}}",
        NULL);
    assert_true(members->quality.min.n == 1 && members->stages.items[0].env.n == 1 && members->warnings.n == 0);
    assert_string_equal(members->quality.min.items[0].name, "f2");
    assert_string_equal(members->stages.items[0].env.items[0].name, "B");
}

static void options_win_over_variables_over_keys(void **state)
{
    (void)state;
    const char *text = "{\"profile\": {\"interval_ms\": 100, \"heap\": \"off\", \"dataset\": \"mine\"}}";
    struct pt_config *config = read_config(text, NULL);
    assert_int_equal(config->interval_ns, 100000000);
    assert_string_equal(config->heap, "off");
    pt_config_free(config);

    setenv("PROFTRACE_INTERVAL_MS", "200", 1);
    setenv("PROFTRACE_HEAP", "full", 1);
    config = read_config(text, NULL);
    assert_int_equal(config->interval_ns, 200000000);
    assert_string_equal(config->heap, "full");
    pt_config_free(config);

    const struct pt_config_overrides options = {.dataset = "coco32",
                                                .train_epochs = "10",
                                                .interval = "2s",
                                                .heap = "sampled",
                                                .report_dir = "/out",
                                                .no_gpu_sampling = true};
    setenv("PROFTRACE_HEAP", "nonsense that an option overrides", 1);
    config = read_config(text, &options);
    assert_true(config->interval_ns == 2000000000 && config->train_epochs == 10 && !config->gpu_sampling);
    assert_string_equal(config->heap, "sampled");
    assert_string_equal(config->dataset, "coco32");
    assert_string_equal(config->report_dir, "/out");
    pt_config_free(config);

    check_refused("config.json", NULL,
                  "PROFTRACE_HEAP: expected \"off\", \"sampled\" or \"full\", found the string \"nonsense that an "
                  "option overrides\"");
    unsetenv("PROFTRACE_HEAP");
    unsetenv("PROFTRACE_INTERVAL_MS");
}

/* What a person sees who mistyped: the JSON path, what was expected, what is there. */
static void wrong_values_are_named(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"[1]", "the document: expected an object ({...}), found a list"},
        {"{\"profile\": []}", "profile: expected an object, found a list"},
        {"{\"profile\": {\"dataset\": 5}}", "profile.dataset: expected a string that is not empty, found the number 5"},
        {"{\"profile\": {\"dataset\": \"\"}}",
         "profile.dataset: expected a string that is not empty, found the string \"\""},
        {"{\"profile\": {\"train_epochs\": 0}}",
         "profile.train_epochs: expected a whole number from 1 to 1000000000, found the number 0"},
        {"{\"profile\": {\"train_epochs\": 1.5}}",
         "profile.train_epochs: expected a whole number from 1 to 1000000000, found the number 1.5"},
        {"{\"profile\": {\"interval_ms\": 9}}",
         "profile.interval_ms: expected a number from 10 to 86400000, found the number 9"},
        {"{\"profile\": {\"interval_ms\": 1e999}}",
         "profile.interval_ms: expected a number from 10 to 86400000, found the number inf"},
        {"{\"profile\": {\"enable_gpu_sampling\": \"yes\"}}",
         "profile.enable_gpu_sampling: expected true or false, found the string \"yes\""},
        {"{\"profile\": {\"heap\": true}}", "profile.heap: expected \"off\", \"sampled\" or \"full\", found true"},
        {"{\"profile\": {\"quality\": {\"min\": {\"f1\": \"high\"}}}}",
         "profile.quality.min.f1: expected a number, found the string \"high\""},
        {"{\"profile\": {\"quality\": {\"keys\": [\"a\", {}]}}}",
         "profile.quality.keys[1]: expected a string, found an object"},
        {"{\"profile\": {\"quality\": {\"keys\": [\"\"]}}}",
         "profile.quality.keys[0] is empty; name a key of the grade report"},
        {"{\"profile\": {\"thresholds\": 90}}", "profile.thresholds: expected an object, found the number 90"},
        {"{\"profile\": {\"thresholds\": {\"disk_percent\": 101}}}",
         "profile.thresholds.disk_percent: expected a number from 0 to 100, found the number 101"},
        {"{\"profile\": {\"heap\": \"off\", \"heap\": \"full\"}}", "profile.heap is given twice; remove one"},
        {"{\"profile\": {}, \"profile\": {}}", "profile is given twice; remove one"},
        {"{\"train\": {}, \"train\": null}", "train is given twice; remove one"},
        {"{\"train\": \"fast\"}", "train: expected an object, found the string \"fast\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[400];
        snprintf(message, sizeof message, "config.json: %s", rows[i][1]);
        write_text("config.json", rows[i][0]);
        check_refused("config.json", NULL, message);
    }
}

static void wrong_stages_are_named(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"{\"profile\": {\"stages\": {}}}", "profile.stages: expected a list of stages, found an object"},
        {STAGES(""), "profile.stages is empty; add a stage, or leave it out for the default stages"},
        {STAGES("7"), "profile.stages[0]: expected a stage (an object), found the number 7"},
        {STAGES("{\"cmd\": [\"x\"]}"), "profile.stages[0].stage is missing; give the stage a name"},
        {STAGES("{\"stage\": \"a\"}"),
         "profile.stages[0]: 'a' has neither cmd nor skip; add \"cmd\": [\"...\"] or \"skip\": \"why\""},
        {STAGES("{\"stage\": \"a\", \"cmd\": [\"x\"], \"skip\": \"no\"}"),
         "profile.stages[0]: 'a' has both cmd and skip; remove one (--skip leaves a stage out once)"},
        {STAGES("{\"stage\": \"a\", \"cmd\": []}"),
         "profile.stages[0].cmd is empty; its first string names the program to run"},
        {STAGES("{\"stage\": \"a\", \"cmd\": [\"\"]}"),
         "profile.stages[0].cmd is empty; its first string names the program to run"},
        {STAGES("{\"stage\": \"a\", \"cmd\": \"make all\"}"),
         "profile.stages[0].cmd: expected a list of strings, found the string \"make all\"; write [\"sh\", \"-c\", "
         "\"...\"] for a shell, or one string per argument"},
        {STAGES("{\"stage\": \"a\", \"cmd\": [\"x\"]}, {\"stage\": \"b\", \"cmd\": [\"x\", 1]}"),
         "profile.stages[1].cmd[1]: expected a string, found the number 1"},
        {STAGES("{\"stage\": \"a\", \"cmd\": [\"x\"]}, {\"stage\": \"a\", \"cmd\": [\"y\"]}"),
         "profile.stages[1].stage: 'a' is the name of profile.stages[0], too; rename one"},
        {STAGES("{\"stage\": \"a\", \"cmd\": [\"x\"], \"timeout_s\": 0}"),
         "profile.stages[0].timeout_s: expected a number from 0.001 to 1000000000, found the number 0"},
        {STAGES("{\"stage\": \"a\", \"cmd\": [\"x\"], \"timeout_s\": \"ten\"}"),
         "profile.stages[0].timeout_s: expected a number from 0.001 to 1000000000, found the string \"ten\""},
        {STAGES("{\"stage\": \"a\", \"cmd\": [\"x\"], \"env\": {\"N\": 4}}"),
         "profile.stages[0].env.N: expected a string, found the number 4"},
        {STAGES("{\"stage\": \"a\", \"cmd\": [\"x\"], \"env\": {\"A=B\": \"\"}}"),
         "profile.stages[0].env: 'A=B' cannot be the name of a variable; it must not be empty or hold ="},
        {STAGES("{\"stage\": \"a/b\", \"cmd\": [\"x\"]}"),
         "profile.stages[0].stage: the name must not hold a /, for it names a log file; use another character"},
        {STAGES("{\"stage\": \"a\\u001b[31m\", \"cmd\": [\"x\"]}"),
         "profile.stages[0].stage: the name must not hold control characters; remove them"},
        {STAGES("{\"stage\": \"a,b\", \"cmd\": [\"x\"]}"), "profile.stages[0].stage: the name must not hold a comma, "
                                                           "for --only and --skip take names with commas between; "
                                                           "use another character"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[400];
        snprintf(message, sizeof message, "config.json: %s", rows[i][1]);
        write_text("config.json", rows[i][0]);
        check_refused("config.json", NULL, message);
    }
    char text[300];
    snprintf(text, sizeof text, STAGES("{\"stage\": \"%0128d\", \"skip\": \"x\"}"), 1);
    write_text("config.json", text);
    check_refused("config.json", NULL,
                  "config.json: profile.stages[0].stage: the name is too long; use at most 127 bytes");
}

static void broken_files_are_named(void **state)
{
    (void)state;
    char message[4300];
    char *cwd = getcwd(NULL, 0);
    snprintf(message, sizeof message, "missing.json: there is no such file; the path is relative to %s", cwd);
    free(cwd);
    check_refused("missing.json", NULL, message);
    check_refused("/nowhere/x", NULL, "/nowhere/x: there is no such file; check the path");
    check_refused("", NULL, "the path of the configuration is empty; name a JSON file");
    check_refused(".", NULL, ".: this is a directory; name the file in it");
    check_refused("/dev/zero", NULL, "/dev/zero: larger than 16 MiB; is this the right file?");
    write_text("secret.json", "{}");
    chmod("secret.json", 0);
    if (geteuid() != 0)
        check_refused("secret.json", NULL,
                      "secret.json: cannot be opened: Permission denied; check its permissions and the path");
    write_bytes("wide.json", "\xff\xfe{\0}\0", 6);
    check_refused("wide.json", NULL, "wide.json: this is UTF-16; save the file as UTF-8");
    write_text("blank.json", " \n");
    check_refused("blank.json", NULL, "blank.json: the file is empty; the smallest JSON document is {}");
}

static void unknown_keys_are_warned_of(void **state)
{
    (void)state;
    PT_AUTO(pt_config_freep)
    struct pt_config *config =
        read_config("{\"profile\": {\"datset\": \"x\", \"zzz\": 1, \"quality\": {\"mim\": {}},"
                    " \"stages\": [{\"stage\": \"a\", \"cmd\": [\"x\"], \"timeout\": 3}]}, \"datset\": 1}",
                    NULL);
    assert_int_equal(config->warnings.n, 4);
    assert_string_equal(config->warnings.items[0],
                        "config.json: profile.datset is not known and ignored; did you mean 'dataset'?");
    assert_string_equal(config->warnings.items[1],
                        "config.json: profile.zzz is not known and ignored; known are dataset, train_epochs, "
                        "enable_gpu_sampling, interval_ms, heap, report_dir, stages, quality, thresholds, "
                        "carbon_intensity_g_per_kwh");
    assert_string_equal(config->warnings.items[2],
                        "config.json: profile.stages[0].timeout is not known and ignored; did you mean 'timeout_s'?");
    assert_string_equal(config->warnings.items[3],
                        "config.json: profile.quality.mim is not known and ignored; did you mean 'min'?");
    PT_AUTO(pt_config_freep) struct pt_config *misspelt = read_config("{\"profiel\": {}}", NULL);
    assert_int_equal(misspelt->warnings.n, 1);
    assert_string_equal(misspelt->warnings.items[0], "config.json: there is no section 'profile', so the defaults "
                                                     "hold; did you mean it by 'profiel'?");
}

static void check_skips(const struct pt_config_overrides *overrides, const char *const *reasons)
{
    PT_AUTO(pt_config_freep)
    struct pt_config *config =
        read_config(STAGES("{\"stage\": \"a\", \"cmd\": [\"x\"]}, {\"stage\": \"b\", \"cmd\": [\"x\"]},"
                           "{\"stage\": \"c\", \"skip\": \"GUI\"}, {\"stage\": \"d\", \"cmd\": [\"x\"]}"),
                    overrides);
    for (size_t i = 0; i < 4; i++)
        if (reasons[i])
            assert_string_equal(config->stages.items[i].skip, reasons[i]);
        else
            assert_null(config->stages.items[i].skip);
}

static void stages_are_selected(void **state)
{
    (void)state;
#define ONLY "not selected (--only)"
#define SKIP "not selected (--skip)"
#define FROM "not selected (--from)"
    check_skips(&(struct pt_config_overrides){.stages.only = "b,c"}, (const char *[]){ONLY, NULL, "GUI", ONLY});
    check_skips(&(struct pt_config_overrides){.stages.skip = "d,a"}, (const char *[]){SKIP, NULL, "GUI", SKIP});
    check_skips(&(struct pt_config_overrides){.stages.from = "b"}, (const char *[]){FROM, NULL, "GUI", NULL});
    check_skips(&(struct pt_config_overrides){.stages = {.from = "b", .skip = "d"}},
                (const char *[]){FROM, NULL, "GUI", SKIP});
    write_text("config.json", "{}");
    check_refused("config.json", &(struct pt_config_overrides){.stages.only = "train,evla"},
                  "option '--only': there is no stage 'evla'; did you mean 'eval'?");
    check_refused("config.json", &(struct pt_config_overrides){.stages.skip = ""},
                  "option '--skip': there is no stage ''; there are fetch-dataset, fetch-dinov3, label-targets, "
                  "generate-dataset, check-dataset, train, infer, eval, review");
    check_refused("config.json", &(struct pt_config_overrides){.stages.from = "a,b"},
                  "option '--from' takes one stage, not a list");
    check_refused("config.json", &(struct pt_config_overrides){.train_epochs = "0"},
                  "option '--train-epochs': expected a whole number from 1 to 1000000000, found the number 0");
    check_refused("config.json", &(struct pt_config_overrides){.dataset = "\xff"},
                  "option '--dataset': expected text in UTF-8, found other bytes");
    PT_AUTO(pt_config_freep)
    struct pt_config *none = read_config("{}", &(struct pt_config_overrides){.stages.only = "review"});
    assert_string_equal(none->warnings.items[0], "config.json: every stage is skipped: nothing will run");
}

static void near_names_are_found(void **state)
{
    (void)state;
    static const char *const names[] = {"train", "infer", "eval", NULL};
    assert_string_equal(pt_nearest_name("trian", names), "train");
    assert_string_equal(pt_nearest_name("inf", names), "infer");
    assert_null(pt_nearest_name("something-else", names));
    assert_null(pt_nearest_name("a-name-that-is-longer-than-anything-that-we-compare", names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_object_is_the_document),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(null_is_as_good_as_nothing),
        cmocka_unit_test(options_win_over_variables_over_keys),
        cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(wrong_stages_are_named),
        cmocka_unit_test(broken_files_are_named),
        cmocka_unit_test(unknown_keys_are_warned_of),
        cmocka_unit_test(stages_are_selected),
        cmocka_unit_test(near_names_are_found),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
