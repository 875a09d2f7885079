/* SPDX-License-Identifier: MIT
 *
 * t_run_file.c - run.json: the bytes that are written, and that all of it is read again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper_files.h"
#include "run_file/read.h"
#include "run_file/thin.h"
#include "run_file/write.h"
#include "util/auto.h"
#include "util/fd.h"

static void write_run(const struct pt_run_info *run)
{
    struct pt_error err = {0};
    PT_AUTO(pt_closep) int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (pt_run_info_write(here, ".", run, &err) < 0)
        fail_msg("%s", err.text);
}

static struct pt_run_info *read_run(void)
{
    struct pt_run_info *run = NULL;
    struct pt_error err = {0};
    if (pt_run_info_read(".", &run, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(run);
    return run;
}

static struct pt_str text_of_run(void)
{
    struct pt_str text = {0};
    PT_AUTO(pt_closep) int fd = open(PT_RUN_FILE, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pt_fd_read_all(fd, 1 << 20, &text), 0);
    return text;
}

static const char every_key[] =
    "{\n"
    "  \"schema_version\": \"1.0\",\n"
    "  \"cwd\": null,\n"
    "  \"host\": \"h1\",\n"
    "  \"git_commit\": null,\n"
    "  \"start_realtime_ns\": 1795351487535840569,\n"
    "  \"start_monotonic_ns\": null,\n"
    "  \"written_realtime_ns\": null,\n"
    "  \"interval_ns\": 500000000,\n"
    "  \"duration_ns\": null,\n"
    "  \"launcher\": {\"pid\": 17, \"start_ticks\": 12345, \"boot_id\": \"b\", \"pid_namespace\": null},\n"
    "  \"machine\": {\n"
    "    \"cpus\": 2,\n"
    "    \"cpus_usable\": 1,\n"
    "    \"memory_bytes\": null,\n"
    "    \"gpus\": [\"H1\"]\n"
    "  },\n"
    "  \"pipeline\": {\n"
    "    \"config\": null,\n"
    "    \"dataset\": \"coco32\",\n"
    "    \"train_epochs\": 3,\n"
    "    \"thresholds\": {\"cpu_percent\": 90, \"memory_percent\": 85.5, \"disk_percent\": 80, "
    "\"sustained_s\": 10, \"memory_growth_mb\": null},\n"
    "    \"carbon_intensity_g_per_kwh\": null,\n"
    "    \"quality_file\": null,\n"
    "    \"quality\": [\n"
    "      {\"key\": \"grade\", \"value\": 47.25, \"min\": 20, \"reason\": null},\n"
    "      {\"key\": \"recall\", \"value\": null, \"min\": null, \"reason\": \"not there\"}\n"
    "    ]\n"
    "  },\n"
    "  \"stages\": [\n"
    "    {\n"
    "      \"stage\": \"train\",\n"
    "      \"status\": \"skipped\",\n"
    "      \"reason\": \"not selected (--only)\",\n"
    "      \"command\": [\"train\", \"--fast\"],\n"
    "      \"cwd\": null,\n"
    "      \"log\": null,\n"
    "      \"start_ns\": null,\n"
    "      \"timeout_s\": 60.500,\n"
    "      \"pid\": null,\n"
    "      \"duration_ns\": null,\n"
    "      \"exit\": null,\n"
    "      \"exit_code\": null,\n"
    "      \"rss_max_bytes\": null,\n"
    "      \"cpu_percent_avg\": null,\n"
    "      \"cpu_percent_max\": null,\n"
    "      \"cpu_s\": null,\n"
    "      \"left_running\": [\n"
    "        {\"pid\": 17, \"command\": \"sleep 9\"}\n"
    "      ]\n"
    "    }\n"
    "  ],\n"
    "  \"untraced\": [\n"
    "    {\"stage\": \"train\", \"path\": \"/bin/train\", \"reason\": \"static\"}\n"
    "  ],\n"
    "  \"notes\": [\n"
    "    \"one\"\n"
    "  ]\n"
    "}\n";

static void every_key_has_its_form(void **state)
{
    (void)state;
    const char *command[] = {"train", "--fast", NULL}, *notes[] = {"one", NULL}, *gpus[] = {"H1", NULL};
    struct pt_run_untraced untraced = {"train", "/bin/train", "static"};
    struct pt_run_left left = {17, "sleep 9"};
    struct pt_run_quality quality[] = {{"grade", 47.25, 20, NULL}, {"recall", NAN, NAN, "not there"}};
    struct pt_run_stage stage;
    struct pt_run_info run;
    pt_run_stage_forget(&stage);
    stage.name = "train";
    stage.status = "skipped";
    stage.reason = "not selected (--only)";
    stage.command = command;
    stage.timeout_s = 60.5;
    stage.left = &left;
    stage.n_left = 1;
    pt_run_forget(&run);
    run.host = "h1";
    run.launcher = (struct pt_run_launcher){.pid = 17, .start_ticks = 12345, .boot_id = "b"};
    run.start_realtime_ns = 1795351487535840569;
    run.interval_ns = 500000000;
    run.cpus = 2;
    run.cpus_usable = 1;
    run.gpus = gpus;
    run.is_pipeline = true;
    run.pipeline = (struct pt_run_pipeline){.dataset = "coco32",
                                            .train_epochs = 3,
                                            .thresholds = {90, 85.5, 80, 10, NAN},
                                            .carbon_intensity_g_per_kwh = NAN,
                                            .quality = quality,
                                            .n_quality = 2};
    run.stages = &stage;
    run.n_stages = 1;
    run.untraced = &untraced;
    run.n_untraced = 1;
    run.notes = notes;
    write_run(&run);
    PT_AUTO(pt_str_fini) struct pt_str text = text_of_run();
    assert_string_equal(text.text, every_key);
}

/* A stage that began has resources and samples; what ended by us says how long that took. */
static void what_is_written_is_read(void **state)
{
    (void)state;
    const char *command[] = {"train", "--token", "plain-secret", NULL};
    double t_s[] = {0.5, 1.000000001}, cpu[] = {99.12345, NAN};
    struct pt_run_stage stage;
    struct pt_run_info run;
    pt_run_stage_forget(&stage);
    stage.name = "train";
    stage.command = command;
    stage.exit = "signal 15 (SIGTERM)";
    stage.pid = 4194304;
    stage.start_ns = 0;
    stage.duration_ns = 1234567890123;
    stage.stop_ns = 5;
    stage.exit_code = 143;
    stage.cpu_s = 9.000001;
    stage.sample_t_s = t_s;
    stage.n_samples = 2;
    stage.resources[PT_RESOURCE_cpu_percent] = (struct pt_run_resource){99.12345, 50, 1, NULL, cpu};
    stage.resources[PT_RESOURCE_pss_bytes].reason = "it could not be read";
    pt_run_forget(&run);
    run.stages = &stage;
    run.n_stages = 1;
    write_run(&run);
    PT_AUTO(pt_run_info_freep) struct pt_run_info *read = read_run();
    const struct pt_run_stage *again = &read->stages[0];
    assert_false(read->is_pipeline);
    assert_true(isnan(read->pipeline.thresholds.cpu_percent) && isnan(read->duration_ns));
    assert_int_equal(read->n_stages, 1);
    assert_string_equal(again->exit, stage.exit);
    assert_true(again->pid == stage.pid && again->start_ns == 0 && again->duration_ns == stage.duration_ns);
    assert_true(again->stop_ns == 5 && again->exit_code == 143 && again->cpu_s == stage.cpu_s);
    assert_int_equal(again->n_samples, 2);
    assert_memory_equal(again->sample_t_s, t_s, sizeof t_s);
    const struct pt_run_resource *resource = &again->resources[PT_RESOURCE_cpu_percent];
    assert_true(resource->max == 99.123 && resource->samples[0] == 99.123 && isnan(resource->samples[1]));
    assert_null(resource->reason);
    assert_string_equal(again->resources[PT_RESOURCE_pss_bytes].reason, "it could not be read");
    assert_null(again->resources[PT_RESOURCE_pss_bytes].samples);
    PT_AUTO(pt_str_fini) struct pt_str first = text_of_run();
    assert_null(strstr(first.text, "plain-secret"));
    write_run(read);
    PT_AUTO(pt_str_fini) struct pt_str second = text_of_run();
    assert_string_equal(first.text, second.text);
}

