/* SPDX-License-Identifier: MIT
 *
 * Owns: reading run.json. Threads: any. Never: fails on a key that is missing or of another type.
 */
#include "run_info.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/auto.h"
#include "util/mem.h"
#include "util/str.h"

enum { LARGEST_BYTES = 64 << 20, MOST_VALUES = 1 << 20 }; /* a long run with 8192 samples has 50,000 values */

static double number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static const char *text(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static pt_u32 array_length(const cJSON *array)
{
    return cJSON_IsArray(array) ? (pt_u32)cJSON_GetArraySize(array) : 0;
}

static const char **texts(const cJSON *object, const char *key)
{
    const cJSON *array = member(object, key), *item;
    const char **list = pt_calloc(array_length(array) + 1, sizeof *list);
    pt_u32 n = 0;
    if (cJSON_IsArray(array))
        cJSON_ArrayForEach(item, array) if (cJSON_IsString(item)) list[n++] = item->valuestring;
    return list;
}

/* ---- stages ---- */

/* `n` numbers; what is missing or null is NAN. NULL = there is no such array. */
static double *numbers(const cJSON *object, const char *key, pt_u32 n)
{
    const cJSON *array = member(object, key);
    if (!cJSON_IsArray(array))
        return NULL;
    double *list = pt_calloc(n, sizeof *list);
    const cJSON *item = array->child;
    for (pt_u32 i = 0; i < n; i++, item = item ? item->next : NULL)
        list[i] = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    return list;
}

static void read_resources(struct pt_run_stage *stage, const cJSON *object)
{
    const cJSON *resources = member(object, "resources"), *samples = member(object, "samples");
    stage->n_samples = array_length(member(samples, "t_ns"));
    stage->sample_t_s = numbers(samples, "t_ns", stage->n_samples);
    for (pt_u32 i = 0; i < stage->n_samples; i++)
        stage->sample_t_s[i] /= 1e9;
    for (int i = 0; i < PT_RESOURCE__COUNT; i++) {
        const cJSON *one = member(resources, pt_resources[i].id);
        stage->resources[i] = (struct pt_run_resource){
            .max = number(one, "max"),
            .mean = number(one, "mean"),
            .last = number(one, "last"),
            .reason = text(one, "reason"),
            .samples = numbers(samples, pt_resources[i].id, stage->n_samples),
        };
    }
}

static void read_left(struct pt_run_stage *stage, const cJSON *object)
{
    const cJSON *array = member(object, "left_running"), *item;
    stage->left = pt_calloc(array_length(array), sizeof *stage->left);
    if (!cJSON_IsArray(array))
        return;
    cJSON_ArrayForEach(item, array) stage->left[stage->n_left++] =
        (struct pt_run_left){number(item, "pid"), text(item, "command")};
}

static void read_stage(struct pt_run_stage *stage, const cJSON *object)
{
    *stage = (struct pt_run_stage){
        .name = text(object, "stage"),
        .status = text(object, "status"),
        .reason = text(object, "reason"),
        .exit = text(object, "exit"),
        .cwd = text(object, "cwd"),
        .log = text(object, "log"),
        .command = texts(object, "command"),
        .start_ns = number(object, "start_ns"),
        .duration_ns = number(object, "duration_ns"),
        .stop_ns = number(object, "stop_ns"),
        .timeout_s = number(object, "timeout_s"),
        .exit_code = number(object, "exit_code"),
        .rss_max_bytes = number(object, "rss_max_bytes"),
        .cpu_percent_avg = number(object, "cpu_percent_avg"),
        .cpu_percent_max = number(object, "cpu_percent_max"),
        .cpu_s = number(object, "cpu_s"),
    };
    read_resources(stage, object);
    read_left(stage, object);
}

static void read_stages(struct pt_run_info *run)
{
    const cJSON *array = member(run->json, "stages"), *item;
    run->stages = pt_calloc(array_length(array), sizeof *run->stages);
    if (!cJSON_IsArray(array))
        return;
    cJSON_ArrayForEach(item, array) if (text(item, "stage")) read_stage(&run->stages[run->n_stages++], item);
}

static void free_stage(struct pt_run_stage *stage)
{
    for (int i = 0; i < PT_RESOURCE__COUNT; i++)
        free(stage->resources[i].samples);
    free(stage->sample_t_s);
    free(stage->command);
    free(stage->left);
}

/* ---- the run ---- */

static void read_pipeline(struct pt_run_info *run)
{
    const cJSON *object = member(run->json, "pipeline"), *limits = member(object, "thresholds"), *item;
    const cJSON *quality = member(object, "quality");
    run->is_pipeline = cJSON_IsObject(object);
    run->pipeline = (struct pt_run_pipeline){
        .config = text(object, "config"),
        .dataset = text(object, "dataset"),
        .quality_file = text(object, "quality_file"),
        .train_epochs = number(object, "train_epochs"),
        .cpu_percent = number(limits, "cpu_percent"),
        .memory_percent = number(limits, "memory_percent"),
        .disk_percent = number(limits, "disk_percent"),
        .sustained_s = number(limits, "sustained_s"),
        .carbon_intensity_g_per_kwh = number(object, "carbon_intensity_g_per_kwh"),
        .quality = pt_calloc(array_length(quality), sizeof *run->pipeline.quality),
    };
    if (!cJSON_IsArray(quality))
        return;
    cJSON_ArrayForEach(item, quality)
    {
        const struct pt_run_quality one = {text(item, "key"), text(item, "reason"), number(item, "value"),
                                           number(item, "min")};
        if (one.key)
            run->pipeline.quality[run->pipeline.n_quality++] = one;
    }
}

static void read_untraced(struct pt_run_info *run)
{
    const cJSON *array = member(run->json, "untraced"), *item;
    run->untraced = pt_calloc(array_length(array), sizeof *run->untraced);
    if (!cJSON_IsArray(array))
        return;
    cJSON_ArrayForEach(item, array)
    {
        const struct pt_run_untraced one = {text(item, "stage"), text(item, "path"), text(item, "reason")};
        if (one.path)
            run->untraced[run->n_untraced++] = one;
    }
}

static int slurp(const char *path, struct pt_str *content, struct pt_error *err)
{
    struct stat status;
    /* O_NONBLOCK: a FIFO of that name must not hang the reader. */
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : pt_fail_code(err, 3, "%s: %s", path, strerror(errno));
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return pt_fail_code(err, 3, "%s: not a regular file", path);
    if (status.st_size > LARGEST_BYTES)
        return pt_fail_code(err, 3, "%s: larger than %d MiB", path, LARGEST_BYTES >> 20);
    PT_AUTO(pt_fclosep) FILE *file = fdopen(dup(fd), "re");
    if (!file)
        return pt_fail_code(err, 3, "%s: %s", path, strerror(errno));
    char buffer[65536];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        pt_str_bytes(content, buffer, got);
        if (content->n > LARGEST_BYTES)
            return pt_fail_code(err, 3, "%s: larger than %d MiB", path, LARGEST_BYTES >> 20);
    }
    return ferror(file) ? pt_fail_code(err, 3, "%s: %s", path, strerror(errno)) : 1;
}

