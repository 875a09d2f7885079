/* SPDX-License-Identifier: MIT
 *
 * config.h - the definition of a pipeline: the section `profile` of the user's configuration, the options and the
 * environment.
 *
 * flag > environment (PROFTRACE_INTERVAL_MS, PROFTRACE_HEAP) > configuration > default. Relative paths are relative to
 * the current directory, not to that of the file. Errors have exit code 2 and name the JSON path.
 */
#ifndef PT_PIPELINE_CONFIG_H
#define PT_PIPELINE_CONFIG_H

#include <math.h>
#include <stdbool.h>

#include "proftrace/schema.h"
#include "run_file/run_file.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/str.h"
#include "util/vec.h"

struct pt_config_pair {
    const char *name, *value;
};

struct pt_config_pairs {
    PT_VEC(struct pt_config_pair);
};

struct pt_config_number {
    const char *name;
    double value;
};

struct pt_config_numbers {
    PT_VEC(struct pt_config_number);
};

struct pt_config_stage {
    const char *name;
    const char *
        *command;     /* NULL-terminated, tokens not replaced yet (isolate.h); NULL when the configuration skips it */
    const char *skip; /* why it is not run: requires GUI, not selected (--only); NULL = it runs */
    double timeout_s; /* NAN = none */
    struct pt_config_pairs env;
    const char *cwd; /* absolute; NULL = where we are */
};

struct pt_config_quality {
    const char *file;  /* absolute; NULL = not given */
    const char **keys; /* NULL-terminated; NULL = not given */
    struct pt_config_numbers min;
};

struct pt_config_stages {
    PT_VEC(struct pt_config_stage);
};

struct pt_config_warnings {
    PT_VEC(char *);
};

struct pt_config {
    const char *path;     /* as the user wrote it */
    const char *absolute; /* of the same file */
    struct pt_str text;   /* the whole document, valid JSON, an object */
    const char *dataset;
    pt_u64 train_epochs;
    bool gpu_sampling;
    double interval_ms;
    pt_u64 interval_ns;             /* the same */
    const char *heap;               /* off, sampled, full */
    const char *report_dir;         /* absolute; NULL = not given */
    struct pt_config_stages stages; /* at least one */
    struct pt_config_quality quality;
    struct pt_run_thresholds thresholds;
    double carbon_intensity_g_per_kwh;  /* NAN = not given */
    struct pt_config_warnings warnings; /* one line each, for the command to sanitise and print */
    struct pt_arena arena;
};

void pt_config_free(struct pt_config *config);

static inline void pt_config_freep(struct pt_config **config)
{
    pt_config_free(*config);
}

/* A warning for the user; beyond twenty they are left out. */
__attribute__((format(printf, 2, 3))) void pt_config_warn(struct pt_config *config, const char *format, ...);
/* Copies that live as long as the configuration. */
const char *pt_config_keep(struct pt_config *config, const char *text);
const char *pt_config_keep_path(struct pt_config *config, const char *path); /* made absolute */

#endif
