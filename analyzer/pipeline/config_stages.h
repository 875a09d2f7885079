/* SPDX-License-Identifier: MIT
 *
 * config_stages.h - which stages there are, and which of them are run.
 */
#ifndef PT_PIPELINE_CONFIG_STAGES_H
#define PT_PIPELINE_CONFIG_STAGES_H

#include <cjson/cJSON.h>

#include "config.h"

/* Names of stages as they were typed, with commas between them; NULL = not given. */
struct pt_config_selection {
    const char *only, *skip, *from;
};

/* The stages of a list; NULL = those of the default table. */
int pt_config_stages(struct pt_config *config, const cJSON *list, struct pt_error *err);
/* Which of them are run. */
int pt_config_select(struct pt_config *config, const struct pt_config_selection *selection, struct pt_error *err);

#endif
