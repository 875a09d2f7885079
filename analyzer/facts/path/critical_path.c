/* SPDX-License-Identifier: MIT
 *
 * Owns: the critical path of each stage. Threads: one opens it, before the pass; then any. Never: leaves a time of the
 * root's life out, or has a time twice.
 */
#include "critical_path.h"

#include <math.h>
#include <stdlib.h>

#include "facts/time_union.h"

enum { MOST_STEPS = 64 };
/* A launcher starts all of its children before it waits for them. */
#define WHOLE_SHARE 0.98
#define WHOLE_NS 1000000

struct walk {
    const struct pt_profile *profile;
    struct pt_critical_paths *paths;
    const struct pt_path_tree *tree;
    struct pt_critical_path *path;
};

static void add_piece(const struct walk *walk, const struct pt_process *process, pt_i64 from_ns, pt_i64 until_ns)
{
    if (until_ns <= from_ns)
        return;
    pt_vec_push(walk->path, ((struct pt_path_piece){process, from_ns, until_ns}));
    pt_vec_push(&walk->paths->processes[process->index].own, ((struct pt_path_window){from_ns, until_ns, NULL}));
    walk->paths->processes[process->index].on_path_ns += until_ns - from_ns;
}

static const struct pt_process *next_image(const struct pt_path_tree *tree, const struct pt_process *image)
{
    return tree->nodes[image->index].next_image;
}

/* Until it becomes a program that was told that it is of another stage (PROFTRACE_STAGE). */
static const struct pt_process *next_of_stage(const struct pt_profile *profile, const struct pt_path_tree *tree,
                                              const struct pt_process *image)
{
    const struct pt_process *next = next_image(tree, image);
    return next && pt_profile_stage_of(profile, next) == pt_profile_stage_of(profile, image) ? next : NULL;
}

/* What a child does that is of another stage is on that stage's path, not on its parent's: that one waits. */
static void keep_those_of_stage(const struct pt_profile *profile, const struct pt_path_tree *tree, pt_u32 stage,
                                struct pt_path_windows *windows)
{
    size_t n = 0;
    for (size_t i = 0; i < windows->n; i++) {
        const struct pt_process *image = windows->items[i].child;
        while (image && pt_profile_stage_of(profile, image) == stage)
            image = next_image(tree, image);
        if (!image)
            windows->items[n++] = windows->items[i];
    }
    windows->n = n;
}

/* From `first` down: each image of it, and the children that an image waits for as a launcher. */
static void descend(const struct walk *walk, const struct pt_process *first, pt_i64 from_ns, pt_i64 until_ns,
                    pt_u32 step)
{
    for (const struct pt_process *image = first; image; image = next_of_stage(walk->profile, walk->tree, image)) {
        const struct pt_process *next = next_image(walk->tree, image);
        const struct pt_path_windows *windows = &walk->paths->processes[image->index].windows;
        const pt_i64 end_ns = next && next->start_ns < until_ns ? next->start_ns : until_ns;
        for (size_t i = 0; i < windows->n && step < MOST_STEPS; i++) {
            const struct pt_path_window *window = &windows->items[i];
            const pt_i64 start_ns = window->from_ns > from_ns ? window->from_ns : from_ns;
            const pt_i64 stop_ns = window->until_ns < end_ns ? window->until_ns : end_ns;
            if (stop_ns <= start_ns)
                continue;
            add_piece(walk, image, from_ns, start_ns);
            descend(walk, window->child, start_ns, stop_ns, step + 1);
            walk->path->has_launchers = true;
            from_ns = stop_ns;
        }
        add_piece(walk, image, from_ns, end_ns);
        from_ns = from_ns > end_ns ? from_ns : end_ns;
    }
}

static void find_longest(struct pt_critical_paths *paths, struct pt_critical_path *path)
{
    pt_i64 most_ns = 0;
    for (size_t i = 0; i < path->n; i++) {
        const pt_i64 ns = paths->processes[path->items[i].process->index].on_path_ns;
        if (ns > most_ns) {
            most_ns = ns;
            path->longest = path->items[i].process;
        }
    }
}

static pt_i64 last_until_ns(const struct pt_own_windows *windows, const struct pt_thread *thread)
{
    for (size_t i = windows->n; i-- > 0;)
        if (windows->items[i].thread == thread)
            return windows->items[i].until_ns;
    return 0;
}

