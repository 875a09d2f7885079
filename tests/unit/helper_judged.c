/* SPDX-License-Identifier: MIT
 *
 * helper_judged.c - Owns: nothing. Threads: one. Never: judges: that is what the tests do.
 */
#include "helper_judged.h"

#include <stdlib.h>
#include <string.h>

struct judged_stage *judged_new(double seconds)
{
    static const struct pt_heap_totals heap = {.allocs = 5};
    struct judged_stage *w = calloc(1, sizeof *w);
    w->processes[0] = &w->process;
    w->process.session = &w->session;
    w->process.end_ns = (pt_i64)(seconds * 1e9);
    w->process.stage = "train";
    w->process.heap = &heap;
    w->session.duration_ns = w->process.end_ns;
    w->session.processes = w->processes;
    w->session.n_processes = 1;
    w->profile.session = &w->session;
    pt_stages_build(&w->profile.stages, &w->session, NULL);
    judged_set(w, "capture.total", 5);
    return w;
}

void judged_free(struct judged_stage *w)
{
    pt_findings_free(&w->findings);
    pt_profile_free(&w->profile);
    free(w);
}

void judged_set(struct judged_stage *w, const char *metric, double number)
{
    pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), metric, pt_real(number));
}

const struct pt_finding *judged_find(const struct judged_stage *w, const char *rule)
{
    for (size_t i = 0; i < w->findings.n; i++)
        if (!strcmp(w->findings.items[i].rule, rule))
            return &w->findings.items[i];
    return NULL;
}
