/* SPDX-License-Identifier: MIT
 *
 * config_keys.c - Owns: the check of a value of each type, and its way into its field. Threads: main only. Never: knows
 * what a key means.
 */
#include "config_keys.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/heap_modes.h"
#include "util/auto.h"
#include "util/parse.h"
#include "util/text/utf8.h"
#include "document.h"

#define FIELD_OF_PROFILE(field) offsetof(struct pt_config, field)
#define FIELD_OF_STAGE(field) offsetof(struct pt_config_stage, field)
#define FIELD_OF_QUALITY(field) offsetof(struct pt_config_quality, field)
#define FIELD_OF_THRESHOLDS(field) offsetof(struct pt_run_thresholds, field)

const struct pt_config_key pt_config_keys[] = {
#define KEY(section, name, type, field, low, high, fallback, summary)                                                  \
    {PT_CONFIG_##section, #name, PT_CONFIG_##type, FIELD_OF_##section(field), low, high, fallback, summary},
#include "config_keys.def"
#undef KEY
    {0, NULL, 0, 0, 0, 0, NULL, NULL},
};

const struct pt_config_key *pt_config_key(enum pt_config_section section, const char *name)
{
    for (const struct pt_config_key *key = pt_config_keys; key->name; key++)
        if (key->section == section && !strcmp(key->name, name))
            return key;
    return NULL;
}

static void expected_text(const struct pt_config_key *key, struct pt_str *out)
{
    static const char *const plain[] = {
        [PT_CONFIG_TEXT] = "a string that is not empty",
        [PT_CONFIG_PATH] = "a path (a string that is not empty)",
        [PT_CONFIG_SWITCH] = "true or false",
        [PT_CONFIG_COUNT] = "a whole number",
        [PT_CONFIG_NUMBER] = "a number",
        [PT_CONFIG_HEAP] = "\"off\", \"sampled\" or \"full\"",
        [PT_CONFIG_TEXTS] = "a list of strings",
        [PT_CONFIG_PAIRS] = "an object of strings",
        [PT_CONFIG_NUMBERS] = "an object of numbers",
        [PT_CONFIG_OTHER] = "a section",
    };
    pt_str_add(out, plain[key->type]);
    if (key->type == PT_CONFIG_COUNT || key->type == PT_CONFIG_NUMBER)
        pt_str_printf(out, " from %.15g to %.15g", key->low, key->high);
}

int pt_config_wrong(const char *where, const char *expected, const cJSON *found, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str shown = {0};
    pt_document_describe(found, &shown);
    return pt_fail_code(err, 2, "%s: expected %s, found %s", where, expected, pt_str_text(&shown));
}

static int wrong_value(const struct pt_config_key *key, const char *where, const cJSON *found, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str expected = {0};
    expected_text(key, &expected);
    return pt_config_wrong(where, pt_str_text(&expected), found, err);
}

/* Each setter: 0, or -1 when the item is not of its type. */

static int set_text(struct pt_config *config, const cJSON *item, const char **field)
{
    if (!cJSON_IsString(item) || !*item->valuestring)
        return -1;
    *field = pt_config_keep(config, item->valuestring);
    return 0;
}

static int set_path(struct pt_config *config, const cJSON *item, const char **field)
{
    if (!cJSON_IsString(item) || !*item->valuestring)
        return -1;
    *field = pt_config_keep_path(config, item->valuestring);
    return 0;
}

static int set_heap(const cJSON *item, const char **field)
{
    for (const char *const *mode = pt_heap_modes; cJSON_IsString(item) && *mode; mode++)
        if (!strcmp(item->valuestring, *mode)) {
            *field = *mode;
            return 0;
        }
    return -1;
}

static int set_switch(const cJSON *item, bool *field)
{
    if (!cJSON_IsBool(item))
        return -1;
    *field = cJSON_IsTrue(item);
    return 0;
}

static bool in_limits(const struct pt_config_key *key, const cJSON *item)
{
    return cJSON_IsNumber(item) && item->valuedouble >= key->low && item->valuedouble <= key->high;
}

static int set_count(const struct pt_config_key *key, const cJSON *item, pt_u64 *field)
{
    if (!in_limits(key, item) || item->valuedouble != floor(item->valuedouble))
        return -1;
    *field = (pt_u64)item->valuedouble;
    return 0;
}

static int set_number(const struct pt_config_key *key, const cJSON *item, double *field)
{
    if (!in_limits(key, item))
        return -1;
    *field = item->valuedouble;
    return 0;
}

/* The setters of lists and objects name the item that is wrong. A member that is null is as good as left out. */

static int set_texts(struct pt_config *config, const cJSON *list, const char ***field, const char *where,
                     struct pt_error *err)
{
    const cJSON *item;
    size_t n = 0;
    const char **texts = pt_arena_alloc(&config->arena, ((size_t)cJSON_GetArraySize(list) + 1) * sizeof *texts);
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item)) {
            PT_AUTO(pt_freep) char *place = pt_asprintf("%s[%zu]", where, n);
            return pt_config_wrong(place, "a string", item, err);
        }
        texts[n++] = pt_config_keep(config, item->valuestring);
    }
    texts[n] = NULL;
    *field = texts;
    return 0;
}

