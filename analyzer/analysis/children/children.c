/* SPDX-License-Identifier: MIT
 *
 * The child processes of a program: workers (forked copies: DataLoader, pools) and commands; how long its main thread
 * waits for them, what they do during that time, and what forking costs.
 *
 * Threads: one. State: one small struct per process and command. Never: counts what a launcher could not do otherwise:
 * it waits for its only command, or for one that needs what the one before did.
 */
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/code_kind.h"
#include "facts/path/critical_path.h"
#include "facts/wait_kind.h"
#include "util/hash.h"
#include "longest_wait.h"
#include "needs.h"
#include "pools.h"
#include "same_files.h"
#include "siblings.h"
#include "workers_table.h"

enum { MAX_COMMANDS = 1000 };

/* It only waits for its commands, one after another or all at once: of a life too short to be a launcher's, as a
 * compiler's driver, the totals say so. */
static bool only_waits(const struct pt_children *children, const struct pt_process *process)
{
    const struct pt_children_process *own = &children->processes[process->index];
    const double waited_ns = (double)pt_totals_of(process->totals, PT_KIND_wait_child)->ns;
    return pt_path_is_launcher(children->facts->paths, process) ||
           waited_ns > 0.9 * (double)(own->last_command_end_ns - own->first_command_ns);
}

/* Between the starts of two workers of one pool. */
#define LONGEST_START_GAP_NS 1000000000
enum { MOST_FORKED_APART = 65536 };

static void begin(void *state, struct pt_profile *profile)
{
    struct pt_children *children = state;
    const struct pt_session *session = profile->session;
    children->profile = profile;
    children->facts = profile->facts;
    children->processes = pt_calloc(session->n_processes, sizeof *children->processes);
    children->stages = pt_calloc(profile->stages.n, sizeof *children->stages);
    children->wait_for_waiters = pt_wait_for_waiters(session);
    children->hears = pt_calloc(pt_n_threads(&profile->facts->ids) + 1, sizeof *children->hears);
    children->takes_results = pt_calloc(pt_n_threads(&profile->facts->ids) + 1, sizeof *children->takes_results);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        struct pt_children_process *own = &children->processes[process->index];
        own->is_worker = pt_is_worker(process) && !pt_runs_scripts(process->parent);
        const struct pt_process *maker = own->is_worker ? pt_maker_of(process) : process->parent;
        if (!maker || maker->pid == process->pid || pt_is_of_multiprocessing(process))
            continue;
        struct pt_children_process *parent = &children->processes[maker->index];
        if (!own->is_worker) {
            if (!parent->last_command_end_ns || process->start_ns < parent->first_command_ns)
                parent->first_command_ns = process->start_ns;
            if (process->end_ns > parent->last_command_end_ns)
                parent->last_command_end_ns = process->end_ns;
            continue;
        }
        /* Workers of a pool are started one after the other. */
        if (!parent->n_workers || process->start_ns - parent->last_start_ns > LONGEST_START_GAP_NS)
            parent->n_batches_of_starts += MOST_FORKED_APART;
        own->batch_of_starts = parent->n_batches_of_starts;
        parent->last_start_ns = process->start_ns;
        if (!parent->n_workers++ || process->start_ns < parent->first_worker_ns)
            parent->first_worker_ns = process->start_ns;
        parent->has_workers = true;
    }
}

/* ---- commands ---- */

static void ran(struct pt_children *children, const struct pt_event *e, const char *text)
{
    const pt_u32 stage = pt_profile_stage_of(children->profile, e->process);
    const bool is_full = children->commands.n >= MAX_COMMANDS;
    const char *interned = !text     ? NULL
                           : is_full ? pt_intern_known(&children->texts, text)
                                     : pt_intern_text(&children->texts, text);
    if (is_full && !pt_map_find(&children->by_command, pt_hash_pair((uintptr_t)interned, stage)))
        interned = NULL;
    pt_u64 *slot = pt_map_at(&children->by_command, pt_hash_pair((uintptr_t)interned, stage));
    if (!*slot) {
        pt_vec_push(&children->commands, ((struct pt_child_command){.text = interned, .stage = stage}));
        *slot = children->commands.n;
    }
    struct pt_child_command *command = &children->commands.items[*slot - 1];
    command->waits++;
    command->ns += (pt_u64)e->duration_ns;
}

/* A shorter one is a question whether it has ended. */
#define LEAST_WAIT_NS 1000000

