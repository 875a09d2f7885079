/* SPDX-License-Identifier: MIT
 *
 * quality_find.c - Owns: how a key is looked up in a grade report. Threads: any. Never: recurses, chooses between two
 * values.
 */
#include "quality_find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/json/json_text.h"
#include "util/mem.h"
#include "document.h"

/* The members that have the name, anywhere. */
struct search {
    const char *name;
    const cJSON *found; /* the first */
    size_t count;
    struct pt_str places; /* of the first few */
};

enum { SHOWN_PLACES = 3, SHOWN_BYTES = 60 };

static const cJSON *child_of(const cJSON *parent, const char *name, size_t length)
{
    PT_AUTO(pt_freep) char *segment = pt_asprintf("%.*s", (int)length, name);
    if (cJSON_IsObject(parent))
        return cJSON_GetObjectItemCaseSensitive(parent, segment);
    char *end = segment;
    const unsigned long index = *segment >= '0' && *segment <= '9' ? strtoul(segment, &end, 10) : 0;
    const bool is_index = end != segment && !*end && index < 1u << 30;
    return cJSON_IsArray(parent) && is_index ? cJSON_GetArrayItem(parent, (int)index) : NULL;
}

static const cJSON *follow(const cJSON *json, const char *path)
{
    while (json) {
        const size_t length = strcspn(path, ".");
        json = child_of(json, path, length);
        if (!path[length])
            return json;
        path += length + 1;
    }
    return NULL;
}

static void append_name(const cJSON *item, struct pt_str *out)
{
    pt_str_printf(out, "%s%.*s", out->n ? "." : "", SHOWN_BYTES, item->string ? item->string : "[]");
}

static void note(struct search *search, const cJSON *const *way, int depth, const cJSON *item)
{
    PT_AUTO(pt_str_fini) struct pt_str place = {0};
    if (!search->count++)
        search->found = item;
    if (search->count > SHOWN_PLACES)
        return;
    for (int i = 1; i < depth; i++) /* the outermost has no name */
        append_name(way[i], &place);
    append_name(item, &place);
    pt_str_printf(&search->places, "%s%s", search->count > 1 ? ", " : "", pt_str_text(&place));
}

/* A program may write its own configuration next to its results. */
static bool holds_floors(const cJSON *const *way, int depth, const cJSON *item)
{
    const char *const names[] = {"profile", "quality"};
    bool is_below = depth > 2 && item->string && !strcmp(item->string, "min");
    for (int i = 0; is_below && i < 2; i++)
        is_below = way[depth - 2 + i]->string && !strcmp(way[depth - 2 + i]->string, names[i]);
    return is_below;
}

/* Depth first over all members, with the way down as the only memory. */
static void search_all(const cJSON *json, struct search *search)
{
    const cJSON *way[PT_JSON_TEXT_MAX_DEPTH + 2];
    int depth = 1;
    way[0] = json;
    const cJSON *item = json->child;
    while (item || depth > 1) {
        if (!item) {
            item = way[--depth]->next;
            continue;
        }
        if (item->string && !strcmp(item->string, search->name))
            note(search, way, depth, item);
        if (item->child && depth <= PT_JSON_TEXT_MAX_DEPTH && !holds_floors(way, depth, item)) {
            way[depth++] = item;
            item = item->child;
        } else {
            item = item->next;
        }
    }
}

static struct pt_quality_value number_of(const cJSON *item, const char *key)
{
    PT_AUTO(pt_str_fini) struct pt_str shown = {0};
    if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
        return (struct pt_quality_value){PT_QUALITY_THERE, item->valuedouble, NULL};
    if (cJSON_IsNull(item))
        return (struct pt_quality_value){PT_QUALITY_THERE, NAN, pt_asprintf("%.80s is null or NaN", key)};
    pt_document_describe(item, &shown);
    return (struct pt_quality_value){PT_QUALITY_UNCLEAR, NAN,
                                     pt_asprintf("%.80s: expected a number, found %s", key, pt_str_text(&shown))};
}

struct pt_quality_value pt_quality_find(const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_IsObject(json) ? cJSON_GetObjectItemCaseSensitive(json, key) : NULL;
    struct search search = {.name = key};
    if (!item)
        item = follow(json, key);
    if (item)
        return number_of(item, key);
    search_all(json, &search);
    PT_AUTO(pt_str_fini) struct pt_str places = search.places;
    if (!search.count)
        return (struct pt_quality_value){PT_QUALITY_ABSENT, NAN, pt_asprintf("has no key %.80s", key)};
    if (search.count == 1)
        return number_of(search.found, key);
    return (struct pt_quality_value){
        PT_QUALITY_UNCLEAR, NAN,
        pt_asprintf("%.80s is there %zu times (%s%s); put the one you mean into profile.quality.keys", key,
                    search.count, pt_str_text(&places), search.count > SHOWN_PLACES ? ", ..." : "")};
}
