/* SPDX-License-Identifier: MIT
 *
 * Owns: which members a run of a baseline's file must have, and of which type. Threads: any. Never: takes what would be
 * passed over later: a figure without meaning judges nothing.
 */
#include "entry.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/mem.h"

#define MOST 9007199254740992.0 /* 2^53: beyond it a number is not exact, and no count of a run */

static int by_key(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *pt_json_repeated_key(const cJSON *object)
{
    const size_t n = (size_t)cJSON_GetArraySize(object);
    PT_AUTO(pt_freep) const char **keys = pt_calloc(n + 1, sizeof *keys);
    const cJSON *member;
    size_t i = 0;
    if (!cJSON_IsObject(object))
        return NULL;
    cJSON_ArrayForEach(member, object)
    {
        keys[i++] = member->string;
    }
    qsort(keys, n, sizeof *keys, by_key);
    for (i = 1; i < n; i++)
        if (!strcmp(keys[i - 1], keys[i]))
            return keys[i];
    return NULL;
}

static bool is_amount(const cJSON *value)
{
    return cJSON_IsNumber(value) && isfinite(value->valuedouble) && value->valuedouble >= 0 &&
           value->valuedouble <= MOST;
}

/* "2026-01-02", and whatever time follows: they are ordered as texts. */
static bool is_time(const cJSON *value)
{
    static const char form[] = "0000-00-00";
    const char *text = cJSON_GetStringValue(value);
    for (size_t i = 0; text && i < sizeof form - 1; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return text != NULL;
}

static bool is_text(const cJSON *value)
{
    return cJSON_IsString(value);
}

/* Texts that say why a figure is not known. */
static bool is_reasons(const cJSON *value)
{
    const cJSON *reason;
    if (!cJSON_IsObject(value) || pt_json_repeated_key(value))
        return false;
    cJSON_ArrayForEach(reason, value)
    {
        if (!cJSON_IsString(reason))
            return false;
    }
    return true;
}

static bool is_figures(const cJSON *value)
{
    const cJSON *figure;
    if (!cJSON_IsObject(value) || !value->child || pt_json_repeated_key(value))
        return false;
    cJSON_ArrayForEach(figure, value)
    {
        if (!is_amount(figure))
            return false;
    }
    return true;
}

const char *pt_entry_fault(const cJSON *entry)
{
    static const struct {
        const char *key;
        bool (*is_good)(const cJSON *value);
        bool may_lack; /* or be null */
        const char *fault;
    } members[] = {
        {"run", is_text, false, "has no name"},
        {"figures", is_figures, false, "has no figures that are numbers, from 0 to 2^53 and each once"},
        {"unknown", is_reasons, true, "has reasons for unknown figures that are no texts"},
        {"at_utc", is_time, true, "has a time that is none: \"2026-01-02T03:04:05Z\""},
        {"commit", is_text, true, "has a commit that is no text"},
        {"host", is_text, true, "has a host that is no text"},
        {"tool", is_text, true, "has a tool that is no text"},
        {"dataset", is_text, true, "has a dataset that is no text"},
        {"cpus", is_amount, true, "has a number of CPUs that is none"},
        {"untraced", is_amount, true, "has a number of untraced processes that is none"},
    };
    if (!cJSON_IsObject(entry))
        return "is no object";
    if (pt_json_repeated_key(entry))
        return "has a member twice";
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(entry, members[i].key);
        if (members[i].may_lack && (!value || cJSON_IsNull(value)))
            continue;
        if (!members[i].is_good(value))
            return members[i].fault;
    }
    return NULL;
}
