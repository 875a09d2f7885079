/* SPDX-License-Identifier: MIT
 *
 * config_stages.c - Owns: which stages there are and which of them are selected. Threads: main only. Never: searches
 * for the commands: plan.c does that before the first one runs.
 */
#include "config_stages.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/limits.h"
#include "run_file/run_file.h"
#include "util/auto.h"
#include "util/nearest.h"
#include "util/text/utf8.h"
#include "config_section.h"

/* The table of the pipeline's document. */
static const struct {
    const char *name, *command, *skip;
} default_stages[] = {
    {"fetch-dataset", "dataset-fetcher", NULL}, {"fetch-dinov3", "dinov3-fetcher", NULL},
    {"label-targets", NULL, "requires GUI"},    {"generate-dataset", "dataset-generator", NULL},
    {"check-dataset", "augment-checker", NULL}, {"train", "detector-train", NULL},
    {"infer", "detector-infer", NULL},          {"eval", "detector-grader", NULL},
    {"review", NULL, "requires GUI"},
};

static void use_default_stages(struct pt_config *config)
{
    for (size_t i = 0; i < sizeof default_stages / sizeof default_stages[0]; i++) {
        struct pt_config_stage stage = {.name = default_stages[i].name, .skip = default_stages[i].skip};
        pt_config_defaults(PT_CONFIG_STAGE, &stage);
        stage.name = default_stages[i].name;
        if (default_stages[i].command) {
            const char *const command[] = {default_stages[i].command, "--config", "{config}", NULL};
            stage.command = pt_arena_alloc(&config->arena, sizeof command);
            memcpy(stage.command, command, sizeof command);
        }
        stage.skip = default_stages[i].skip;
        pt_vec_push(&config->stages, stage);
    }
}

/* It becomes a row of a table, a line of the progress and the name of a log file. */
static const char *name_problem(const char *name)
{
    const size_t length = strlen(name);
    if (length > PT_STAGE_MAX_BYTES)
        return "is too long; use at most " PT_LIMIT_TEXT(PT_STAGE_MAX_BYTES) " bytes";
    if (strchr(name, '/'))
        return "must not hold a /, for it names a log file; use another character";
    if (strchr(name, ','))
        return "must not hold a comma, for --only and --skip take names with commas between; use another character";
    for (size_t at = 0, step; at < length; at += step) {
        uint32_t code = 0;
        step = pt_utf8_next(name + at, length - at, &code);
        if (!step)
            return "is not UTF-8";
        if (code < 0x20 || (code >= 0x7f && code < 0xa0))
            return "must not hold control characters; remove them";
    }
    return NULL;
}

/* By the stage's name run.json and the traces know that they are of one stage. */
static void check_environment(struct pt_config *config, const struct pt_config_stage *stage, const char *where)
{
    for (size_t i = 0; i < stage->env.n; i++)
        if (!strcmp(stage->env.items[i].name, "PROFTRACE_STAGE"))
            pt_config_warn(config,
                           "%s: %s.env.PROFTRACE_STAGE has no effect: the stage is called '%s'; change its name",
                           config->path, where, stage->name);
}

static int check_stage(const struct pt_config *config, const struct pt_config_stage *stage, const char *where,
                       struct pt_error *err)
{
    if (!stage->name)
        return pt_fail_code(err, 2, "%s.stage is missing; give the stage a name", where);
    const char *problem = name_problem(stage->name);
    if (problem)
        return pt_fail_code(err, 2, "%s.stage: the name %s", where, problem);
    for (size_t i = 0; i < config->stages.n; i++)
        if (!strcmp(config->stages.items[i].name, stage->name))
            return pt_fail_code(err, 2, "%s.stage: '%s' is the name of profile.stages[%zu], too; rename one", where,
                                stage->name, i);
    if (stage->command && stage->skip)
        return pt_fail_code(err, 2, "%s: '%s' has both cmd and skip; remove one (--skip leaves a stage out once)",
                            where, stage->name);
    if (!stage->command && !stage->skip)
        return pt_fail_code(err, 2, "%s: '%s' has neither cmd nor skip; add \"cmd\": [\"...\"] or \"skip\": \"why\"",
                            where, stage->name);
    if (stage->command && (!stage->command[0] || !*stage->command[0]))
        return pt_fail_code(err, 2, "%s.cmd is empty; its first string names the program to run", where);
    return 0;
}

