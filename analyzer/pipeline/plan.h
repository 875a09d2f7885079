/* SPDX-License-Identifier: MIT
 *
 * plan.h - what a pipeline is going to do, known before anything runs: each stage, its program, or why it is skipped.
 */
#ifndef PT_PIPELINE_PLAN_H
#define PT_PIPELINE_PLAN_H

#include "launcher/target.h"
#include "config.h"

struct pt_planned {
    const struct pt_config_stage *stage;
    struct pt_target target; /* where stage->skip is NULL */
};

struct pt_plan {
    PT_VEC(struct pt_planned);
    struct {
        PT_VEC(char *);
    } problems; /* of several stages, one line each: together they are too long for one */
};

/* Look every command up. -1 with exit code 2: the error names the one stage that cannot be run, or says how many;
 * then ret_plan->problems holds them all, until pt_plan_fini. */
int pt_plan_make(const struct pt_config *config, struct pt_plan *ret_plan, struct pt_error *err);
void pt_plan_fini(struct pt_plan *plan);

/* The plan as text for people: one line per stage. */
void pt_plan_show(const struct pt_config *config, const struct pt_plan *plan, struct pt_str *out);

#endif
