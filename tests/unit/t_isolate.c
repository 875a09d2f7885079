/* SPDX-License-Identifier: MIT
 *
 * t_isolate.c - the temporary configuration: what the pipeline's document makes of the same input (its Python function,
 * run here), every other byte kept, in a directory of its own that leaves nothing behind.
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
#include "pipeline/isolate.h"
#include "pipeline/isolate_text.h"
#include "pipeline/resolve.h"
#include "pipeline/stage_command.h"
#include "util/auto.h"

static struct pt_config *read_config(const char *text, const struct pt_config_overrides *overrides)
{
    struct pt_config *config = NULL;
    struct pt_error err = {0};
    write_text("config.json", text);
    if (pt_config_read("config.json", overrides, &config, &err) < 0)
        fail_msg("%s", err.text);
    return config;
}

static void check_text(const char *text, const char *expected)
{
    PT_AUTO(pt_config_freep) struct pt_config *config = read_config(text, NULL);
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    struct pt_error err = {0};
    assert_int_equal(pt_isolate_text(config, &out, &err), 0);
    assert_string_equal(pt_str_text(&out), expected);
}

static void sections_that_are_missing_are_made(void **state)
{
    (void)state;
    check_text("{}", "{\"paths\": {},\"run\": {\"dataset\": \"coco128\"},\"train\": {\"epochs\": 50, "
                     "\"wandb_enabled\": false}}");
    check_text("{\n  \"run\": {},\n  \"train\": {\n    \"lr\": 1e-3\n  }\n}\n",
               "{\n  \"run\": {\"dataset\": \"coco128\"},\n  \"train\": {\n    \"lr\": 1e-3,\n    \"epochs\": 50,\n    "
               "\"wandb_enabled\": false\n  },\n  \"paths\": {}\n}\n");
}

static void sections_that_are_null_are_made(void **state)
{
    (void)state;
    check_text("{\"train\": null, \"run\":null,\n \"paths\": null, \"profile\": null, \"other\": null}",
               "{\"train\": {\"epochs\": 50, \"wandb_enabled\": false}, \"run\":{\"dataset\": \"coco128\"},\n "
               "\"paths\": {}, \"profile\": null, \"other\": null}");
    check_text("{\"train\": {\"epochs\": null}}", "{\"train\": {\"epochs\": 50,\"wandb_enabled\": false},\"paths\": "
                                                  "{},\"run\": {\"dataset\": \"coco128\"}}");
}

/* 1700000000000000 is an integer that a round trip through doubles makes a float; 1.0 is a float that it makes an
 * integer; the rest is what a careless copy loses: order, escapes, space, a key that is written with escapes. */
static void the_rest_is_kept_byte_for_byte(void **state)
{
    (void)state;
    check_text(
        "{\"z\" :[1700000000000000,1.0, 0.30000000000000004,9007199254740993, -0.0,1E400],\n\t\"a\":\"\\u00e4\\/\","
        "\"run\":{\"dataset\":\"big\",\"seed\":12345678901234567890,\"deep\":{\"dataset\":\"stays\"}},"
        "\"\\u0074rain\":{\"wandb_enabled\":true,\"epochs\":300,\"lr\":1.0},\"paths\":{\"n\":null}, \"epochs\":7}",
        "{\"z\" :[1700000000000000,1.0, 0.30000000000000004,9007199254740993, -0.0,1E400],\n\t\"a\":\"\\u00e4\\/\","
        "\"run\":{\"dataset\":\"coco128\",\"seed\":12345678901234567890,\"deep\":{\"dataset\":\"stays\"}},"
        "\"\\u0074rain\":{\"wandb_enabled\":false,\"epochs\":50,\"lr\":1.0},\"paths\":{\"n\":null}, "
        "\"epochs\":7}");
}

/* The function of the document, as it stands there. Both results are compared with their order and number texts. */
static const char document_function[] =
    "import json, sys\n"
    "from pathlib import Path\n"
    "def create_temp_config(base_config, profile_dataset, profile_epochs):\n"
    "    return {\n"
    "        **base_config,\n"
    "        'paths': {k: str(Path(v).resolve()) for k, v in base_config['paths'].items()},\n"
    "        'run': {**base_config['run'], 'dataset': profile_dataset},\n"
    "        'train': {**base_config['train'], 'epochs': profile_epochs, 'wandb_enabled': False}}\n"
    "def load(path):\n"
    "    with open(path, encoding='utf-8') as f:\n"
    "        return json.load(f, parse_int=lambda t: 'int ' + t, parse_float=lambda t: 'float ' + t)\n"
    "expected = create_temp_config(load('config.json'), 'coco \\u00e4\"32', 'int 10')\n"
    "found = load(sys.argv[1])\n"
    "if json.dumps(found) != json.dumps(expected):\n"
    "    sys.exit(json.dumps(found, indent=1) + '\\n is not \\n' + json.dumps(expected, indent=1))\n";