static int set_pairs(struct pt_config *config, const cJSON *object, struct pt_config_pairs *field, const char *where,
                     struct pt_error *err)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        if (cJSON_IsNull(item))
            continue;
        if (!cJSON_IsString(item)) {
            PT_AUTO(pt_freep) char *place = pt_asprintf("%s.%.80s", where, item->string);
            return pt_config_wrong(place, "a string", item, err);
        }
        if (!*item->string || strchr(item->string, '='))
            return pt_fail_code(err, 2,
                                "%s: '%.80s' cannot be the name of a variable; it must not be empty or hold =", where,
                                item->string);
        const struct pt_config_pair pair = {pt_config_keep(config, item->string),
                                            pt_config_keep(config, item->valuestring)};
        pt_vec_push(field, pair);
    }
    return 0;
}

static int set_numbers(struct pt_config *config, const cJSON *object, struct pt_config_numbers *field,
                       const char *where, struct pt_error *err)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        if (cJSON_IsNull(item))
            continue;
        if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble)) {
            PT_AUTO(pt_freep) char *place = pt_asprintf("%s.%.80s", where, item->string);
            return pt_config_wrong(place, "a number", item, err);
        }
        const struct pt_config_number number = {pt_config_keep(config, item->string), item->valuedouble};
        pt_vec_push(field, number);
    }
    return 0;
}

/* A command as one text is a common mistake. */
static int not_a_list(const struct pt_config_key *key, const char *where, const cJSON *found, struct pt_error *err)
{
    wrong_value(key, where, found, err);
    if (!strcmp(key->name, "cmd") && cJSON_IsString(found)) {
        const struct pt_error cause = *err;
        pt_fail_code(err, 2, "%s; write [\"sh\", \"-c\", \"...\"] for a shell, or one string per argument", cause.text);
    }
    return -1;
}

int pt_config_set(struct pt_config *config, const struct pt_config_key *key, const cJSON *item, void *fields,
                  const char *where, struct pt_error *err)
{
    void *field = (char *)fields + key->offset;
    int set = 0;
    switch (key->type) {
    case PT_CONFIG_TEXT:
        set = set_text(config, item, field);
        break;
    case PT_CONFIG_PATH:
        set = set_path(config, item, field);
        break;
    case PT_CONFIG_HEAP:
        set = set_heap(item, field);
        break;
    case PT_CONFIG_SWITCH:
        set = set_switch(item, field);
        break;
    case PT_CONFIG_COUNT:
        set = set_count(key, item, field);
        break;
    case PT_CONFIG_NUMBER:
        set = set_number(key, item, field);
        break;
    case PT_CONFIG_TEXTS:
        return cJSON_IsArray(item) ? set_texts(config, item, field, where, err) : not_a_list(key, where, item, err);
    case PT_CONFIG_PAIRS:
        return cJSON_IsObject(item) ? set_pairs(config, item, field, where, err) : wrong_value(key, where, item, err);
    case PT_CONFIG_NUMBERS:
        return cJSON_IsObject(item) ? set_numbers(config, item, field, where, err) : wrong_value(key, where, item, err);
    case PT_CONFIG_OTHER:
        break;
    }
    return set < 0 ? wrong_value(key, where, item, err) : 0;
}

/* Numbers of options as JSON has them; milliseconds may have a unit, as `run --interval` understands them. */
static cJSON *item_of_text(const struct pt_config_key *key, const char *text)
{
    struct pt_error ignored = {0};
    pt_u64 count;
    pt_i64 ns;
    if (key->type == PT_CONFIG_COUNT || key->type == PT_CONFIG_NUMBER) {
        if (pt_parse_count(text, &count, &ignored) == 0)
            return cJSON_CreateNumber((double)count);
        if (key->type == PT_CONFIG_NUMBER && pt_parse_milliseconds(text, &ns, &ignored) == 0)
            return cJSON_CreateNumber((double)ns / 1e6);
    }
    return cJSON_CreateString(text);
}

int pt_config_set_text(struct pt_config *config, const struct pt_config_key *key, const char *text, void *fields,
                       const char *where, struct pt_error *err)
{
    /* It goes into JSON documents: the temporary configuration, the report. A path goes only to the kernel. */
    if (key->type != PT_CONFIG_PATH && !pt_utf8_valid(text))
        return pt_fail_code(err, 2, "%s: expected text in UTF-8, found other bytes", where);
    cJSON *item = item_of_text(key, text);
    const int set = pt_config_set(config, key, item, fields, where, err);
    cJSON_Delete(item);
    return set;
}

void pt_config_defaults(enum pt_config_section section, void *fields)
{
    for (const struct pt_config_key *key = pt_config_keys; key->name; key++) {
        void *field = (char *)fields + key->offset;
        if (key->section != section)
            continue;
        if (key->type == PT_CONFIG_NUMBER)
            *(double *)field = *key->fallback ? strtod(key->fallback, NULL) : NAN;
        else if (key->type == PT_CONFIG_COUNT)
            *(pt_u64 *)field = strtoull(key->fallback, NULL, 10);
        else if (key->type == PT_CONFIG_SWITCH)
            *(bool *)field = !strcmp(key->fallback, "true");
        else if (key->type == PT_CONFIG_TEXT || key->type == PT_CONFIG_HEAP)
            *(const char **)field = *key->fallback ? key->fallback : NULL;
    }
}
