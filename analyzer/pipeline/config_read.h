/* SPDX-License-Identifier: MIT
 *
 * config_read.h - from the user's configuration, the environment and the options to what a pipeline is.
 */
#ifndef PT_PIPELINE_CONFIG_READ_H
#define PT_PIPELINE_CONFIG_READ_H

#include "config_stages.h"

/* The options of `proftrace pipeline` as they were typed; NULL = not given. Values are checked here, so that an option
 * and its key have the same limits. */
struct pt_config_overrides {
    const char *dataset, *train_epochs, *interval, *heap, *report_dir;
    const char *default_report_dir; /* where the configuration names none, either */
    struct pt_config_selection stages;
    bool no_gpu_sampling;
};

/* -1 = error, and nothing needs to be released. */
int pt_config_read(const char *path, const struct pt_config_overrides *overrides, struct pt_config **ret_config,
                   struct pt_error *err);

#endif