static void waited_for_command(struct pt_children *children, const struct pt_event *e, const struct pt_process *target,
                               const char *text)
{
    const bool is_for_clients = target && children->processes[target->index].serves;
    if (is_for_clients || e->duration_ns <= 0)
        return;
    ran(children, e, text ? text : target ? (target->exe ? target->exe : target->comm) : "(a program not traced)");
    if (only_waits(children, e->process))
        return;
    struct pt_children_stage *stage = &children->stages[pt_profile_stage_of(children->profile, e->process)];
    pt_split_time_add(&stage->child, children->profile->facts->paths, e, e->start_ns);
    children->processes[e->process->index].has_waited = true;
    stage->unknown_ns += !target && !text ? e->duration_ns : 0;
    stage->child_waits += e->duration_ns >= LEAST_WAIT_NS;
    stage->concurrent_ns += e->duration_ns >= LEAST_WAIT_NS ? pt_children_concurrent_ns(children, e) : 0;
}

static void waited_for_worker(struct pt_children *children, const struct pt_event *e)
{
    struct pt_children_stage *stage = &children->stages[pt_profile_stage_of(children->profile, e->process)];
    pt_children_pools_wait(&children->pools, e);
    pt_children_longest_wait_add(children, e);
    pt_time_union_add(&stage->wait, e->start_ns, pt_event_end_ns(e));
    pt_time_union_add(&stage->with_forks, e->start_ns, pt_event_end_ns(e));
}

/* ---- events ---- */

static bool has_workers_now(const struct pt_children_process *own, const struct pt_event *e)
{
    return own->has_workers && pt_event_end_ns(e) >= own->first_worker_ns;
}

static bool has_commands_now(const struct pt_children_process *own, const struct pt_event *e)
{
    return pt_event_end_ns(e) >= own->first_command_ns && e->start_ns < own->last_command_end_ns;
}

static bool is_own_worker(const struct pt_children *children, const struct pt_process *target,
                          const struct pt_process *process)
{
    return target && children->processes[target->index].is_worker && pt_maker_of(target) == process;
}

/* The process that last wrote to the channel that it reads, or read from the one that it writes to; that call may
 * not have returned yet. */
static const struct pt_process *other_side(const struct pt_children *children, const struct pt_event *e)
{
    const struct pt_span *span = &children->facts->call.span;
    const bool is_channel = span->blocker_kind == PT_BLOCKER_WRITER || span->blocker_kind == PT_BLOCKER_READER;
    return is_channel ? pt_channels_other_process(&children->facts->channels, e->process, span->blocker,
                                                  span->blocker_kind == PT_BLOCKER_WRITER)
                      : NULL;
}

/* Whatever thread of the parent takes it: a pool has one for that. Not what it asks a worker for over a connection:
 * each has one of its own. */
static void note_results(struct pt_children *children, const struct pt_event *e)
{
    const char *path = pt_descriptor_of_event(e);
    const bool is_end_of_file = e->desc->moves_bytes && e->result <= 0;
    const bool may_be = path && strncmp(path, "unix", 4) != 0 && !is_end_of_file;
    const struct pt_process *target = may_be ? other_side(children, e) : NULL;
    if (!pt_sends(e) && is_own_worker(children, target, e->process)) {
        struct pt_children_process *worker = &children->processes[target->index];
        worker->results = worker->results ? worker->results : children->facts->call.span.blocker;
        worker->n_results++;
        children->processes[e->process->index].has_received = true;
        children->takes_results[pt_thread_number(&children->facts->ids, e->thread)] = true;
    }
}

/* A child that was made to serve a client is nobody's data worker: a session of sshd, a backend of PostgreSQL. */
static void note_service(struct pt_children *children, const struct pt_event *e)
{
    struct pt_children_process *own = &children->processes[e->process->index];
    const char *path = pt_is_main_thread(e) ? pt_descriptor_of_event(e) : NULL;
    if (!path || pt_connection_end_of(&children->facts->ends, e->process, path) != PT_END_SERVER)
        return;
    struct pt_children_process *parent = &children->processes[pt_maker_of(e->process)->index];
    own->is_worker = false;
    own->serves = true;
    parent->has_workers = --parent->n_workers > 0;
}

/* A pool of processes that asyncio uses: a thread of it takes the results, and wakes the loop, which has waited until
 * this call. Any other thread wakes it for its own work: what a database answered. */
static bool is_woken_for_result(const struct pt_children *children, const struct pt_event *e)
{
    const struct pt_facts *facts = children->facts;
    const struct pt_span *span = &facts->call.span;
    if (!facts->call.loop.is_taken || span->blocker_kind != PT_BLOCKER_WRITER)
        return false;
    const struct pt_thread *other =
        pt_channels_other_thread(&facts->channels, e->thread, span->blocker, true, pt_event_end_ns(e));
    return other && other->process == e->process && children->takes_results[pt_thread_number(&facts->ids, other)];
}