/* Thirty stages of more than an hour each were "more values than any run has", and all that is known of the run was
 * left out. */
static void long_pipelines_are_read(void **state)
{
    (void)state;
    enum { STAGES = 30, SAMPLES = PT_RUN_STAGE_SAMPLES, ENDED = STAGES - 1 };
    static double t_s[STAGES][SAMPLES], values[STAGES][PT_RESOURCE__COUNT][SAMPLES];
    struct pt_run_stage stages[STAGES];
    struct pt_run_info run;
    for (int i = 0; i < STAGES; i++) {
        for (int sample = 0; sample < SAMPLES; sample++)
            t_s[i][sample] = sample + 1;
        pt_run_stage_forget(&stages[i]);
        stages[i].name = "train";
        stages[i].status = i < ENDED ? "ok" : NULL;
        stages[i].exit = "exit 0";
        stages[i].pid = 7;
        stages[i].start_ns = 0;
        stages[i].duration_ns = SAMPLES * 1000000000ll;
        stages[i].sample_t_s = t_s[i];
        stages[i].n_samples = SAMPLES;
        for (int resource = 0; resource < PT_RESOURCE__COUNT; resource++) {
            memcpy(values[i][resource], t_s[i], sizeof t_s[i]);
            stages[i].resources[resource] = (struct pt_run_resource){1, 1, 1, NULL, values[i][resource]};
        }
    }
    pt_run_forget(&run);
    run.stages = stages;
    run.n_stages = STAGES;
    pt_run_thin(&run);
    write_run(&run);
    PT_AUTO(pt_run_info_freep) struct pt_run_info *read = read_run();
    assert_int_equal(read->n_stages, STAGES);
    assert_int_equal(read->stages[ENDED].n_samples, SAMPLES); /* the sampler goes on with its list */
    pt_u32 n = 0;
    for (int i = 0; i < STAGES; i++) {
        const struct pt_run_stage *stage = &read->stages[i];
        n += stage->n_samples;
        assert_true(stage->n_samples >= SAMPLES / 4);
        assert_true(stage->sample_t_s[stage->n_samples - 1] == SAMPLES);
    }
    assert_true(n <= PT_RUN_MOST_SAMPLES);
}

