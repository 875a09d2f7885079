/* SPDX-License-Identifier: MIT
 *
 * config_keys.h - the keys of a configuration, and how a value of each type gets into its field.
 */
#ifndef PT_PIPELINE_CONFIG_KEYS_H
#define PT_PIPELINE_CONFIG_KEYS_H

#include <cjson/cJSON.h>

#include "config.h"

enum pt_config_section { PT_CONFIG_PROFILE, PT_CONFIG_STAGE, PT_CONFIG_QUALITY, PT_CONFIG_THRESHOLDS };

enum pt_config_type {
    PT_CONFIG_TEXT,
    PT_CONFIG_PATH,
    PT_CONFIG_SWITCH,
    PT_CONFIG_COUNT,
    PT_CONFIG_NUMBER,
    PT_CONFIG_HEAP,
    PT_CONFIG_TEXTS,
    PT_CONFIG_PAIRS,
    PT_CONFIG_NUMBERS,
    PT_CONFIG_OTHER,
};

struct pt_config_key {
    enum pt_config_section section;
    const char *name;
    enum pt_config_type type;
    size_t offset; /* of the field in the section's structure */
    double low, high;
    const char *fallback, *summary;
};

extern const struct pt_config_key pt_config_keys[]; /* ends with a NULL name */

const struct pt_config_key *pt_config_key(enum pt_config_section section, const char *name);

/* Fill the structure of a section with the defaults of its keys. */
void pt_config_defaults(enum pt_config_section section, void *fields);
/* Set the key's field in `fields` from a JSON value. `where` names it in errors. */
int pt_config_set(struct pt_config *config, const struct pt_config_key *key, const cJSON *item, void *fields,
                  const char *where, struct pt_error *err);
/* Set it from a text: an option or a variable, named by `where`. */
int pt_config_set_text(struct pt_config *config, const struct pt_config_key *key, const char *text, void *fields,
                       const char *where, struct pt_error *err);
/* "WHERE: expected EXPECTED, found FOUND". */
int pt_config_wrong(const char *where, const char *expected, const cJSON *found, struct pt_error *err);

#endif
