/* SPDX-License-Identifier: MIT
 *
 * Owns: what it would bring to start commands together. Threads: one, after the last event. Never: counts the steps of
 * a pipeline, which need each other: these are different programs, or scripts, or read what one before has made; more
 * than the CPUs can do at once; what ran together already; a pause, as sleep between two requests: a script that asked
 * twice a second was told to start its pauses together; what tools run in an order of their own: cmake was told to
 * start its checks of the compiler together.
 */
#include "repeated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/path/critical_path.h"
#include "facts/time_union.h"
#include "util/hash.h"

enum { MOST_WINDOWS = 4096, MOST_COMMANDS = 4096 };
/* A command that began earlier ran beside the one before. */
#define BEGINS_NS 50000000

/* ---- a command and all that it started ---- */

struct below {
    const struct pt_process *last; /* of its images */
    const char *name;              /* of the command, interned */
    double cpu_ns;
    double queued_ns;                              /* for a CPU, by main threads that are on the critical path */
    struct pt_process *first_child, *next_sibling; /* first images, in the order of their starts */
    bool was_asked;
};

static pt_u32 first_image_of(const struct pt_process *process)
{
    return pt_process_first_image(process)->index;
}

static double queued_ns(const struct pt_children *children, const struct pt_process *process)
{
    const struct pt_thread *thread = pt_main_thread(process);
    const pt_u32 number = thread ? pt_facts_cpu_thread(children->facts, thread) : 0;
    if (!number || process->state == PT_PROCESS_EXECED || !pt_path_has(children->facts->paths, process))
        return 0;
    const pt_u32 stage = pt_profile_stage_of(children->profile, process);
    return (double)pt_cpu_runnable_ns(&pt_facts_cpu(children->facts, stage)->data->times[number]);
}

static const char *name_of(struct pt_children *children, const struct pt_process *process)
{
    char name[1024];
    snprintf(name, sizeof name, "%.400s %.600s", process->exe ? process->exe : "", pt_script_of(process));
    return pt_intern_text(&children->texts, name);
}

/* By index. Parents stand before their children, first images before later ones: of a hundred thousand none is asked
 * for twice. */
static struct below *look_below(struct pt_children *children)
{
    const struct pt_session *session = children->profile->session;
    struct below *all = pt_calloc(session->n_processes + 1, sizeof *all);
    for (pt_u32 i = session->n_processes; i-- > 0;) {
        struct pt_process *process = session->processes[i];
        struct below *own = &all[i];
        own->last = own->last ? own->last : process;
        const double cpu_ns = pt_image_use(children->facts, process).cpu_ns;
        own->cpu_ns += isnan(cpu_ns) ? 0 : cpu_ns; /* without it the gain is no more than it may be at most */
        own->queued_ns += queued_ns(children, process);
        if (!process->previous_image && !pt_is_worker(process))
            own->name = name_of(children, own->last);
        /* A command is its first image: what it became after that counts there. */
        const struct pt_process *above = process->previous_image ? process->previous_image : process->parent;
        if (above) {
            all[above->index].cpu_ns += own->cpu_ns;
            all[above->index].queued_ns += own->queued_ns;
        }
        if (process->previous_image) {
            all[above->index].last = own->last;
        } else if (process->parent) {
            struct below *starter = &all[first_image_of(process->parent)];
            own->next_sibling = starter->first_child;
            starter->first_child = process;
        }
    }
    return all;
}

/* ---- commands of launchers ---- */

struct kind {
    pt_u32 n;
    double total_ns, longest_ns, cpu_ns;
};

struct kinds {
    PT_VEC(struct kind);
    struct pt_map by_name; /* launcher and interned name -> index, plus 1 */
};

/* How long no other command of the kind ran. */
static double alone_ns(const struct below *below, const struct pt_path_window *window)
{
    const struct pt_process *command = window->child;
    const struct pt_process *other = command->parent ? below[first_image_of(command->parent)].first_child : NULL;
    pt_i64 beside_ns = 0;
    for (; other && other->start_ns < window->until_ns; other = below[other->index].next_sibling) {
        if (other == command || other->parent != command->parent ||
            below[other->index].name != below[command->index].name)
            continue;
        beside_ns += pt_common_ns(other->start_ns, below[other->index].last->end_ns, window->from_ns, window->until_ns);
    }
    return fmax((double)(window->until_ns - window->from_ns - beside_ns), 0);
}

