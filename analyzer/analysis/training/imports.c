/* SPDX-License-Identifier: MIT
 *
 * Owns: what importing modules costs a stage. Threads: one, after the last event. Never: counts what ranks and workers
 * import at the same time more than once; takes what a launcher has to import itself for a repetition.
 */
#include "imports.h"

#include <math.h>
#include <stdlib.h>

#include "facts/path/critical_path.h"
#include "facts/state.h"
#include "facts/workers.h"
#include "util/map.h"
#include "util/text/fmt.h"

enum { MOST_IMPORTS = 2 };

/* "torch 1.65 s, pandas 420 ms": those that took most, with what they import in turn; without times where they are of
 * several processes. */
static const char *text_of(struct pt_metrics *metrics, const struct pt_phase_sums *sums, pt_u32 stage, bool has_times)
{
    const struct pt_named_phase *most[MOST_IMPORTS] = {0};
    for (size_t i = 0; i < sums->named.n; i++) {
        const struct pt_named_phase *one = &sums->named.items[i];
        for (int j = 0; one && one->kind == PT_PHASE_import && one->stage == stage && j < MOST_IMPORTS; j++)
            if (!most[j] || one->sum.total_ns > most[j]->sum.total_ns) {
                const struct pt_named_phase *next = most[j];
                most[j] = one;
                one = next;
            }
    }
    const char *text = NULL;
    for (int j = 0; j < MOST_IMPORTS && most[j]; j++)
        text = pt_metrics_format(metrics, "%s%s%s%s%s", text ? text : "", text ? ", " : "", most[j]->name,
                                 has_times ? " " : "", has_times ? pt_fmt_duration(most[j]->sum.total_ns).text : "");
    return text;
}

/* Processes that run the same script. */
struct script {
    double all_ns, most_ns;
};

struct scripts {
    PT_VEC(struct script);
    struct pt_map by_name; /* the address of the interned name -> index, plus 1 */
    struct pt_intern names;
};

static void add(struct scripts *scripts, const struct pt_process *process, double ns)
{
    const char *name = pt_script_of(process);
    if (!*name || process->state == PT_PROCESS_EXECED) /* it goes on as another image of itself */
        return;
    pt_u64 *slot = pt_map_at(&scripts->by_name, (pt_u64)(uintptr_t)pt_intern_text(&scripts->names, name));
    if (!*slot) {
        pt_vec_push(scripts, (struct script){0});
        *slot = scripts->n;
    }
    struct script *script = &scripts->items[*slot - 1];
    script->all_ns += ns;
    script->most_ns = fmax(script->most_ns, ns);
}

/* What all but one of the same script could have done without. */
static double again_ns(struct scripts *scripts)
{
    double ns = 0;
    for (size_t i = 0; i < scripts->n; i++)
        ns += scripts->items[i].all_ns - scripts->items[i].most_ns;
    free(scripts->items);
    pt_map_fini(&scripts->by_name);
    pt_intern_fini(&scripts->names);
    return ns;
}

/* Of the processes on the critical path, which follow each other; ranks and workers import at the same time. */
void pt_training_imports(struct pt_profile *profile, const struct pt_phase_sums *sums, pt_u32 stage)
{
    const struct pt_critical_paths *paths = profile->facts->paths;
    struct scripts scripts = {0};
    double all_ns = 0;
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < sums->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        const struct pt_phase_process *phases = sums->processes[i];
        if (!phases || pt_profile_stage_of(profile, process) != stage || !phases->sums[PT_PHASE_import].calls)
            continue;
        n++;
        if (!pt_path_has(paths, process))
            continue;
        const double ns = pt_path_share(paths, process) * fmin((double)phases->sums[PT_PHASE_import].total_ns,
                                                               (double)(process->end_ns - process->start_ns));
        all_ns += ns;
        if (!pt_path_is_launcher(paths, process))
            add(&scripts, process, ns);
    }
    const double repeated_ns = again_ns(&scripts);
    const char *text = all_ns > 0 ? text_of(&profile->metrics, sums, stage, n == 1) : NULL;
    const struct pt_scope scope = pt_scope_stage(stage);
    if (!text)
        return;
    pt_metrics_set(&profile->metrics, scope, "python.imports.total_s", pt_real(all_ns / 1e9));
    pt_metrics_set(&profile->metrics, scope, "python.imports.again_s", pt_real(repeated_ns / 1e9));
    pt_metrics_set(&profile->metrics, scope, "python.imports.most", pt_text(text));
}
