/* SPDX-License-Identifier: MIT
 *
 * config_section.c - Owns: the walk over the keys of a section: known ones, those given twice, unknown ones. Threads:
 * main only. Never: prints a warning: it only keeps it.
 */
#include "config_section.h"

#include <string.h>

#include "util/auto.h"
#include "util/nearest.h"

enum {
    MANY_KEYS = 64,      /* of a section: more than the table has */
    SHOWN_BYTES = 80,    /* of a name in a message */
    MAX_MEMBERS = 10000, /* of an object in `profile`: each is compared with each */
};

/* Two members of the same name: readers disagree about which one counts. */
static int check_twice(const cJSON *object, const char *where, struct pt_error *err)
{
    const cJSON *item;
    if (cJSON_GetArraySize(object) > MAX_MEMBERS)
        return pt_fail_code(err, 2, "%s has more than %d members; is this the right file?", where, MAX_MEMBERS);
    cJSON_ArrayForEach(item, object)
    {
        if (cJSON_GetObjectItemCaseSensitive(object, item->string) != item)
            return pt_fail_code(err, 2, "%s.%.*s is given twice; remove one", where, SHOWN_BYTES, item->string);
    }
    return 0;
}

static void warn_unknown(struct pt_config *config, enum pt_config_section section, const char *name, const char *where)
{
    const char *names[MANY_KEYS + 1];
    PT_AUTO(pt_str_fini) struct pt_str known = {0};
    size_t n = 0;
    for (const struct pt_config_key *key = pt_config_keys; key->name && n < MANY_KEYS; key++)
        if (key->section == section) {
            names[n++] = key->name;
            pt_str_printf(&known, "%s%s", n > 1 ? ", " : "", key->name);
        }
    names[n] = NULL;
    const char *nearest = pt_nearest_name(name, names);
    if (nearest)
        pt_config_warn(config, "%s: %s.%.*s is not known and ignored; did you mean '%s'?", config->path, where,
                       SHOWN_BYTES, name, nearest);
    else
        pt_config_warn(config, "%s: %s.%.*s is not known and ignored; known are %s", config->path, where, SHOWN_BYTES,
                       name, pt_str_text(&known));
}

int pt_config_read_section(struct pt_config *config, enum pt_config_section section, const cJSON *object, void *fields,
                           const char *where, struct pt_error *err)
{
    const cJSON *item;
    if (check_twice(object, where, err) < 0)
        return -1;
    cJSON_ArrayForEach(item, object)
    {
        const struct pt_config_key *key = pt_config_key(section, item->string);
        if (!key) {
            warn_unknown(config, section, item->string, where);
            continue;
        }
        PT_AUTO(pt_freep) char *place = pt_asprintf("%s.%s", where, key->name);
        if (cJSON_IsObject(item) && check_twice(item, place, err) < 0)
            return -1;
        /* Programs that write configurations write null for what is not set. */
        if (!cJSON_IsNull(item) && pt_config_set(config, key, item, fields, place, err) < 0)
            return -1;
    }
    return 0;
}

int pt_config_object(const cJSON *json, const char *name, const cJSON **ret_item, struct pt_error *err)
{
    const cJSON *item;
    bool is_given = false;
    *ret_item = NULL;
    cJSON_ArrayForEach(item, json)
    {
        if (strcmp(item->string, name) != 0)
            continue;
        if (is_given)
            return pt_fail_code(err, 2, "%s is given twice; remove one", name);
        is_given = true;
        if (cJSON_IsNull(item)) /* as Hydra and pydantic write a section that is not set */
            continue;
        if (!cJSON_IsObject(item))
            return pt_config_wrong(name, "an object", item, err);
        *ret_item = item;
    }
    return 0;
}