static void waited_in_loop(struct pt_children *children, const struct pt_event *e)
{
    const struct pt_loop_answer *loop = &children->facts->call.loop;
    struct pt_event wait = *e;
    wait.start_ns = loop->wait.start_ns;
    wait.duration_ns = loop->wait.end_ns - loop->wait.start_ns;
    waited_for_worker(children, &wait);
}

/* The wait of an event loop is one for a worker where the call behind it takes what a worker sent, or is woken for it.
 * Any other is for clients, servers and timers. */
static void waited_on_channel(struct pt_children *children, const struct pt_event *e)
{
    struct pt_children_process *own = &children->processes[e->process->index];
    const struct pt_loop_answer *loop = &children->facts->call.loop;
    const bool is_loop = pt_time_part_of_event(e) == PT_PART_idle;
    const struct pt_process *target = other_side(children, e);
    if (target && pt_is_of_multiprocessing(target)) { /* it forks a worker */
        waited_for_worker(children, e);
    } else if (is_own_worker(children, target, e->process)) {
        own->batches_received += e->desc->kind == PT_KIND_io_read || e->desc->kind == PT_KIND_net_receive;
        if (loop->is_known && loop->wait.part == PT_PART_data_wait)
            waited_in_loop(children, e);
        waited_for_worker(children, e);
    } else if (target && target->parent == e->process) {
        waited_for_command(children, e, target, NULL);
    } else if (!target && has_workers_now(own, e)) {
        if (!is_loop)
            waited_for_worker(children, e);
        if (is_woken_for_result(children, e)) {
            own->batches_received++;
            waited_in_loop(children, e);
        }
    } else if (!target && has_commands_now(own, e)) {
        waited_for_command(children, e, NULL, "(output of commands)");
    }
}

/* pclose does not say which child it waited for: take the one that ended during the call. The end in its file may be
 * a little later. */
static const struct pt_process *child_that_ended(const struct pt_children *children, const struct pt_event *e)
{
    const struct pt_session *session = children->profile->session;
    const struct pt_process *best = NULL;
    for (pt_u32 i = session->n_processes; i-- > 0;) {
        const struct pt_process *process = session->processes[i];
        if (process->parent == e->process && process->end_ns > e->start_ns &&
            process->end_ns <= pt_event_end_ns(e) + LEAST_WAIT_NS && (!best || process->end_ns > best->end_ns))
            best = process;
    }
    return best;
}

static void waited_for_child(struct pt_children *children, const struct pt_event *e)
{
    const bool is_pclose = e->result == 0 && pt_event_as(e, wait_child)->status != PT_NO_WAIT_STATUS;
    const struct pt_process *target =
        is_pclose ? child_that_ended(children, e)
                  : pt_process_of_pid(&children->facts->ids, e->process, e->result, pt_event_end_ns(e));
    const bool is_worker = is_own_worker(children, target, e->process);
    /* One copy of itself that it waits for is a detour, several are a design. */
    if (is_worker && children->processes[e->process->index].n_workers > 1)
        waited_for_worker(children, e);
    else if (!is_worker || !children->wait_for_waiters[e->process->index])
        waited_for_command(children, e, target, NULL);
}

/* The time between two consecutive forks belongs to starting processes, too: it gets longer while those that were
 * started before run. */
#define LONGEST_FORK_GAP_NS 500000000

/* A child's first event may come after its parent's fork has returned. */
#define LONGEST_BIRTH_NS 50000000

static void forked(struct pt_children *children, const struct pt_event *e)
{
    struct pt_children_stage *stage = &children->stages[pt_profile_stage_of(children->profile, e->process)];
    const struct pt_process *child =
        pt_process_of_pid(&children->facts->ids, e->process, e->result, pt_event_end_ns(e) + LONGEST_BIRTH_NS);
    const bool is_worker = child && children->processes[child->index].is_worker;
    const struct pt_process *maker = is_worker ? pt_maker_of(child) : e->process;
    struct pt_children_process *parent = &children->processes[maker->index];
    const bool has_worked = parent->has_received; /* since the last fork: what is between them is no start */
    if (child) {
        struct pt_children_process *own = &children->processes[child->index];
        own->fork_ns = (double)e->duration_ns;
        if (own->is_worker) {
            parent->n_apart += parent->has_received;
            own->batch_of_starts += parent->n_apart;
            parent->has_received = false;
        }
    }
    const bool is_next =
        parent->last_fork_ns && !has_worked && e->start_ns - parent->last_fork_ns < LONGEST_FORK_GAP_NS;
    pt_time_union_add(&stage->with_forks, is_next ? parent->last_fork_ns : e->start_ns, pt_event_end_ns(e));
    parent->last_fork_ns = pt_event_end_ns(e);
}

