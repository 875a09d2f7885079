/* SPDX-License-Identifier: MIT
 *
 * Owns: who started whom. Threads: one, before the pass. Never: looks at all children of a process to find one of them.
 */
#include "tree.h"

#include <math.h>
#include <stdlib.h>

#include "proftrace/events.h"
#include "facts/time_union.h"
#include "facts/workers.h"
#include "util/auto.h"

/* Calls that take their time for files, whatever their descriptor is; and sleeps. */
static bool is_own_time(pt_u32 kind)
{
    const bool may_be_of_a_pipe = kind == PT_KIND_io_read || kind == PT_KIND_io_readv || kind == PT_KIND_io_write ||
                                  kind == PT_KIND_io_writev || kind == PT_KIND_stdio_read ||
                                  kind == PT_KIND_stdio_char || kind == PT_KIND_stdio_write || kind == PT_KIND_io_copy;
    return kind == PT_KIND_wait_sleep || (!may_be_of_a_pipe && pt_part_is_of_files(pt_time_part_of_kind(kind)));
}

/* Also waiting for pages of files: a program that reads a cold one uses hardly any CPU. */
static double busy_ns(const struct pt_facts *facts, const struct pt_process *process)
{
    const struct pt_thread *main_one = pt_main_thread(process);
    const pt_u32 main_number = main_one ? pt_facts_cpu_thread(facts, main_one) : 0;
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, pt_profile_stage_of(facts->profile, process));
    const double seen_ns = main_number ? (double)cpu->data->times[main_number].on_cpu_ns : 0;
    const double on_ns = fmax((double)process->cpu_ns, seen_ns);
    double own_ns = 0;
    for (pt_u32 i = 0; i < process->n_threads; i++) {
        const struct pt_thread *thread = &process->threads[i];
        const pt_u32 number = pt_facts_cpu_thread(facts, thread);
        own_ns += number ? (double)cpu->data->fault_sums[number].waits_ns : 0;
        for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
            own_ns += is_own_time(kind) ? (double)pt_totals_of(thread->totals, kind)->ns : 0;
    }
    return on_ns > 0 || process->state == PT_PROCESS_EXECED ? on_ns + own_ns : NAN;
}

const struct pt_process *pt_path_starter(const struct pt_process *process)
{
    const struct pt_process *parent = process->parent;
    return parent && parent->pid != process->pid ? parent : NULL;
}

pt_i64 pt_path_end(const struct pt_path_tree *tree, const struct pt_process *child)
{
    while (tree->nodes[child->index].next_image)
        child = tree->nodes[child->index].next_image;
    return tree->nodes[child->index].end_ns;
}

struct ended {
    const struct pt_process *process;
    pt_i64 end_ns;
};

static int by_end(const void *a, const void *b)
{
    const struct ended *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->process->index > y->process->index) - (x->process->index < y->process->index);
}

/* From the back: what is behind the last one is no copy. */
static void find_copies(struct pt_path_tree *tree, const struct pt_path_node *parent)
{
    struct pt_path_copies behind = {INT64_MAX, INT64_MAX};
    for (size_t i = parent->first_ended + parent->n_children; i-- > parent->first_ended;) {
        const pt_i64 start_ns = tree->nodes[tree->ended[i]->index].start_ns;
        if (pt_is_worker(tree->ended[i]) && start_ns < behind.first_ns)
            behind = (struct pt_path_copies){start_ns, behind.first_ns};
        else if (pt_is_worker(tree->ended[i]) && start_ns < behind.second_ns)
            behind.second_ns = start_ns;
        tree->copies[i] = behind;
    }
}

/* A shell may have a hundred thousand children, and wait for each: it must be found without looking at all. */
static void sort_by_end(struct pt_path_tree *tree, const struct pt_session *session)
{
    PT_AUTO(pt_freep) struct ended *all = pt_calloc(session->n_processes + 1, sizeof *all);
    size_t n = 0;
    tree->ended = pt_calloc(session->n_processes + 1, sizeof *tree->ended);
    tree->copies = pt_calloc(session->n_processes + 1, sizeof *tree->copies);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_path_node *node = &tree->nodes[i];
        const size_t first = node->first_ended = n;
        for (const struct pt_process *one = node->first_child; one; one = tree->nodes[one->index].next_sibling)
            all[n++] = (struct ended){one, pt_path_end(tree, one)};
        qsort(all + first, n - first, sizeof *all, by_end);
    }
    for (size_t i = 0; i < n; i++)
        tree->ended[i] = all[i].process;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        find_copies(tree, &tree->nodes[i]);
}

void pt_path_tree_open(struct pt_path_tree *tree, const struct pt_facts *facts)
{
    const struct pt_session *session = facts->profile->session;
    *tree = (struct pt_path_tree){.facts = facts, .nodes = pt_calloc(session->n_processes + 1, sizeof *tree->nodes)};
    /* Parents stand before their children. */
    for (pt_u32 i = session->n_processes; i-- > 0;) {
        const struct pt_process *process = session->processes[i];
        const struct pt_process *starter = pt_path_starter(process), *before = process->previous_image;
        struct pt_path_node *node = &tree->nodes[i];
        const struct pt_thread *thread = pt_main_thread(process);
        node->busy_ns += busy_ns(facts, process);
        node->start_ns = thread && !before ? pt_thread_life(facts, thread).start_ns : process->start_ns;
        node->end_ns = process->end_ns;
        if (before) {
            tree->nodes[before->index].next_image = process;
            tree->nodes[before->index].busy_ns += node->busy_ns;
        } else if (starter) {
            node->next_sibling = tree->nodes[starter->index].first_child;
            tree->nodes[starter->index].first_child = process;
            tree->nodes[starter->index].busy_ns += node->busy_ns;
            tree->nodes[starter->index].n_children++;
        }
    }
    sort_by_end(tree, session);
}

void pt_path_tree_close(struct pt_path_tree *tree)
{
    free(tree->nodes);
    free(tree->ended);
    free(tree->copies);
    *tree = (struct pt_path_tree){0};
}

size_t pt_path_first_ended(const struct pt_path_tree *tree, const struct pt_process *process, pt_i64 from_ns)
{
    size_t low = pt_path_node_of(tree, process)->first_ended, high = low + pt_path_node_of(tree, process)->n_children;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (pt_path_end(tree, tree->ended[middle]) < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of the copies that ended after its start, it is not the only one that began before its end. */
bool pt_path_has_another_copy(const struct pt_path_tree *tree, const struct pt_process *copy)
{
    const struct pt_process *starter = pt_path_starter(copy);
    const struct pt_path_node *parent = pt_path_node_of(tree, starter);
    const pt_i64 start_ns = pt_path_node_of(tree, copy)->start_ns, end_ns = pt_path_end(tree, copy);
    const size_t i = pt_path_first_ended(tree, starter, start_ns + 1);
    if (i == parent->first_ended + parent->n_children)
        return false;
    return start_ns < end_ns ? tree->copies[i].second_ns < end_ns : tree->copies[i].first_ns < end_ns;
}