/* Two bytes of an array ("0,") take eighty in memory once parsed. */
static bool has_too_many_values(const struct pt_str *content)
{
    size_t values = 0;
    for (size_t i = 0; i < content->n; i++)
        values += content->text[i] == ',' || content->text[i] == '[' || content->text[i] == '{';
    return values > MOST_VALUES;
}

int pt_run_info_read(const char *directory, struct pt_run_info **ret_run, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str path = {0};
    PT_AUTO(pt_str_fini) struct pt_str content = {0};
    pt_str_printf(&path, "%s/run.json", directory);
    const int got = slurp(pt_str_text(&path), &content, err);
    *ret_run = NULL;
    if (got <= 0)
        return got;
    if (has_too_many_values(&content))
        return pt_fail_code(err, 3, "%s holds more than %d values: no run has as many", pt_str_text(&path),
                            MOST_VALUES);
    cJSON *json = cJSON_ParseWithLength(pt_str_text(&content), content.n);
    if (!cJSON_IsObject(json)) {
        cJSON_Delete(json);
        return pt_fail_code(err, 3, "%s is not JSON", pt_str_text(&path));
    }
    struct pt_run_info *run = pt_calloc(1, sizeof *run);
    const cJSON *machine = member(json, "machine");
    *run = (struct pt_run_info){
        .json = json,
        .notes = texts(json, "notes"),
        .host = text(json, "host"),
        .git_commit = text(json, "git_commit"),
        .start_realtime_ns = number(json, "start_realtime_ns"),
        .duration_ns = number(json, "duration_ns"),
        .interval_ns = number(json, "interval_ns"),
        .cpus = number(machine, "cpus"),
        .memory_bytes = number(machine, "memory_bytes"),
    };
    read_pipeline(run);
    read_stages(run);
    read_untraced(run);
    *ret_run = run;
    return 0;
}

void pt_run_info_free(struct pt_run_info *run)
{
    if (!run)
        return;
    cJSON_Delete(run->json);
    for (pt_u32 i = 0; i < run->n_stages; i++)
        free_stage(&run->stages[i]);
    free(run->stages);
    free(run->notes);
    free(run->untraced);
    free(run->pipeline.quality);
    free(run);
}
