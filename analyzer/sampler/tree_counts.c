/* SPDX-License-Identifier: MIT
 *
 * tree_counts.c - Owns: the counted numbers of each process of the stage. Threads: main only. Never: adds what a child
 * had to what its parent was given of it.
 */
#include "tree_counts.h"

#include <math.h>
#include <stdlib.h>

#include "util/mem.h"

#define THREADS_MAX 4096            /* in the whole tree: more would cost too much */
#define SMALL_TREE 16               /* processes: up to this number each is read at each sample */
#define IDLE_EVERY_LOOKS 16         /* in larger trees: a process that used no CPU time is read at every 16th sample */
#define MANY_THREADS 16             /* with more, not at each sample */
#define MANY_THREADS_EVERY_LOOKS 4u /* but at every fourth */
#define BLOCK_BYTES 512             /* ru_inblock, ru_oublock */

static int compare_pids(const void *a, const void *b)
{
    const struct pt_counted_process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct pt_counted_process *find(struct pt_counted_process *list, size_t n, pid_t pid)
{
    const struct pt_counted_process key = {.pid = pid};
    return n ? bsearch(&key, list, n, sizeof key, compare_pids) : NULL;
}

/* ---- one process ---- */

static bool is_due(const struct pt_tree_counts *counts, const struct pt_counted_process *one,
                   const struct pt_process_stat *now)
{
    const pt_u32 number = counts->looks + (pt_u32)one->pid;
    if (!one->tasks.n || number % IDLE_EVERY_LOOKS == 0)
        return true;
    if (counts->n > SMALL_TREE && now->own_ticks + now->children_ticks == one->looked_ticks)
        return false;
    return now->threads <= MANY_THREADS || number % MANY_THREADS_EVERY_LOOKS == 0;
}

static void look_at_one(struct pt_tree_counts *counts, struct pt_counted_process *one,
                        const struct pt_process_stat *now)
{
    one->looked_ticks = now->own_ticks + now->children_ticks;
    const enum pt_io_answer answer = pt_process_io_read(one->pid, &one->io);
    one->is_denied = answer == PT_IO_DENIED;
    if (!counts->has_too_many_threads)
        pt_tasks_read(&one->tasks, one->pid, now->threads);
}

/* ---- those that have gone ---- */

/* The process that waited for it and has its numbers now: the parent, or the parent's parent if that has ended, too.
 * NULL = none. */
static struct pt_counted_process *heir_of(struct pt_tree_counts *counts, struct pt_counted_process *before,
                                          size_t n_before, pid_t ppid)
{
    for (size_t steps = 0; steps <= n_before; steps++) {
        struct pt_counted_process *heir = find(counts->list, counts->n, ppid);
        if (heir)
            return heir;
        heir = find(before, n_before, ppid);
        if (!heir || heir->is_reaped)
            return heir;
        ppid = heir->ppid;
    }
    return NULL;
}

static void settle(struct pt_tree_counts *counts, struct pt_counted_process *before, size_t n_before,
                   struct pt_counted_process *gone)
{
    const struct pt_task sum = pt_tasks_sum(&gone->tasks);
    counts->lost.run_queue_ns += sum.run_queue_ns;
    if (gone->is_reaped)
        return;
    struct pt_counted_process *heir = heir_of(counts, before, n_before, gone->ppid);
    if (heir && heir->is_reaped)
        return; /* known from wait4 */
    pt_u64 *voluntary = heir ? &heir->left_voluntary : &counts->lost.voluntary;
    pt_u64 *involuntary = heir ? &heir->left_involuntary : &counts->lost.involuntary;
    *voluntary += sum.voluntary + gone->left_voluntary;
    *involuntary += sum.involuntary + gone->left_involuntary;
}

/* ---- all ---- */

static void add_process(struct pt_tree_counts *counts, const struct pt_tree_entry *entry,
                        struct pt_counted_process *known)
{
    struct pt_counted_process one = {.pid = entry->pid, .start_ticks = entry->now.start_ticks};
    if (known && known->start_ticks == entry->now.start_ticks && !known->is_reaped) {
        one = *known;
        known->is_gone = false;
        known->tasks = (struct pt_tasks){0};
    }
    one.ppid = entry->now.ppid;
    if (counts->n == counts->room) {
        counts->room = counts->room ? counts->room * 2 : 64;
        counts->list = pt_realloc(counts->list, counts->room * sizeof *counts->list);
    }
    counts->list[counts->n++] = one;
}

/* The list anew, from those that are there now. */
static void follow(struct pt_tree_counts *counts, const struct pt_tree *tree)
{
    struct pt_counted_process *before = counts->list;
    const size_t n_before = counts->n, room_before = counts->room;
    counts->list = counts->previous;
    counts->room = counts->previous_room;
    counts->n = 0;
    for (size_t i = 0; i < n_before; i++)
        before[i].is_gone = true;
    size_t at = 0;
    for (size_t i = 0; i < tree->n; i++) {
        const struct pt_tree_entry *entry = &tree->entries[i];
        if (entry->ownership != PT_PROCESS_OURS)
            continue;
        for (; at < n_before && before[at].pid < entry->pid; at++)
            ;
        add_process(counts, entry, at < n_before && before[at].pid == entry->pid ? &before[at] : NULL);
    }
    for (size_t i = 0; i < n_before; i++) {
        if (before[i].is_gone)
            settle(counts, before, n_before, &before[i]);
        pt_tasks_free(&before[i].tasks);
    }
    counts->previous = before;
    counts->previous_room = room_before;
}

void pt_tree_counts_look(struct pt_tree_counts *counts, const struct pt_tree *tree, bool all)
{
    follow(counts, tree);
    pt_u64 threads = 0;
    for (size_t i = 0; i < tree->n; i++)
        threads += tree->entries[i].ownership == PT_PROCESS_OURS ? tree->entries[i].now.threads : 0;
    counts->has_too_many_threads = counts->has_too_many_threads || threads > THREADS_MAX;
    counts->looks++;
    /* Parents have the lower pids and are read first: if one waits for a child at that time, the sum is too small
     * for one sample, not too large for ever. */
    size_t at = 0;
    for (size_t i = 0; i < counts->n; i++) {
        struct pt_counted_process *one = &counts->list[i];
        while (tree->entries[at].pid < one->pid)
            at++;
        const struct pt_process_stat *now = &tree->entries[at].now;
        if (all || is_due(counts, one, now))
            look_at_one(counts, one, now);
    }
}

void pt_tree_counts_ending(struct pt_tree_counts *counts, pid_t pid)
{
    struct pt_counted_process *one = find(counts->list, counts->n, pid);
    counts->ending.pid = pid;
    counts->ending.is_known = pt_process_io_read(pid, &counts->ending.io) == PT_IO_READ;
    pt_u64 run_queue_ns, runs;
    if (!pt_task_run_queue_read(pid, &run_queue_ns, &runs))
        return;
    for (size_t i = 0; one && i < one->tasks.n; i++)
        if (one->tasks.living[i].tid == pid)
            one->tasks.living[i].run_queue_ns = run_queue_ns;
    if (!one || !one->tasks.n)
        counts->lost.run_queue_ns += run_queue_ns;
}

void pt_tree_counts_reaped(struct pt_tree_counts *counts, pid_t pid, const struct rusage *usage)
{
    struct pt_counted_process *one = find(counts->list, counts->n, pid);
    if (one)
        one->is_reaped = true;
    /* Without the file (another user's process) the blocks of wait4: each thread's rounded down. */
    struct pt_process_io io = {(pt_u64)usage->ru_inblock * BLOCK_BYTES, (pt_u64)usage->ru_oublock * BLOCK_BYTES};
    if (counts->ending.pid == pid && counts->ending.is_known)
        io = counts->ending.io;
    counts->reaped_io.read_bytes += io.read_bytes;
    counts->reaped_io.write_bytes += io.write_bytes;
    counts->reaped_voluntary += (pt_u64)usage->ru_nvcsw;
    counts->reaped_involuntary += (pt_u64)usage->ru_nivcsw;
    counts->ending.pid = 0;
}

struct pt_tree_totals pt_tree_counts_totals(const struct pt_tree_counts *counts)
{
    struct pt_process_io io = counts->reaped_io;
    struct pt_task sum = counts->lost;
    bool is_denied = false, has_living = false;
    sum.voluntary += counts->reaped_voluntary;
    sum.involuntary += counts->reaped_involuntary;
    for (size_t i = 0; i < counts->n; i++) {
        const struct pt_counted_process *one = &counts->list[i];
        const struct pt_task own = pt_tasks_sum(&one->tasks);
        sum.run_queue_ns += own.run_queue_ns;
        if (one->is_reaped)
            continue;
        has_living = true;
        is_denied |= one->is_denied;
        io.read_bytes += one->io.read_bytes;
        io.write_bytes += one->io.write_bytes;
        sum.voluntary += own.voluntary + one->left_voluntary;
        sum.involuntary += own.involuntary + one->left_involuntary;
    }
    const bool too_many = counts->has_too_many_threads;
    return (struct pt_tree_totals){
        .read_bytes = is_denied ? NAN : (double)io.read_bytes,
        .write_bytes = is_denied ? NAN : (double)io.write_bytes,
        .voluntary = too_many && has_living ? NAN : (double)sum.voluntary,
        .involuntary = too_many && has_living ? NAN : (double)sum.involuntary,
        .run_queue_s = too_many ? NAN : (double)sum.run_queue_ns / 1e9,
    };
}

void pt_tree_counts_free(struct pt_tree_counts *counts)
{
    for (size_t i = 0; i < counts->n; i++)
        pt_tasks_free(&counts->list[i].tasks);
    free(counts->list);
    free(counts->previous);
    *counts = (struct pt_tree_counts){0};
}