static void find_helpers(const struct pt_facts *facts, struct pt_critical_paths *paths,
                         const struct pt_process *process)
{
    struct pt_path_helpers *helpers = &paths->processes[process->index].helpers;
    const struct pt_own_windows *windows = &paths->processes[process->index].threads;
    for (pt_u32 i = 0; windows->n && i < process->n_threads; i++) {
        const struct pt_thread *thread = &process->threads[i];
        const struct pt_thread_life life = pt_thread_life(facts, thread);
        const double ns = (double)pt_path_helper_ns(paths, thread, process->start_ns, process->end_ns);
        const pt_i64 end_ns = life.is_exact ? life.end_ns : last_until_ns(windows, thread);
        if (thread != pt_main_thread(process) && ns > 0)
            pt_vec_push(helpers,
                        ((struct pt_path_helper){thread, fmin(ns / fmax((double)(end_ns - life.start_ns), ns), 1)}));
    }
}

static bool is_whole(const struct pt_process *process, pt_i64 on_path_ns)
{
    const double life_ns = (double)(process->end_ns - process->start_ns);
    return on_path_ns > 0 && (double)on_path_ns >= fmin(WHOLE_SHARE * life_ns, life_ns - WHOLE_NS);
}

struct pt_critical_paths *pt_critical_paths_open(const struct pt_facts *facts)
{
    const struct pt_session *session = facts->profile->session;
    const struct pt_stages *stages = &facts->profile->stages;
    struct pt_critical_paths *paths = pt_calloc(1, sizeof *paths);
    struct pt_path_tree tree;
    *paths = (struct pt_critical_paths){.n_stages = (pt_u32)stages->n, .n_processes = session->n_processes};
    paths->stages = pt_calloc(stages->n, sizeof *paths->stages);
    paths->processes = pt_calloc(session->n_processes, sizeof *paths->processes);
    pt_path_tree_open(&tree, facts);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_path_process *process = &paths->processes[i];
        process->windows = pt_path_windows_of(&tree, session->processes[i]);
        keep_those_of_stage(facts->profile, &tree, pt_profile_stage_of(facts->profile, session->processes[i]),
                            &process->windows);
        for (size_t j = 0; j < process->windows.n; j++)
            process->handed_ns += process->windows.items[j].until_ns - process->windows.items[j].from_ns;
    }
    for (size_t stage = 0; stage < stages->n; stage++) {
        const struct pt_process *root = stages->items[stage].root;
        const struct walk walk = {facts->profile, paths, &tree, &paths->stages[stage]};
        const struct pt_process *last = root;
        while (last && next_of_stage(facts->profile, &tree, last))
            last = next_of_stage(facts->profile, &tree, last);
        if (root)
            descend(&walk, root, tree.nodes[root->index].start_ns, last->end_ns, 0);
        find_longest(paths, &paths->stages[stage]);
    }
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        paths->processes[i].is_whole = is_whole(session->processes[i], paths->processes[i].on_path_ns);
        paths->processes[i].threads = pt_own_windows_of(facts, session->processes[i]);
        find_helpers(facts, paths, session->processes[i]);
    }
    pt_path_tree_close(&tree);
    return paths;
}

void pt_critical_paths_close(struct pt_critical_paths *paths)
{
    if (!paths)
        return;
    for (pt_u32 i = 0; i < paths->n_stages; i++)
        free(paths->stages[i].items);
    for (pt_u32 i = 0; i < paths->n_processes; i++) {
        free(paths->processes[i].windows.items);
        free(paths->processes[i].own.items);
        free(paths->processes[i].threads.items);
        free(paths->processes[i].helpers.items);
    }
    free(paths->stages);
    free(paths->processes);
    free(paths);
}