static void odd_samples_keep_their_last(void **state)
{
    (void)state;
    double t_s[] = {1, 2, 3}, means[] = {10, 30, 7}, totals[] = {1, NAN, 5};
    struct pt_run_resource resources[PT_RESOURCE__COUNT] = {0};
    resources[PT_RESOURCE_cpu_percent].samples = means;
    resources[PT_RESOURCE_disk_read_bytes].samples = totals;
    assert_int_equal(pt_run_halve(t_s, resources, 3), 2);
    assert_true(t_s[0] == 2 && t_s[1] == 3 && means[0] == 20 && means[1] == 7 && totals[0] == 1 && totals[1] == 5);
}

/* Items without their name are none; other types are unknown. */
static void foreign_files_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    write_text(
        PT_RUN_FILE,
        "{\"stages\": [{\"status\": \"ok\"}, 7, {\"stage\": \"a\", \"pid\": \"x\", \"later\": {}}],"
        "\"pipeline\": [], \"notes\": {\"a\": 1}, \"untraced\": [{\"stage\": \"a\"}], \"start_realtime_ns\": -1}");
    PT_AUTO(pt_run_info_freep) struct pt_run_info *run = read_run();
    assert_int_equal(run->n_stages, 1);
    assert_string_equal(run->stages[0].name, "a");
    assert_true(isnan(run->stages[0].pid) && isnan(run->cpus));
    assert_int_equal(run->n_untraced, 0);
    assert_int_equal(run->start_realtime_ns, 0);
    assert_false(run->is_pipeline);
    assert_null(run->notes[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_has_its_form),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(long_pipelines_are_read),
        cmocka_unit_test(odd_samples_keep_their_last),
        cmocka_unit_test(foreign_files_are_read_as_far_as_they_go),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
