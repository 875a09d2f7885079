/* SPDX-License-Identifier: MIT
 *
 * config.c - Owns: the memory of a configuration, and its warnings. Threads: main only. Never: prints a warning, it
 * only keeps it.
 */
#include "config.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/auto.h"

enum { MAX_WARNINGS = 20 };

void pt_config_warn(struct pt_config *config, const char *format, ...)
{
    va_list arguments;
    char text[1000];
    if (config->warnings.n > MAX_WARNINGS)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (config->warnings.n == MAX_WARNINGS)
        snprintf(text, sizeof text, "%s: there are more warnings; they are left out", config->path);
    pt_vec_push(&config->warnings, pt_strdup(text));
}

const char *pt_config_keep(struct pt_config *config, const char *text)
{
    return pt_arena_text(&config->arena, text, strlen(text));
}

const char *pt_config_keep_path(struct pt_config *config, const char *path)
{
    char cwd[PATH_MAX];
    if (*path == '/' || !getcwd(cwd, sizeof cwd))
        return pt_config_keep(config, path);
    PT_AUTO(pt_freep) char *absolute = pt_asprintf("%s%s%s", cwd, cwd[1] ? "/" : "", path);
    return pt_config_keep(config, absolute);
}

void pt_config_free(struct pt_config *config)
{
    if (!config)
        return;
    for (size_t i = 0; i < config->stages.n; i++)
        free(config->stages.items[i].env.items);
    for (size_t i = 0; i < config->warnings.n; i++)
        free(config->warnings.items[i]);
    free(config->stages.items);
    free(config->warnings.items);
    free(config->quality.min.items);
    pt_str_fini(&config->text);
    pt_arena_fini(&config->arena);
    free(config);
}