static void it_is_what_the_documents_function_makes(void **state)
{
    (void)state;
    if (access("/usr/bin/python3", X_OK) < 0)
        skip();
    char command[4300];
    struct pt_isolated isolated;
    struct pt_error err = {0};
    assert_true(mkdir("real", 0700) == 0 && mkdir("real/sub", 0700) == 0 && symlink("real", "link") == 0);
    assert_true(symlink("/tmp/../usr", "absolute") == 0 && symlink("gone/away", "dangling") == 0);
    PT_AUTO(pt_config_freep)
    struct pt_config *config = read_config(
        "{\"name\": \"x\", \"paths\": {\"a\": \"data\", \"b\": \"./x/../y/\", \"c\": \"/abs//p/./q\", \"d\": "
        "\"link/sub\","
        " \"e\": \"link/../up\", \"f\": \"absolute/bin\", \"g\": \"dangling/z\", \"h\": \"\", \"i\": \"..\", \"j\": "
        "\"~/x\","
        " \"k\": \"s p/\\u00e4\\\"\\n\", \"l\": \"/\", \"m\": \"/..\", \"n\": \"gone/../link\", \"o\": "
        "\"config.json/..\"},"
        " \"train\": {\"batch\": 16, \"lr\": 0.0001, \"epochs\": 300, \"seed\": 1700000000000000, \"x\": 1.0},"
        " \"run\": {\"id\": 7, \"tags\": [1, {\"dataset\": 2}]}, \"profile\": {\"dataset\": \"other\"}, \"last\": "
        "null}",
        &(struct pt_config_overrides){.dataset = "coco \xc3\xa4\"32", .train_epochs = "10"});
    assert_int_equal(pt_isolate_create(config, &isolated, &err), 0);
    write_text("document.py", document_function);
    snprintf(command, sizeof command, "/usr/bin/python3 document.py '%s'", isolated.config_path);
    assert_int_equal(system(command), 0);
    assert_int_equal(pt_isolate_remove(&isolated, &err), 0);
    pt_isolate_fini(&isolated);
}

static void addresses_are_no_paths(void **state)
{
    (void)state;
    check_text("{\"paths\": {\"a\": \"s3://bucket/x\", \"b\": \"HTTP://h/\"}, \"run\": {\"dataset\": 0}, \"train\": "
               "{\"epochs\": 0, \"wandb_enabled\": 0}}",
               "{\"paths\": {\"a\": \"s3://bucket/x\", \"b\": \"HTTP://h/\"}, \"run\": {\"dataset\": \"coco128\"}, "
               "\"train\": {\"epochs\": 50, \"wandb_enabled\": false}}");
}

static void links_in_a_circle_are_refused(void **state)
{
    (void)state;
    struct pt_isolated isolated = {0};
    struct pt_error err = {0};
    assert_int_equal(symlink("round", "round"), 0);
    PT_AUTO(pt_config_freep) struct pt_config *config = read_config("{\"paths\": {\"data\": \"round/x\"}}", NULL);
    assert_int_equal(pt_isolate_create(config, &isolated, &err), -1);
    assert_string_equal(err.text, "config.json: paths.data: symbolic links lead in a circle; repair or remove them");
    assert_int_equal(err.exit_code, 2);
    assert_null(isolated.directory);
}

static void the_directory_is_private_and_goes(void **state)
{
    (void)state;
    struct pt_isolated isolated;
    struct pt_error err = {0};
    struct stat about;
    char path[4300], *cwd = getcwd(NULL, 0);
    assert_int_equal(mkdir("tmp", 0755), 0);
    setenv("TMPDIR", "tmp", 1);
    PT_AUTO(pt_config_freep) struct pt_config *config = read_config("{}", NULL);
    const mode_t before = umask(0277);
    assert_int_equal(pt_isolate_create(config, &isolated, &err), 0);
    umask(before);
    snprintf(path, sizeof path, "%s/tmp/proftrace-pipeline-", cwd);
    free(cwd);
    assert_int_equal(strncmp(isolated.directory, path, strlen(path)), 0);
    assert_true(lstat(isolated.directory, &about) == 0 && (about.st_mode & 07777) == 0700);
    assert_true(lstat(isolated.config_path, &about) == 0 && (about.st_mode & 07777) == 0600);

    /* What stages leave beside it goes too; what a link there points to does not. */
    snprintf(path, sizeof path, "%s/cache", isolated.directory);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/cache/file", isolated.directory);
    write_text(path, "x");
    write_text("precious", "x");
    snprintf(path, sizeof path, "%s/cache/link", isolated.directory);
    assert_int_equal(symlink("../../../precious", path), 0);
    assert_int_equal(pt_isolate_remove(&isolated, &err), 0);
    assert_true(access(isolated.directory, F_OK) < 0 && access("precious", F_OK) == 0);
    assert_int_equal(rmdir("tmp"), 0);
    assert_int_equal(pt_isolate_remove(&isolated, &err), 0);
    pt_isolate_fini(&isolated);
    assert_int_equal(pt_isolate_remove(&isolated, &err), 0);

    setenv("TMPDIR", "/no/such/place", 1);
    assert_int_equal(pt_isolate_create(config, &isolated, &err), -1);
    assert_string_equal(err.text, "no temporary directory can be made in /no/such/place: No such file or directory; "
                                  "set TMPDIR to a directory you can write to");
    unsetenv("TMPDIR");
}

static void tokens_are_replaced_once(void **state)
{
    (void)state;
    static const char *const command[] = {
        "x", "{config}", "--out={report_dir}/{dataset}.{epochs}", "{{config}", "{other} {", "", "{Config}{config",
        NULL};
    static const char *const expected[] = {"x", "/tmp/{epochs}",  "--out=/r/d.10", "{/tmp/{epochs}", "{other} {",
                                           "",  "{Config}{config"};
    const struct pt_stage_tokens tokens = {"/tmp/{epochs}", "d", "/r", 10};
    char **made = pt_stage_command(command, &tokens);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_string_equal(made[i], expected[i]);
    assert_null(made[sizeof expected / sizeof expected[0]]);
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_that_are_missing_are_made),
        cmocka_unit_test(sections_that_are_null_are_made),
        cmocka_unit_test(the_rest_is_kept_byte_for_byte),
        cmocka_unit_test(it_is_what_the_documents_function_makes),
        cmocka_unit_test(addresses_are_no_paths),
        cmocka_unit_test(links_in_a_circle_are_refused),
        cmocka_unit_test(the_directory_is_private_and_goes),
        cmocka_unit_test(tokens_are_replaced_once),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
