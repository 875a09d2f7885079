/* SPDX-License-Identifier: MIT
 *
 * run_file/read.c - Owns: reading run.json. Threads: any. Never: fails on a key that is missing or of another type,
 * waits for a FIFO of its name.
 */
#include "read.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/auto.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/str.h"
#include "keys.h"

/* All samples, and what is said of each resource of each stage beside them. */
enum {
    LARGEST_BYTES = 64 << 20,
    MOST_VALUES = PT_RUN_MOST_SAMPLES * (PT_RESOURCE__COUNT + 2) + PT_RUN_MOST_STAGES * 6 * PT_RESOURCE__COUNT,
};

/* Reads one key of an object into its section's structure. */
typedef void read_function(const cJSON *object, const struct pt_run_key *key, void *fields);

static void read_section(const cJSON *object, enum pt_run_section section, void *fields);

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static double number_of(const cJSON *item)
{
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static pt_u32 array_length(const cJSON *array)
{
    return cJSON_IsArray(array) ? (pt_u32)cJSON_GetArraySize(array) : 0;
}

/* ---- values ---- */

static void read_text(const cJSON *object, const struct pt_run_key *key, void *fields)
{
    *(const char **)pt_run_place(key, fields) = cJSON_GetStringValue(member(object, key->key));
}

static void read_texts(const cJSON *object, const struct pt_run_key *key, void *fields)
{
    const cJSON *array = member(object, key->key), *item;
    const char **list = pt_calloc(array_length(array) + 1, sizeof *list);
    pt_u32 n = 0;
    if (cJSON_IsArray(array))
        cJSON_ArrayForEach(item, array) if (cJSON_IsString(item)) list[n++] = item->valuestring;
    *(const char ***)pt_run_place(key, fields) = list;
}

static void read_number(const cJSON *object, const struct pt_run_key *key, void *fields)
{
    *(double *)pt_run_place(key, fields) = number_of(member(object, key->key));
}

/* A number that no run can have is unknown. The sum of two is still a whole number of 64 bits. */
static void read_whole(const cJSON *object, const struct pt_run_key *key, void *fields)
{
    const double number = number_of(member(object, key->key));
    *(double *)pt_run_place(key, fields) = fabs(number) < 0x1p62 ? number : NAN;
}

static void read_exact(const cJSON *object, const struct pt_run_key *key, void *fields)
{
    const double number = number_of(member(object, key->key));
    *(pt_u64 *)pt_run_place(key, fields) = number > 0 && number < 0x1p63 ? (pt_u64)number : 0;
}

/* ---- what was sampled ---- */

static void read_resources(const cJSON *object, const struct pt_run_key *key, void *fields)
{
    struct pt_run_stage *stage = fields;
    const cJSON *resources = member(object, key->key);
    for (int i = 0; i < PT_RESOURCE__COUNT; i++)
        read_section(member(resources, pt_resources[i].id), PT_RUN_RESOURCE, &stage->resources[i]);
}

/* `n` numbers; missing ones and null are NAN. NULL = there is no such array. */
static double *numbers(const cJSON *object, const char *key, pt_u32 n)
{
    const cJSON *array = member(object, key);
    if (!cJSON_IsArray(array))
        return NULL;
    double *list = pt_calloc(n, sizeof *list);
    const cJSON *item = array->child;
    for (pt_u32 i = 0; i < n; i++, item = item ? item->next : NULL)
        list[i] = number_of(item);
    return list;
}

static void read_samples(const cJSON *object, const struct pt_run_key *key, void *fields)
{
    struct pt_run_stage *stage = fields;
    const cJSON *samples = member(object, key->key);
    stage->n_samples = array_length(member(samples, "t_ns"));
    stage->sample_t_s = numbers(samples, "t_ns", stage->n_samples);
    for (pt_u32 i = 0; i < stage->n_samples; i++)
        stage->sample_t_s[i] /= 1e9;
    for (int i = 0; i < PT_RESOURCE__COUNT; i++)
        stage->resources[i].samples = numbers(samples, pt_resources[i].id, stage->n_samples);
}

/* ---- objects and lists ---- */

static void read_object(const cJSON *object, const struct pt_run_key *key, void *fields)
{
    const cJSON *inside = member(object, key->key);
    if (key->type == PT_RUN_OBJECT_OR_NULL)
        *(bool *)pt_run_place(key, fields) = cJSON_IsObject(inside);
    read_section(inside, key->inside, fields);
}

/* An item without its name is skipped. */
static bool is_named(const cJSON *item, enum pt_run_section section)
{
    for (const struct pt_run_key *key = pt_run_first_key(section); key; key = pt_run_next_key(key))
        if (key->type == PT_RUN_NAME && !cJSON_IsString(member(item, key->key)))
            return false;
    return true;
}

static void read_list(const cJSON *object, const struct pt_run_key *key, void *fields)
{
    const cJSON *array = member(object, key->key), *item;
    const size_t bytes = pt_run_item_bytes(key->inside);
    char *items = pt_calloc(array_length(array), bytes);
    pt_u32 n = 0;
    if (cJSON_IsArray(array))
        cJSON_ArrayForEach(item, array) if (is_named(item, key->inside))
            read_section(item, key->inside, items + n++ * bytes);
    *(char **)pt_run_place(key, fields) = items;
    *(pt_u32 *)(void *)((char *)fields + key->n_offset) = n;
}

static read_function *const readers[] = {
    [PT_RUN_TEXT] = read_text,        [PT_RUN_NAME] = read_text,
    [PT_RUN_TEXT_IF_ANY] = read_text, [PT_RUN_TEXTS] = read_texts,
    [PT_RUN_LINES] = read_texts,      [PT_RUN_COMMAND] = read_texts,
    [PT_RUN_WHOLE] = read_whole,      [PT_RUN_WHOLE_IF_KNOWN] = read_whole,
    [PT_RUN_EXACT] = read_exact,      [PT_RUN_NUMBER] = read_number,
    [PT_RUN_ROUNDED] = read_number,   [PT_RUN_MILLIS] = read_number,
    [PT_RUN_MICROS] = read_number,    [PT_RUN_RESOURCES] = read_resources,
    [PT_RUN_SAMPLES] = read_samples,  [PT_RUN_BLOCK] = read_object,
    [PT_RUN_INLINE] = read_object,    [PT_RUN_OBJECT_OR_NULL] = read_object,
    [PT_RUN_BLOCKS] = read_list,      [PT_RUN_INLINES] = read_list,
};

static void read_section(const cJSON *object, enum pt_run_section section, void *fields)
{
    for (const struct pt_run_key *key = pt_run_first_key(section); key; key = pt_run_next_key(key))
        readers[key->type](object, key, fields);
}

/* ---- the file ---- */

/* 1 = it was read, 0 = there is none. */
static int read_text_of(const char *path, struct pt_str *content, pt_u64 *ret_changed_ns, struct pt_error *err)
{
    struct stat status;
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : pt_fail_code(err, 3, "%s: %s", path, strerror(errno));
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return pt_fail_code(err, 3, "%s: not a regular file", path);
    *ret_changed_ns = (pt_u64)status.st_mtim.tv_sec * 1000000000 + (pt_u64)status.st_mtim.tv_nsec;
    if (pt_fd_read_all(fd, LARGEST_BYTES, content) == 0)
        return 1;
    if (errno == EFBIG)
        return pt_fail_code(err, 3, "%s: larger than %d MiB", path, LARGEST_BYTES >> 20);
    return pt_fail_code(err, 3, "%s: %s", path, strerror(errno));
}

/* Two bytes of an array ("0,") take eighty bytes of memory when parsed. */
static bool has_too_many_values(const struct pt_str *content)
{
    size_t values = 0;
    for (size_t i = 0; i < content->n; i++)
        values += content->text[i] == ',' || content->text[i] == '[' || content->text[i] == '{';
    return values > MOST_VALUES;
}

/* A stage takes kilobytes however little is said of it, and each of its lists as many values as it has samples. */
static int check_stages(const cJSON *json, const char *path, struct pt_error *err)
{
    const cJSON *stages = member(json, "stages"), *stage;
    size_t values = 0;
    if (array_length(stages) > PT_RUN_MOST_STAGES)
        return pt_fail_code(err, 3, "%s holds more than %d stages: no run has as many", path, PT_RUN_MOST_STAGES);
    cJSON_ArrayForEach(stage, stages)
    {
        const cJSON *samples = member(stage, "samples");
        values += (size_t)array_length(member(samples, "t_ns")) * (size_t)cJSON_GetArraySize(samples);
    }
    if (values > MOST_VALUES)
        return pt_fail_code(err, 3, "%s holds more than %d samples: no run has as many", path, MOST_VALUES);
    return 0;
}

int pt_run_info_read(const char *directory, struct pt_run_info **ret_run, struct pt_error *err)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/" PT_RUN_FILE, directory);
    PT_AUTO(pt_str_fini) struct pt_str content = {0};
    pt_u64 changed_ns = 0;
    const int got = read_text_of(path, &content, &changed_ns, err);
    *ret_run = NULL;
    if (got <= 0)
        return got;
    if (has_too_many_values(&content))
        return pt_fail_code(err, 3, "%s holds more than %d values: no run has as many", path, MOST_VALUES);
    cJSON *json = cJSON_ParseWithLength(pt_str_text(&content), content.n);
    if (!cJSON_IsObject(json)) {
        cJSON_Delete(json);
        return pt_fail_code(err, 3, "%s is not JSON", path);
    }
    if (check_stages(json, path, err) < 0) {
        cJSON_Delete(json);
        return -1;
    }
    struct pt_run_info *run = pt_calloc(1, sizeof *run);
    run->json = json;
    run->changed_realtime_ns = changed_ns;
    read_section(json, PT_RUN_RUN, run);
    *ret_run = run;
    return 0;
}

static void free_stage(struct pt_run_stage *stage)
{
    for (int i = 0; i < PT_RESOURCE__COUNT; i++)
        free(stage->resources[i].samples);
    free(stage->sample_t_s);
    free(stage->command);
    free(stage->left);
}

void pt_run_info_free(struct pt_run_info *run)
{
    if (!run)
        return;
    cJSON_Delete(run->json);
    for (pt_u32 i = 0; i < run->n_stages; i++)
        free_stage(&run->stages[i]);
    free(run->stages);
    free(run->gpus);
    free(run->notes);
    free(run->untraced);
    free(run->pipeline.quality);
    free(run);
}