/* A wait for another worker, as a rule. Not: conditions and joins, by which it waits for its own threads' work. */
static bool is_wait_for_lock(const struct pt_event *e, enum pt_time_part part)
{
    return part == PT_PART_lock && (e->desc->kind == PT_KIND_lock_mutex || e->desc->kind == PT_KIND_lock_rwlock ||
                                    e->desc->kind == PT_KIND_lock_barrier || e->desc->kind == PT_KIND_lock_semop ||
                                    e->desc->kind == PT_KIND_io_lock);
}

/* Until then it starts: spawn and forkserver import the whole program again. What is imported long after the last of it
 * is a part of its work; where nobody sees its results, sooner. */
#define LONGEST_IMPORT_NS 2000000000
#define LONGEST_IMPORT_OF_UNKNOWN_NS 500000000

static void note_import(struct pt_children_process *own, const struct pt_event *e)
{
    const pt_i64 last_ns = own->ready_ns ? own->ready_ns : e->process->start_ns;
    if (e->desc->kind != PT_KIND_io_open || own->results || e->start_ns - last_ns > LONGEST_IMPORT_NS)
        return;
    const char *path = pt_process_string(e->process, pt_event_as(e, io_open)->path);
    if (!path || !pt_code_is_program_file(path))
        return;
    own->loaded_ns =
        e->start_ns - (own->loaded_ns ? own->loaded_ns : e->process->start_ns) <= LONGEST_IMPORT_OF_UNKNOWN_NS
            ? pt_event_end_ns(e)
            : own->loaded_ns;
    own->ready_ns = pt_event_end_ns(e);
}

/* What a worker does itself. */
static void worked(struct pt_children_process *own, const struct pt_event *e, enum pt_time_part part)
{
    /* It may have been in the call when the stage ended. */
    const pt_i64 end_ns = e->process->end_ns < pt_event_end_ns(e) ? e->process->end_ns : pt_event_end_ns(e);
    const double ns = end_ns > e->start_ns ? (double)(end_ns - e->start_ns) : 0;
    if (pt_part_is_of_files(part))
        own->file_ns += ns;
    else if (part == PT_PART_network || part == PT_PART_sleep)
        own->other_ns += ns;
    else if (part == PT_PART_data_wait || part == PT_PART_idle || e->desc->kind == PT_KIND_lock_sem)
        own->idle_ns += ns;
    else if (is_wait_for_lock(e, part))
        own->lock_ns += ns;
}

/* What it takes results with is a thread that waits for workers; another one works itself: PyTorch's that makes the
 * backward pass. */
static bool is_for_own_thread(const struct pt_children *children, const struct pt_event *e)
{
    const struct pt_span *span = &children->facts->call.span;
    if (span->blocker_kind != PT_BLOCKER_THREAD || children->hears[span->blocker])
        return false;
    const struct pt_thread *other = pt_thread_of_number(&children->facts->ids, span->blocker);
    return other->process == e->process && other != e->thread;
}

/* What a main thread waits for, as far as it may be its children. */
static void waited(struct pt_children *children, const struct pt_event *e, enum pt_time_part part)
{
    switch (e->desc->kind) {
    case PT_KIND_wait_child:
        waited_for_child(children, e);
        break;
    case PT_KIND_proc_system:
        waited_for_command(children, e, NULL, pt_process_string(e->process, pt_event_as(e, proc_system)->command));
        break;
    case PT_KIND_lock_sem:
    case PT_KIND_lock_cond:
    case PT_KIND_wait_thread:
        if (part != PT_PART_gil_wait && has_workers_now(&children->processes[e->process->index], e) &&
            !is_for_own_thread(children, e))
            waited_for_worker(children, e);
        break;
    default:
        if (part == PT_PART_data_wait || (part == PT_PART_idle && e->result > 0 && pt_descriptor_of_event(e)))
            waited_on_channel(children, e);
        break;
    }
}

