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

#include "../util/auto.h"
#include "../util/mem.h"
#include "../util/str.h"

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

static pt_u32 array_length(const cJSON *array)
{
    return cJSON_IsArray(array) ? (pt_u32)cJSON_GetArraySize(array) : 0;
}

static const char **texts(const cJSON *object, const char *key)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, key), *item;
    const char **list = pt_calloc(array_length(array) + 1, sizeof *list);
    pt_u32 n = 0;
    if (cJSON_IsArray(array))
        cJSON_ArrayForEach(item, array) if (cJSON_IsString(item)) list[n++] = item->valuestring;
    return list;
}

static void read_samples(struct pt_run_info *run)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(run->json, "samples"), *item;
    run->samples = pt_calloc(array_length(array), sizeof *run->samples);
    if (!cJSON_IsArray(array))
        return;
    cJSON_ArrayForEach(item, array)
    {
        run->samples[run->n_samples++] = (struct pt_run_sample){
            .t_s = number(item, "t_ns") / 1e9,
            .cpu_percent = number(item, "cpu_percent"),
            .rss_bytes = number(item, "rss_bytes"),
            .pss_bytes = number(item, "pss_bytes"),
            .processes = number(item, "processes"),
        };
    }
}

static void read_untraced(struct pt_run_info *run)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(run->json, "untraced"), *item;
    run->untraced = pt_calloc(array_length(array), sizeof *run->untraced);
    if (!cJSON_IsArray(array))
        return;
    cJSON_ArrayForEach(item, array)
    {
        const struct pt_run_untraced one = {text(item, "path"), text(item, "reason")};
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
    *run = (struct pt_run_info){
        .json = json,
        .command = texts(json, "command"),
        .notes = texts(json, "notes"),
        .stage = text(json, "stage"),
        .exit = text(json, "exit"),
        .start_realtime_ns = number(json, "start_realtime_ns"),
        .duration_ns = number(json, "duration_ns"),
        .exit_code = number(json, "exit_code"),
        .rss_max_bytes = number(json, "rss_max_bytes"),
        .cpu_percent_avg = number(json, "cpu_percent_avg"),
        .cpu_percent_max = number(json, "cpu_percent_max"),
        .cpu_s = number(json, "cpu_s"),
    };
    read_samples(run);
    read_untraced(run);
    *ret_run = run;
    return 0;
}

void pt_run_info_free(struct pt_run_info *run)
{
    if (!run)
        return;
    cJSON_Delete(run->json);
    free(run->command);
    free(run->notes);
    free(run->samples);
    free(run->untraced);
    free(run);
}
