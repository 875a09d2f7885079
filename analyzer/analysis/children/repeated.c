/* SPDX-License-Identifier: MIT
 *
 * Owns: which commands of a launcher are of a kind. Threads: one, after the last event. Never: counts the steps of a
 * pipeline, which need each other: these are different programs, or scripts.
 */
#include "repeated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/path/critical_path.h"

enum { MOST_WINDOWS = 4096 };
/* A command that began earlier ran beside the one before. */
#define BEGINS_NS 50000000

struct kind {
    pt_u32 n;
    pt_i64 total_ns, longest_ns;
    double cpu_ns;
};

struct kinds {
    PT_VEC(struct kind);
    struct pt_map by_name; /* launcher and interned name -> index, plus 1 */
};

static bool names_a_script(const char *word)
{
    static const char *const ends[] = {".py", ".sh", ".pl", ".rb", ".R", ".js", ".jl"};
    const char *dot = strrchr(word, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(dot, ends[i]))
            return true;
    return false;
}

/* Python is not the program: the script is, the module after -m, or the text after -c. */
static const char *name_of(struct pt_children *children, const struct pt_process *process)
{
    char name[1024];
    const char *script = "";
    for (int i = 1; i < process->argc && i < 8 && !*script; i++) {
        if (names_a_script(process->argv[i]))
            script = process->argv[i];
        else if ((!strcmp(process->argv[i], "-m") || !strcmp(process->argv[i], "-c")) && i + 1 < process->argc)
            script = process->argv[i + 1];
    }
    snprintf(name, sizeof name, "%.400s %.600s", process->exe ? process->exe : "", script);
    return pt_intern_text(&children->texts, name);
}

static void add(struct pt_children *children, struct kinds *kinds, const struct pt_process *launcher,
                const struct pt_path_window *window)
{
    const struct pt_process *command = window->child;
    const pt_i64 ns = window->until_ns - window->from_ns;
    if (pt_is_worker(command) || command->start_ns + BEGINS_NS < window->from_ns)
        return;
    command = pt_process_last_image(children->profile->session, (struct pt_process *)(uintptr_t)command);
    const pt_u64 key = (pt_u64)(uintptr_t)name_of(children, command) ^ (pt_u64)(launcher->index + 1) << 48;
    pt_u64 *slot = pt_map_at(&kinds->by_name, key);
    if (!*slot) {
        pt_vec_push(kinds, (struct kind){0});
        *slot = kinds->n;
    }
    struct kind *kind = &kinds->items[*slot - 1];
    kind->n++;
    kind->total_ns += ns;
    kind->longest_ns = ns > kind->longest_ns ? ns : kind->longest_ns;
    kind->cpu_ns += (double)command->cpu_ns;
}

struct pt_children_repeated pt_children_repeated(struct pt_children *children, pt_u32 stage)
{
    const struct pt_session *session = children->profile->session;
    const double cpus = pt_stage_number(children->profile, stage, "machine.cpus");
    struct pt_children_repeated repeated = {0};
    struct kinds kinds = {0};
    size_t n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *launcher = session->processes[i];
        const struct pt_path_windows *windows = &children->facts->paths->processes[i].windows;
        if (pt_profile_stage_of(children->profile, launcher) != stage || !pt_path_has(children->facts->paths, launcher))
            continue;
        for (size_t j = 0; j < windows->n && n < MOST_WINDOWS; j++, n++)
            add(children, &kinds, launcher, &windows->items[j]);
    }
    for (size_t i = 0; i < kinds.n; i++) {
        const struct kind *kind = &kinds.items[i];
        const double together_ns = fmax((double)kind->longest_ns, isnan(cpus) ? 0 : kind->cpu_ns / cpus);
        if (kind->n < 2)
            continue;
        repeated.commands += kind->n;
        repeated.total_ns += kind->total_ns;
        repeated.gain_ns += fmax((double)kind->total_ns - together_ns, 0);
    }
    free(kinds.items);
    pt_map_fini(&kinds.by_name);
    return repeated;
}