static int read_stage(struct pt_config *config, const cJSON *item, struct pt_error *err)
{
    struct pt_config_stage stage = {0};
    PT_AUTO(pt_freep) char *where = pt_asprintf("profile.stages[%zu]", config->stages.n);
    if (!cJSON_IsObject(item))
        return pt_config_wrong(where, "a stage (an object)", item, err);
    pt_config_defaults(PT_CONFIG_STAGE, &stage);
    if (pt_config_read_section(config, PT_CONFIG_STAGE, item, &stage, where, err) < 0 ||
        check_stage(config, &stage, where, err) < 0) {
        free(stage.env.items);
        return -1;
    }
    check_environment(config, &stage, where);
    pt_vec_push(&config->stages, stage);
    return 0;
}

int pt_config_stages(struct pt_config *config, const cJSON *list, struct pt_error *err)
{
    const cJSON *item;
    if (!list || cJSON_IsNull(list)) {
        use_default_stages(config);
        return 0;
    }
    if (!cJSON_IsArray(list))
        return pt_config_wrong("profile.stages", "a list of stages", list, err);
    if (!list->child)
        return pt_fail_code(err, 2, "profile.stages is empty; add a stage, or leave it out for the default stages");
    cJSON_ArrayForEach(item, list)
    {
        if (config->stages.n == PT_RUN_MOST_STAGES)
            return pt_fail_code(err, 2, "profile.stages: more than %d stages; join some", PT_RUN_MOST_STAGES);
        if (read_stage(config, item, err) < 0)
            return -1;
    }
    return 0;
}

static int unknown_stage(const struct pt_config *config, const char *name, const char *option, struct pt_error *err)
{
    PT_AUTO(pt_freep) const char **names = pt_calloc(config->stages.n + 1, sizeof *names);
    PT_AUTO(pt_str_fini) struct pt_str known = {0};
    for (size_t i = 0; i < config->stages.n; i++) {
        names[i] = config->stages.items[i].name;
        pt_str_printf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    const char *nearest = pt_nearest_name(name, names);
    if (nearest)
        return pt_fail_code(err, 2, "option '%s': there is no stage '%.80s'; did you mean '%s'?", option, name,
                            nearest);
    return pt_fail_code(err, 2, "option '%s': there is no stage '%.80s'; there are %s", option, name,
                        pt_str_text(&known));
}

/* Mark the stages that a list names; -1 when it names an unknown one. */
static int mark_stages(const struct pt_config *config, const char *list, const char *option, bool *marks,
                       struct pt_error *err)
{
    for (const char *name = list;; name++) {
        const size_t length = strcspn(name, ",");
        size_t i = 0;
        while (i < config->stages.n && (strlen(config->stages.items[i].name) != length ||
                                        memcmp(config->stages.items[i].name, name, length) != 0))
            i++;
        if (i == config->stages.n) {
            PT_AUTO(pt_freep) char *unknown = pt_asprintf("%.*s", (int)length, name);
            return unknown_stage(config, unknown, option, err);
        }
        marks[i] = true;
        name += length;
        if (!*name)
            return 0;
    }
}

/* Skip the stages whose mark is `marked`, unless they are skipped already. */
static int leave_out(struct pt_config *config, const char *list, const char *option, bool marked, const char *reason,
                     struct pt_error *err)
{
    PT_AUTO(pt_freep) bool *marks = pt_calloc(config->stages.n, sizeof *marks);
    if (!list)
        return 0;
    if (mark_stages(config, list, option, marks, err) < 0)
        return -1;
    if (!strcmp(option, "--from"))
        for (size_t i = 1; i < config->stages.n; i++)
            marks[i] = marks[i] || marks[i - 1];
    for (size_t i = 0; i < config->stages.n; i++)
        if (marks[i] == marked && !config->stages.items[i].skip)
            config->stages.items[i].skip = reason;
    return 0;
}

int pt_config_select(struct pt_config *config, const struct pt_config_selection *selection, struct pt_error *err)
{
    if (selection->from && strchr(selection->from, ','))
        return pt_fail_code(err, 2, "option '--from' takes one stage, not a list");
    if (leave_out(config, selection->only, "--only", false, "not selected (--only)", err) < 0 ||
        leave_out(config, selection->skip, "--skip", true, "not selected (--skip)", err) < 0 ||
        leave_out(config, selection->from, "--from", false, "not selected (--from)", err) < 0)
        return -1;
    for (size_t i = 0; i < config->stages.n; i++)
        if (!config->stages.items[i].skip)
            return 0;
    pt_config_warn(config, "%s: every stage is skipped: nothing will run", config->path);
    return 0;
}
