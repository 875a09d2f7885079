/* SPDX-License-Identifier: MIT
 *
 * config_section.h - an object of the configuration, key by key.
 */
#ifndef PT_PIPELINE_CONFIG_SECTION_H
#define PT_PIPELINE_CONFIG_SECTION_H

#include "config_keys.h"

/* An object with the keys of a section. Unknown keys become warnings. */
int pt_config_read_section(struct pt_config *config, enum pt_config_section section, const cJSON *object, void *fields,
                           const char *where, struct pt_error *err);
/* The member of a top-level object; *ret_item is NULL when there is none, or null. -1 when it is there but no object.
 */
int pt_config_object(const cJSON *json, const char *name, const cJSON **ret_item, struct pt_error *err);

#endif