static pt_i64 within_ns(const struct pt_path_windows *windows, pt_i64 start_ns, pt_i64 end_ns)
{
    size_t low = 0, high = windows->n;
    pt_i64 ns = 0;
    while (low < high) { /* the first that ends behind the start */
        const size_t middle = (low + high) / 2;
        if (windows->items[middle].until_ns <= start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < windows->n && windows->items[low].from_ns < end_ns; low++)
        ns += pt_common_ns(windows->items[low].from_ns, windows->items[low].until_ns, start_ns, end_ns);
    return ns;
}

pt_i64 pt_path_handed_ns(const struct pt_critical_paths *paths, const struct pt_process *process, pt_i64 start_ns,
                         pt_i64 end_ns)
{
    return within_ns(&paths->processes[process->index].windows, start_ns, end_ns);
}

pt_i64 pt_path_ns(const struct pt_critical_paths *paths, const struct pt_process *process, pt_i64 start_ns,
                  pt_i64 end_ns)
{
    return pt_path_is_whole(paths, process) ? end_ns - start_ns
                                            : within_ns(&paths->processes[process->index].own, start_ns, end_ns);
}

pt_i64 pt_path_own_ns(const struct pt_critical_paths *paths, const struct pt_thread *thread, pt_i64 start_ns,
                      pt_i64 end_ns)
{
    const struct pt_own_windows *windows = &paths->processes[thread->process->index].threads;
    const bool is_main = thread == pt_main_thread(thread->process);
    pt_i64 ns = 0;
    for (size_t i = pt_own_windows_after(windows, start_ns); i < windows->n && windows->items[i].from_ns < end_ns; i++)
        if (is_main || windows->items[i].thread == thread)
            ns += pt_common_ns(windows->items[i].from_ns, windows->items[i].until_ns, start_ns, end_ns);
    return is_main ? end_ns - start_ns - ns : ns;
}

pt_i64 pt_path_helper_ns(const struct pt_critical_paths *paths, const struct pt_thread *thread, pt_i64 start_ns,
                         pt_i64 end_ns)
{
    const struct pt_own_windows *windows = &paths->processes[thread->process->index].threads;
    const bool is_main = thread == pt_main_thread(thread->process);
    pt_i64 ns = 0;
    for (size_t i = pt_own_windows_after(windows, start_ns); i < windows->n && windows->items[i].from_ns < end_ns;
         i++) {
        const struct pt_own_window *window = &windows->items[i];
        const pt_i64 from_ns = window->from_ns > start_ns ? window->from_ns : start_ns;
        const pt_i64 until_ns = window->until_ns < end_ns ? window->until_ns : end_ns;
        if (until_ns > from_ns && (is_main || window->thread == thread))
            ns += pt_path_ns(paths, thread->process, from_ns, until_ns);
    }
    return ns;
}

pt_i64 pt_path_critical_pieces_ns(const struct pt_critical_paths *paths, const struct pt_thread *thread,
                                  pt_i64 start_ns, pt_i64 end_ns)
{
    const pt_i64 helper_ns = pt_path_helper_ns(paths, thread, start_ns, end_ns);
    return thread == pt_main_thread(thread->process) ? pt_path_ns(paths, thread->process, start_ns, end_ns) - helper_ns
                                                     : helper_ns;
}

double pt_path_share(const struct pt_critical_paths *paths, const struct pt_process *process)
{
    const struct pt_path_process *own = &paths->processes[process->index];
    const double life_ns = (double)(process->end_ns - process->start_ns);
    const double ns = (double)own->on_path_ns + (double)own->handed_ns;
    return own->is_whole || life_ns <= 0 ? 1 : fmin(ns / life_ns, 1);
}

/* ---- threads of the CPU profile ---- */

static void add_helpers(const struct pt_facts *facts, const struct pt_path_helpers *helpers,
                        struct pt_path_thread *threads)
{
    for (size_t i = 0; i < helpers->n; i++) {
        const pt_u32 number = pt_facts_cpu_thread(facts, helpers->items[i].thread);
        if (number)
            threads[number] =
                (struct pt_path_thread){.helper = helpers->items[i].thread, .share = helpers->items[i].share};
    }
}

struct pt_path_thread *pt_path_threads(const struct pt_facts *facts, pt_u32 stage)
{
    const struct pt_cpu_data *data = pt_facts_cpu(facts, stage)->data;
    const struct pt_critical_path *path = &facts->paths->stages[stage];
    struct pt_path_thread *threads = pt_calloc(data->n_threads + 1, sizeof *threads);
    bool is_any = false;
    for (size_t i = 0; i < path->n; i++) {
        const struct pt_process *process = path->items[i].process;
        const struct pt_thread *thread = pt_main_thread(process);
        const pt_u32 number = thread ? pt_facts_cpu_thread(facts, thread) : 0;
        /* The last image of a process is the one that may wait for children, as a rule. */
        if (number)
            threads[number] =
                (struct pt_path_thread){.process = process, .share = pt_path_share(facts->paths, process)};
        add_helpers(facts, &facts->paths->processes[process->index].helpers, threads);
        is_any |= number;
    }
    for (size_t i = 1; !is_any && i < data->n_threads; i++)
        if (data->threads[i].tid == data->header.root_pid) {
            threads[i].share = 1;
            break;
        }
    return threads;
}

bool pt_path_thread_is_critical(const struct pt_facts *facts, const struct pt_path_thread *thread, pt_i64 start_ns,
                                pt_i64 end_ns, enum pt_time_part part)
{
    if (thread->share <= 0)
        return false;
    if (thread->helper)
        return 2 * pt_path_helper_ns(facts->paths, thread->helper, start_ns, end_ns) > end_ns - start_ns;
    if (!thread->process || part == PT_PART_child_wait || !pt_path_is_launcher(facts->paths, thread->process))
        return true;
    return 2 * pt_path_handed_ns(facts->paths, thread->process, start_ns, end_ns) <= end_ns - start_ns;
}