static void add(const struct pt_children *children, const struct below *below, struct kinds *kinds,
                const struct pt_process *launcher, const struct pt_path_window *window)
{
    const struct pt_process *command = window->child;
    const struct below *own = &below[command->index];
    const double ns = alone_ns(below, window) - own->queued_ns;
    if (pt_is_worker(command) || pt_is_pause(own->last) || command->start_ns + BEGINS_NS < window->from_ns || ns <= 0 ||
        children->processes[command->index].needs_earlier)
        return;
    const pt_u64 key = pt_hash_pair((uintptr_t)own->name, launcher->index);
    pt_u64 *slot = pt_map_at(&kinds->by_name, key);
    if (!*slot) {
        pt_vec_push(kinds, (struct kind){0});
        *slot = kinds->n;
    }
    struct kind *kind = &kinds->items[*slot - 1];
    kind->n++;
    kind->total_ns += ns;
    kind->longest_ns = fmax(kind->longest_ns, ns);
    kind->cpu_ns += own->cpu_ns;
}

static double gain_of(const struct kind *kind, double cpus)
{
    return fmax(kind->total_ns - fmax(kind->longest_ns, isnan(cpus) ? 0 : kind->cpu_ns / cpus), 0);
}

static void add_launchers(const struct pt_children *children, pt_u32 stage, const struct below *below,
                          struct kinds *kinds)
{
    const struct pt_session *session = children->profile->session;
    size_t n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *launcher = session->processes[i];
        const struct pt_path_windows *windows = &children->facts->paths->processes[i].windows;
        if (pt_profile_stage_of(children->profile, launcher) != stage ||
            !pt_path_has(children->facts->paths, launcher) || pt_has_steps_of_its_own(launcher))
            continue;
        for (size_t j = 0; j < windows->n && n < MOST_WINDOWS; j++, n++)
            add(children, below, kinds, launcher, &windows->items[j]);
    }
}

/* ---- commands of programs that do more than wait ---- */

static int by_start(const void *a, const void *b)
{
    const struct pt_path_window *x = a, *y = b;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Those that ran together are one: only those one after another could be started together. */
static double gain_of_program(const struct pt_children *children, struct below *below, const struct pt_process *program,
                              double cpus)
{
    struct pt_path_window *lives = pt_calloc(MOST_COMMANDS, sizeof *lives);
    struct pt_process *one = below[first_image_of(program)].first_child;
    struct kind all = {0};
    size_t n = 0;
    pt_i64 from_ns = 0, until_ns = INT64_MIN;
    for (; one && n < MOST_COMMANDS; one = below[one->index].next_sibling) {
        const struct below *own = &below[one->index];
        if (pt_is_worker(one) || pt_is_pause(own->last) || children->processes[one->index].needs_earlier ||
            children->processes[one->index].serves)
            continue;
        lives[n++] = (struct pt_path_window){one->start_ns, own->last->end_ns, one};
        all.cpu_ns += own->cpu_ns;
    }
    below[first_image_of(program)].was_asked = true;
    qsort(lives, n, sizeof *lives, by_start);
    for (size_t i = 0; i < n; i++) {
        from_ns = lives[i].from_ns >= until_ns ? lives[i].from_ns : from_ns;
        const pt_i64 known_ns = lives[i].from_ns >= until_ns ? from_ns : until_ns;
        all.total_ns += lives[i].until_ns > known_ns ? (double)(lives[i].until_ns - known_ns) : 0;
        until_ns = lives[i].until_ns > until_ns ? lives[i].until_ns : until_ns;
        all.longest_ns = fmax(all.longest_ns, (double)(until_ns - from_ns));
    }
    free(lives);
    return gain_of(&all, cpus);
}

struct pt_children_repeated pt_children_repeated(struct pt_children *children, pt_u32 stage)
{
    const struct pt_session *session = children->profile->session;
    const double cpus = pt_profile_usable_cpus(children->profile);
    struct pt_children_repeated repeated = {0};
    struct below *below = look_below(children);
    struct kinds kinds = {0};
    add_launchers(children, stage, below, &kinds);
    for (size_t i = 0; i < kinds.n; i++) {
        const struct kind *kind = &kinds.items[i];
        if (kind->n < 2)
            continue;
        repeated.commands += kind->n;
        repeated.total_ns += kind->total_ns;
        repeated.gain_ns += gain_of(kind, cpus);
    }
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (children->processes[i].has_waited && !below[first_image_of(session->processes[i])].was_asked &&
            pt_profile_stage_of(children->profile, session->processes[i]) == stage &&
            !pt_has_steps_of_its_own(session->processes[i]))
            repeated.of_programs_ns += gain_of_program(children, below, session->processes[i], cpus);
    free(below);
    free(kinds.items);
    pt_map_fini(&kinds.by_name);
    return repeated;
}
