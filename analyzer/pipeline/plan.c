/* SPDX-License-Identifier: MIT
 *
 * plan.c - Owns: the check of a pipeline's commands before the first one runs. Threads: main only. Never: runs a
 * command, makes a file.
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/redact.h"
#include "util/text/sanitize.h"
#include "stage_command.h"

static const char *variable(const struct pt_config_stage *stage, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < stage->env.n; i++)
        if (!strcmp(stage->env.items[i].name, name))
            value = stage->env.items[i].value;
    return value;
}

/* The command as it will be called: its name, too, may have what is replaced. What is known only when it runs stays. */
static char **command_of(const struct pt_config *config, const struct pt_config_stage *stage)
{
    const struct pt_stage_tokens tokens = {
        .config = "{config}",
        .dataset = config->dataset,
        .report_dir = config->report_dir ? config->report_dir : "{report_dir}",
        .train_epochs = config->train_epochs,
    };
    return pt_stage_command(stage->command, &tokens);
}

int pt_plan_make(const struct pt_config *config, struct pt_plan *ret_plan, struct pt_error *err)
{
    *ret_plan = (struct pt_plan){0};
    for (size_t i = 0; i < config->stages.n; i++) {
        const struct pt_config_stage *stage = &config->stages.items[i];
        const struct pt_target_place place = {variable(stage, "PATH"), stage->cwd};
        pt_vec_push(ret_plan, (struct pt_planned){.stage = stage});
        struct pt_error problem = {0};
        if (stage->skip)
            continue;
        PT_AUTO(pt_freep) char **command = command_of(config, stage);
        if (pt_target_inspect(command[0], &place, &ret_plan->items[i].target, &problem) < 0)
            pt_vec_push(&ret_plan->problems, pt_asprintf("stage '%s': %s", stage->name, problem.text));
    }
    const size_t n = ret_plan->problems.n;
    if (!n)
        return 0;
    if (n > 1)
        return pt_fail_code(err, 2,
                            "nothing was run: %zu of %zu stages cannot be started; correct them, or leave them "
                            "out with --skip or --only",
                            n, config->stages.n);
    pt_fail_code(err, 2, "nothing was run: %s", ret_plan->problems.items[0]);
    pt_plan_fini(ret_plan);
    return -1;
}

void pt_plan_fini(struct pt_plan *plan)
{
    for (size_t i = 0; i < plan->problems.n; i++)
        free(plan->problems.items[i]);
    free(plan->problems.items);
    free(plan->items);
    *plan = (struct pt_plan){0};
}

static void show_command(const struct pt_config_stage *stage, struct pt_str *out)
{
    struct pt_redact_line line = {0};
    for (size_t i = 0; stage->command[i]; i++) {
        PT_AUTO(pt_freep) char *word = pt_redacted(stage->command[i], &line);
        pt_str_add(out, i ? " " : "");
        pt_sanitize_terminal(out, word ? word : PT_REDACT_MASK);
    }
}

static size_t name_width(const struct pt_plan *plan)
{
    size_t width = 0;
    for (size_t i = 0; i < plan->n; i++) {
        PT_AUTO(pt_str_fini) struct pt_str name = {0};
        pt_sanitize_terminal(&name, plan->items[i].stage->name);
        width = name.n > width ? name.n : width;
    }
    return width < 40 ? width : 40;
}

void pt_plan_show(const struct pt_config *config, const struct pt_plan *plan, struct pt_str *out)
{
    pt_str_add(out, "dataset ");
    pt_sanitize_terminal(out, config->dataset);
    pt_str_printf(out, ", %llu epochs, a sample every %g ms, heap %s\n", (unsigned long long)config->train_epochs,
                  config->interval_ms, config->heap);
    const size_t width = name_width(plan);
    for (size_t i = 0; i < plan->n; i++) {
        const struct pt_planned *planned = &plan->items[i];
        PT_AUTO(pt_str_fini) struct pt_str name = {0};
        pt_sanitize_terminal(&name, planned->stage->name);
        pt_str_printf(out, "%2zu  %-*s  ", i + 1, (int)width, pt_str_text(&name));
        if (planned->stage->skip) {
            pt_str_add(out, "skipped: ");
            pt_sanitize_terminal(out, planned->stage->skip);
        } else {
            show_command(planned->stage, out);
            if (!isnan(planned->stage->timeout_s))
                pt_str_printf(out, "  (timeout %g s)", planned->stage->timeout_s);
            if (!planned->target.traced)
                pt_str_printf(out, "  (not traced: %s)", planned->target.reason);
        }
        pt_str_add(out, "\n");
    }
}
