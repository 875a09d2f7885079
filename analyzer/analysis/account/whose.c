/* SPDX-License-Identifier: MIT
 *
 * Owns: what the processes of a critical path are called. Threads: one. Never: shows more of a command than its
 * program.
 */
#include "whose.h"

#include <string.h>

#include "util/text/path.h"

/* Less than this is a step on the way: a helper of a moment. */
#define LEAST_SHARE 0.02

/* The script, module or subcommand that a program was given; "" = none. */
static const char *given_to(struct pt_profile *profile, const struct pt_process *process)
{
    for (int i = 1; i < process->argc; i++) {
        const char *word = process->argv[i];
        if (!strcmp(word, "-c") || !strcmp(word, "-e")) /* the code itself may be anything */
            return pt_metrics_format(&profile->metrics, " %s", word);
        if (!strcmp(word, "-m") && i + 1 < process->argc)
            return pt_metrics_format(&profile->metrics, " -m %.80s", process->argv[i + 1]);
        if (*word != '-')
            return pt_metrics_format(&profile->metrics, " %.80s", pt_base_name(word));
    }
    return "";
}

/* "python3 train.py (rank 1)". */
static const char *program_of(struct pt_profile *profile, const struct pt_process *process)
{
    const char *name = process->comm ? process->comm : pt_base_name(process->exe), *given = given_to(profile, process);
    const char *rank =
        process->rank < 0 ? "" : pt_metrics_format(&profile->metrics, " (rank %lld)", (long long)process->rank);
    /* A script that is a program of its own, as torchrun, has given its name to the process. */
    return pt_metrics_format(&profile->metrics, "%s%s%s", name, *given && !strcmp(given + 1, name) ? "" : given, rank);
}

/* Whoever did most of the work. */
static const struct pt_process *worker_of(const struct pt_account *account, pt_u32 stage)
{
    const struct pt_critical_paths *paths = account->facts->paths;
    const struct pt_critical_path *path = &paths->stages[stage];
    const struct pt_process *best = NULL;
    for (size_t i = 0; path->has_launchers && i < path->n; i++) {
        const struct pt_process *process = path->items[i].process;
        if (!pt_path_is_launcher(paths, process) &&
            (!best || paths->processes[process->index].on_path_ns > paths->processes[best->index].on_path_ns))
            best = process;
    }
    return best;
}

/* How many others did a part of the work. */
static pt_u32 others(const struct pt_account *account, pt_u32 stage, const struct pt_process *longest)
{
    const struct pt_session *session = account->profile->session;
    const struct pt_critical_paths *paths = account->facts->paths;
    const double wall_ns = (double)pt_profile_stage_wall_ns(account->profile, stage);
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        n += process->pid != longest->pid && pt_account_is_critical(account, stage, process) &&
             !pt_path_is_launcher(paths, process) && (double)paths->processes[i].on_path_ns >= LEAST_SHARE * wall_ns;
    }
    return n;
}

void pt_account_set_whose(struct pt_account *account, pt_u32 stage)
{
    struct pt_profile *profile = account->profile;
    const struct pt_process *root = profile->stages.items[stage].root, *worker = worker_of(account, stage);
    if (!worker || worker->pid == root->pid)
        return;
    const pt_u32 n = others(account, stage, worker);
    const char *more = !n ? "" : pt_metrics_format(&profile->metrics, " and %u other%s", n, n > 1 ? "s" : "");
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "account.of",
                   pt_text(pt_metrics_format(&profile->metrics, "%s%s, started by %s", program_of(profile, worker),
                                             more, program_of(profile, root))));
}