/* When it began to ask for work, and last gave something back. */
static void note_turn(struct pt_children_process *own, const struct pt_event *e, enum pt_time_part part)
{
    const bool is_local = pt_channel_of_event(e) == PT_CHANNEL_LOCAL;
    const bool receives = e->desc->kind == PT_KIND_io_read || e->desc->kind == PT_KIND_net_receive;
    if (!own->asked_ns && (e->desc->kind == PT_KIND_lock_sem || (receives && is_local)))
        own->asked_ns = e->start_ns;
    if (part != PT_PART_native && pt_sends(e) && is_local)
        own->last_sent_ns = pt_event_end_ns(e);
}

static void event(void *state, const struct pt_event *e)
{
    struct pt_children *children = state;
    if (e->desc->role != PT_ROLE_SPAN)
        return;
    const enum pt_time_part part = pt_time_part_of_event(e);
    struct pt_children_process *own = &children->processes[e->process->index];
    if (children->profile->session->n_processes > 2)
        pt_children_note_file(children, e);
    if (e->desc->kind == PT_KIND_proc_fork && e->result > 0)
        forked(children, e);
    if (own->is_worker && pt_channel_of_event(e) != PT_CHANNEL_FILE)
        note_service(children, e);
    if (own->has_workers && part == PT_PART_data_wait) {
        note_results(children, e);
        children->hears[pt_thread_number(&children->facts->ids, e->thread)] = true;
    }
    if (!pt_is_main_thread(e))
        return;
    if (own->is_worker) {
        note_import(own, e);
        pt_children_note_read(children, e);
        worked(own, e, part);
        note_turn(own, e, part);
    }
    waited(children, e, part);
}

/* On a busy machine forks of small processes take long, too, until the caller gets a CPU again. With this size, and
 * without huge pages, copying the page tables takes a millisecond. */
#define LARGE_BYTES (128u << 20)

/* The rules about workers say what starting those costs. */
static bool is_of_loader(const struct pt_children *children, const struct pt_children_stage *stage,
                         const struct pt_process *child)
{
    return children->processes[child->parent->index].batches_received >= PT_MIN_BATCHES_FOR_LOADER ||
           (stage->batches_of_loader >= PT_MIN_BATCHES_FOR_LOADER && children->processes[child->index].results);
}

static void add_fork(const struct pt_children *children, struct pt_children_stage *stage,
                     const struct pt_process *child)
{
    const double ns = children->processes[child->index].fork_ns;
    if (ns <= 0 || !child->parent || is_of_loader(children, stage, child))
        return;
    stage->forks_of_all++;
    if (child->parent->max_rss_bytes < LARGE_BYTES)
        return;
    stage->forks.n++;
    stage->forks.ns += ns;
    stage->forks.longest_ns = ns > stage->forks.longest_ns ? ns : stage->forks.longest_ns;
    if (child->parent->max_rss_bytes > stage->forks.rss_bytes)
        stage->forks.rss_bytes = child->parent->max_rss_bytes;
}

/* With pin_memory=True a thread of PyTorch's takes them from the workers, and the main thread from that one: of what
 * the main thread reads alone, a training on a GPU would have no workers that feed it, and no finding about them. */
static void add_batches(struct pt_children *children, const struct pt_profile *profile)
{
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        children->stages[pt_profile_stage_of(profile, process)].batches_received +=
            children->processes[process->index].batches_received;
    }
    for (pt_u32 i = 0; i < profile->stages.n; i++) {
        struct pt_children_stage *stage = &children->stages[i];
        stage->batches_of_loader = (pt_u64)pt_stage_number_or_0(profile, i, "training.batches_of_workers.count");
        if (stage->batches_of_loader > stage->batches_received)
            stage->batches_received = stage->batches_of_loader;
    }
}

static void finish(void *state, struct pt_profile *profile)
{
    struct pt_children *children = state;
    add_batches(children, profile);
    pt_children_find_loaders(children);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        add_fork(children, &children->stages[pt_profile_stage_of(profile, process)], process);
    }
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        pt_children_results(children, stage);
    free(children->processes);
    free(children->stages);
    free(children->wait_for_waiters);
    free(children->hears);
    free(children->takes_results);
    free(children->commands.items);
    free(children->pools.items);
    pt_children_reads_free(&children->reads);
    pt_map_fini(&children->by_command);
    pt_map_fini(&children->makers);
    pt_intern_fini(&children->texts);
}

const struct pt_analysis pt_analysis_children = {
    .name = "children",
    .summary = "waits for workers and commands, what workers do, forks",
    .categories =
        PT_CATEGORY_IO | PT_CATEGORY_STDIO | PT_CATEGORY_META | PT_CATEGORY_PROC | PT_CATEGORY_WAIT | PT_CATEGORY_NET,
    .state_size = sizeof(struct pt_children),
    .begin = begin,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
