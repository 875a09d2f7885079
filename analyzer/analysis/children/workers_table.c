/* SPDX-License-Identifier: MIT
 *
 * Owns: metrics and tables of workers, commands and forks. Threads: one, after the last event. Never: judges.
 */
#include "workers_table.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "facts/path/critical_path.h"
#include "model/window.h"
#include "profile/process_name.h"
#include "idle_queues.h"
#include "longest_wait.h"
#include "pools.h"
#include "repeated.h"
#include "same_files.h"

enum { MAX_ROWS = 50, MAX_COMPARED = 1000 };

struct workers {
    const struct pt_process *items[MAX_COMPARED];
    const struct pt_process *makers[MAX_COMPARED]; /* of items: to find one reads the arguments of a process */
    bool feed[MAX_COMPARED];                       /* items: a process that loads; all, where none does */
    pt_u32 n, n_feeding, total;
    double all_busy_ns, all_cpu_ns, on_path_ns;
    /* Without those that wait for work beside another loader's. */
    double life_ns, busy_ns, file_ns, other_ns;
    double cpu_ns, cpu_life_ns; /* of the same time */
    double fault_ns, queue_ns;  /* main threads: for pages that were not in memory, for a CPU; NAN = not known of all */
    bool is_cpu_known;
};

static double life_ns(const struct pt_process *process)
{
    return process->end_ns > process->start_ns ? (double)(process->end_ns - process->start_ns) : 0;
}

static bool is_worker_of(const struct pt_children *children, pt_u32 stage, const struct pt_process *process)
{
    return children->processes[process->index].is_worker && pt_profile_stage_of(children->profile, process) == stage;
}

static double busy_ns(const struct pt_children *children, const struct pt_process *process)
{
    const struct pt_children_process *own = &children->processes[process->index];
    const double busy = life_ns(process) - own->idle_ns - own->lock_ns;
    return busy > 0 ? busy : 0;
}

/* What the kernel knows of a worker's main thread. Without it a wait for a page looks like computing, because it is
 * no call of libc. A page fault while libc copies within fread is part of the time in files. */
struct kernel_times {
    double queue_ns, fault_ns; /* NAN = not known; faults: outside of recorded calls */
};

static struct kernel_times kernel_times_of(const struct pt_children *children, pt_u32 stage,
                                           const struct pt_process *process)
{
    const struct pt_thread *main_one = pt_main_thread(process);
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(children->facts, stage);
    const pt_u32 thread = main_one ? pt_facts_cpu_thread(children->facts, main_one) : 0;
    if (!thread)
        return (struct kernel_times){NAN, NAN};
    return (struct kernel_times){
        .queue_ns = (double)pt_cpu_runnable_ns(&cpu->data->times[thread]),
        .fault_ns = pt_cpu_life(cpu, &children->facts->views[stage], thread).fault_ns,
    };
}

/* Of those that the main process waits for: the percentages. */
static void add_shares(const struct pt_children *children, pt_u32 stage, const struct pt_process *process,
                       struct workers *sum)
{
    const struct pt_children_process *own = &children->processes[process->index];
    const struct kernel_times kernel = kernel_times_of(children, stage, process);
    const struct pt_image_use use = pt_image_use(children->facts, process);
    sum->life_ns += life_ns(process);
    sum->busy_ns += busy_ns(children, process);
    sum->file_ns += own->file_ns;
    sum->other_ns += own->other_ns;
    sum->fault_ns += kernel.fault_ns;
    sum->queue_ns += kernel.queue_ns;
    sum->cpu_ns += isnan(use.cpu_ns) ? 0 : use.cpu_ns;
    sum->cpu_life_ns += use.lived_ns;
    sum->is_cpu_known &= !isnan(use.cpu_ns);
}

/* Which of the first of them wait for work beside others. */
static void find_idle(const struct pt_children *children, pt_u32 stage, const struct workers *sum, bool *are_idle)
{
    struct pt_children_life lives[MAX_COMPARED];
    if (!children->stages[stage].batches_of_loader)
        return;
    for (pt_u32 i = 0; i < sum->n; i++)
        lives[i] =
            (struct pt_children_life){sum->items[i], life_ns(sum->items[i]), busy_ns(children, sum->items[i]), false};
    pt_children_find_idle(children, lives, sum->n);
    for (pt_u32 i = 0; i < sum->n; i++)
        are_idle[i] = lives[i].waits_beside;
}

static void gather(const struct pt_children *children, pt_u32 stage, struct workers *sum)
{
    const struct pt_session *session = children->profile->session;
    bool are_idle[MAX_COMPARED] = {false};
    pt_u32 n = 0;
    sum->is_cpu_known = true;
    for (pt_u32 i = 0; i < session->n_processes && sum->n < MAX_COMPARED; i++)
        if (is_worker_of(children, stage, session->processes[i]))
            sum->items[sum->n++] = session->processes[i];
    for (pt_u32 i = 0; i < sum->n; i++) {
        sum->makers[i] = pt_maker_of(sum->items[i]);
        sum->feed[i] = sum->makers[i] && children->processes[sum->makers[i]->index].loads;
        sum->n_feeding += sum->feed[i];
    }
    for (pt_u32 i = 0; i < sum->n && !sum->n_feeding; i++)
        sum->feed[i] = true;
    find_idle(children, stage, sum, are_idle);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        if (!is_worker_of(children, stage, process))
            continue;
        const double cpu_ns = pt_image_use(children->facts, process).cpu_ns;
        sum->total++;
        sum->all_busy_ns += busy_ns(children, process);
        sum->all_cpu_ns += isnan(cpu_ns) ? 0 : cpu_ns;
        sum->on_path_ns += (double)children->facts->paths->processes[process->index].on_path_ns;
        if (n >= MAX_COMPARED || !are_idle[n++])
            add_shares(children, stage, process, sum);
    }
}

/* It has done less than it had to. Whoever stops its workers asks them by SIGTERM. */
static bool has_died(const struct pt_process *process)
{
    const int status = process->wait_status;
    return status != -1 && WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM;
}

/* Of one loader or pool: a training has one for validation, too, and a program may have helpers beside its pool. */
static bool work_together(const struct pt_children *children, const struct pt_process *a, const struct pt_process *b)
{
    const struct pt_children_process *one = &children->processes[a->index], *other = &children->processes[b->index];
    if (a->parent != b->parent || has_died(a) || has_died(b) || !(a->start_ns < b->end_ns && b->start_ns < a->end_ns))
        return false;
    return one->results && other->results ? one->results == other->results
                                          : one->batch_of_starts == other->batch_of_starts;
}

static bool start_together(const struct pt_children *children, const struct pt_process *a, const struct pt_process *b)
{
    return a->parent == b->parent &&
           children->processes[a->index].batch_of_starts == children->processes[b->index].batch_of_starts;
}

static pt_i64 start_ns(const struct pt_children *children, const struct pt_process *process)
{
    const pt_i64 ns = children->processes[process->index].ready_ns - process->start_ns;
    return ns > 0 ? ns : 0;
}

/* Of those that start together, the one that takes longest. */
static double starts_ns(const struct pt_children *children, const struct workers *workers)
{
    double sum = 0;
    for (pt_u32 i = 0; i < workers->n; i++) {
        const pt_i64 ns = start_ns(children, workers->items[i]);
        bool is_longest = true;
        for (pt_u32 j = 0; j < workers->n && is_longest; j++) {
            const pt_i64 other_ns = start_ns(children, workers->items[j]);
            is_longest = !(other_ns > ns || (other_ns == ns && j < i)) ||
                         !start_together(children, workers->items[i], workers->items[j]);
        }
        sum += is_longest ? (double)ns : 0;
    }
    return sum;
}

/* The most of those that feed that lived at once, in all or of one process: some was the last of them to start. */
static pt_u32 most_at_once(const struct workers *workers, bool of_one)
{
    pt_u32 most = 0;
    for (pt_u32 i = 0; i < workers->n; i++) {
        pt_u32 n = 0;
        const pt_i64 at_ns = workers->items[i]->start_ns;
        for (pt_u32 j = 0; j < workers->n; j++)
            n += workers->items[j]->start_ns <= at_ns && workers->items[j]->end_ns > at_ns && workers->feed[j] &&
                 (!of_one || workers->makers[j] == workers->makers[i]);
        most = n > most ? n : most;
    }
    return most;
}

/* Compared is what they did, not what they queued for a CPU to do it: that is also what other programs took. They may
 * have queued while they were given work, too. */
static double done_ns(const struct pt_children *children, pt_u32 stage, const struct pt_process *process)
{
    const struct pt_thread *main_one = pt_main_thread(process);
    const pt_u32 thread = main_one ? pt_facts_cpu_thread(children->facts, main_one) : 0;
    const struct pt_cpu_data *data = pt_facts_cpu(children->facts, stage)->data;
    const double busy = busy_ns(children, process), cpu_ns = pt_image_use(children->facts, process).cpu_ns;
    const double queued_ns = thread ? (double)pt_cpu_runnable_ns(&data->times[thread]) : 0;
    return fmax(busy - queued_ns, isnan(cpu_ns) ? 0 : fmin(cpu_ns, busy));
}

struct balance {
    const struct pt_process *busiest;
    double most_ns, least_ns, mean_ns;
    pt_u32 n; /* of them, with the busiest */
};

/* One worker, compared with those that it works beside. */
static struct balance balance_around(const struct pt_children *children, pt_u32 stage, const struct workers *workers,
                                     const struct pt_process *busiest)
{
    struct balance balance = {.busiest = busiest, .most_ns = done_ns(children, stage, busiest)};
    balance.least_ns = balance.most_ns;
    for (pt_u32 i = 0; i < workers->n; i++) {
        const double ns = done_ns(children, stage, workers->items[i]);
        if (!work_together(children, workers->items[i], busiest))
            continue;
        balance.mean_ns += ns;
        balance.least_ns = ns < balance.least_ns ? ns : balance.least_ns;
        balance.n++;
    }
    balance.mean_ns /= balance.n ? balance.n : 1;
    return balance;
}

/* How long, on average, those that work beside it had nothing left to do while it went on: each has a part of its own.
 * Workers that are given their work piece by piece end together. */
static double ended_before_ns(const struct pt_children *children, const struct workers *workers,
                              const struct balance *balance)
{
    double sum_ns = 0;
    for (pt_u32 i = 0; i < workers->n; i++) {
        const struct pt_process *one = workers->items[i];
        if (one->end_ns < balance->busiest->end_ns && work_together(children, one, balance->busiest))
            sum_ns += (double)(balance->busiest->end_ns - one->end_ns);
    }
    return sum_ns / balance->n;
}

/* The busiest of those that work beside others. */
static struct balance balance_of(const struct pt_children *children, pt_u32 stage, const struct workers *workers)
{
    struct balance most = {0};
    for (pt_u32 i = 0; i < workers->n; i++) {
        if (done_ns(children, stage, workers->items[i]) <= most.most_ns)
            continue;
        const struct balance one = balance_around(children, stage, workers, workers->items[i]);
        most = one.n > 1 ? one : most;
    }
    return most;
}

static const char no_profile[] = "a worker is not in the CPU profile: that needs proftrace run and perf events";

static struct pt_value percent(double part, double whole)
{
    return whole > 0 ? pt_real(100 * part / whole) : pt_unknown("no workers");
}

#define LONG_BEFORE 0.15 /* of what is waited for them */

static void set_balance(const struct pt_children *children, pt_u32 stage, const struct workers *workers, double wait_s)
{
    struct pt_metrics *metrics = &children->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct balance balance = balance_of(children, stage, workers);
    if (!balance.busiest || balance.mean_ns <= 0)
        return;
    const double others_ns = (balance.mean_ns * balance.n - balance.most_ns) / (balance.n - 1);
    /* Workers of a loader take turns: the slow one could be as fast as the others. Elsewhere, and where those have
     * nothing left to do, what it does too much is divided among all. */
    const double before_s = ended_before_ns(children, workers, &balance) / 1e9;
    const bool is_long_before = before_s >= LONG_BEFORE * wait_s;
    const bool take_turns = children->stages[stage].batches_received && !is_long_before;
    const double fair_ns = take_turns ? balance.least_ns : balance.mean_ns;
    const double share = (balance.most_ns - fair_ns) / balance.most_ns;
    pt_metrics_set(metrics, scope, "helpers.imbalance.ratio", pt_real(balance.most_ns / balance.mean_ns));
    pt_metrics_set(metrics, scope, "helpers.imbalance.most_s", pt_real(balance.most_ns / 1e9));
    pt_metrics_set(metrics, scope, "helpers.imbalance.mean_s", pt_real(balance.mean_ns / 1e9));
    pt_metrics_set(metrics, scope, "helpers.imbalance.others_s", pt_real(others_ns / 1e9));
    pt_metrics_set(metrics, scope, "helpers.imbalance.busy_percent",
                   percent(balance.most_ns, life_ns(balance.busiest)));
    pt_metrics_set(metrics, scope, "helpers.imbalance.ended_before_s", pt_real(is_long_before ? before_s : 0));
    pt_metrics_set(metrics, scope, "helpers.imbalance.pid", pt_integer(balance.busiest->pid));
    pt_metrics_set(metrics, scope, "helpers.imbalance.cost_s",
                   pt_real(share * fmin(wait_s, busy_ns(children, balance.busiest) / 1e9)));
}

/* After a fork the parent faults on each page that it writes next; measured, of the fork's time: 0.37. */
#define FAULTS_OF_FORKS 0.35

static const char *why_no_cpu(const struct pt_children *children)
{
    return pt_session_is_window(children->profile->session) ? pt_window_no_counters
                                                            : "a worker ended before it noted its CPU time";
}

/* As far as it is known; 0 would say that they leave all CPUs to others. */
static struct pt_value cpu_of_all(const struct pt_children *children, const struct workers *workers)
{
    return workers->all_cpu_ns > 0 ? pt_real(workers->all_cpu_ns / 1e9) : pt_unknown(why_no_cpu(children));
}

static void set_workers(const struct pt_children *children, pt_u32 stage)
{
    struct pt_metrics *metrics = &children->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_children_stage *s = &children->stages[stage];
    struct workers *workers = pt_calloc(1, sizeof *workers);
    gather(children, stage, workers);
    if (workers->total) {
        const double wait_s = (double)s->wait.total_ns / 1e9;
        pt_metrics_set(metrics, scope, "helpers.wait_s", pt_real(wait_s));
        pt_children_longest_wait_results(children, stage);
        pt_metrics_set(metrics, scope, "helpers.start_s", pt_real(fmin(starts_ns(children, workers) / 1e9, wait_s)));
        pt_metrics_set(metrics, scope, "helpers.on_path_s", pt_real(workers->on_path_ns / 1e9));
        pt_metrics_set(metrics, scope, "helpers.feed.calls", pt_integer(s->batches_received));
        pt_metrics_set(metrics, scope, "helpers.of_loader_percent", pt_real(s->batches_of_loader ? 100 : 0));
        pt_metrics_set(metrics, scope, "helpers.of_pool_percent", pt_real(s->batches_of_loader ? 0 : 100));
        const double total_s = (double)s->with_forks.total_ns / 1e9, forks_s = fmax(0, total_s - wait_s);
        pt_metrics_set(metrics, scope, "helpers.total_s", pt_real(total_s + FAULTS_OF_FORKS * forks_s));
        pt_metrics_set(metrics, scope, "helpers.workers.count", pt_integer(workers->total));
        const pt_u32 at_once = most_at_once(workers, false);
        pt_metrics_set(metrics, scope, "helpers.workers.at_once", pt_integer(at_once));
        pt_metrics_set(metrics, scope, "helpers.workers.of_one_process", pt_integer(most_at_once(workers, true)));
        const bool kept = (workers->n_feeding ? workers->n_feeding : workers->total) <= at_once;
        pt_metrics_set(metrics, scope, "helpers.kept_percent", pt_real(kept ? 100 : 0));
        pt_metrics_set(metrics, scope, "helpers.busy_percent", percent(workers->busy_ns, workers->life_ns));
        pt_metrics_set(metrics, scope, "helpers.file_percent", percent(workers->file_ns, workers->life_ns));
        pt_metrics_set(metrics, scope, "helpers.other_percent", percent(workers->other_ns, workers->life_ns));
        pt_metrics_set(metrics, scope, "helpers.busy_s", pt_real(workers->all_busy_ns / 1e9));
        pt_metrics_set(metrics, scope, "helpers.cpu_s", cpu_of_all(children, workers));
        pt_metrics_set(metrics, scope, "helpers.cpu_percent",
                       workers->is_cpu_known
                           ? percent(fmin(workers->cpu_ns, workers->cpu_life_ns), workers->cpu_life_ns)
                           : pt_unknown(why_no_cpu(children)));
        pt_metrics_set(metrics, scope, "helpers.fault_percent",
                       isnan(workers->fault_ns) ? pt_unknown(no_profile)
                                                : percent(workers->fault_ns, workers->life_ns));
        pt_metrics_set(metrics, scope, "helpers.queue_percent",
                       isnan(workers->queue_ns) ? pt_unknown(no_profile)
                                                : percent(workers->queue_ns, workers->life_ns));
        set_balance(children, stage, workers, wait_s);
    }
    free(workers);
}

struct worker_row {
    const char *process;
    pt_u32 pid;
    double lived_s, busy_s, file_s, other_s, lock_s, idle_s;
    struct pt_value busy_percent, cpu_s, fault_s;
};

static const struct pt_column worker_columns[] = {
    PT_COLUMN(struct worker_row, process, TEXT, "Worker"),
    PT_COLUMN(struct worker_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct worker_row, lived_s, SECONDS, "Lived"),
    PT_COLUMN(struct worker_row, busy_s, SECONDS, "Busy"),
    PT_COLUMN(struct worker_row, busy_percent, PERCENT, "Busy share"),
    PT_COLUMN(struct worker_row, cpu_s, SECONDS, "CPU"),
    PT_COLUMN(struct worker_row, file_s, SECONDS, "Files"),
    PT_COLUMN(struct worker_row, other_s, SECONDS, "Network, sleep"),
    PT_COLUMN(struct worker_row, fault_s, SECONDS, "Page faults"),
    PT_COLUMN(struct worker_row, lock_s, SECONDS, "Locks"),
    PT_COLUMN(struct worker_row, idle_s, SECONDS, "Waiting for work"),
};
static const struct pt_table_kind by_worker = {PT_VIEW_worker_use, .most = MAX_ROWS, PT_COLUMNS(worker_columns)};

static void add_worker(const struct pt_children *children, pt_u32 stage, struct pt_rows *rows,
                       const struct pt_process *process)
{
    const struct pt_children_process *own = &children->processes[process->index];
    const double fault_ns = kernel_times_of(children, stage, process).fault_ns;
    pt_rows_add(rows, &(struct worker_row){
                          .process = pt_process_name(children->profile, process),
                          .pid = process->pid,
                          .lived_s = life_ns(process) / 1e9,
                          .busy_s = busy_ns(children, process) / 1e9,
                          .busy_percent = percent(busy_ns(children, process), life_ns(process)),
                          .cpu_s = pt_image_cpu_s(children->facts, process),
                          .file_s = own->file_ns / 1e9,
                          .other_s = own->other_ns / 1e9,
                          .fault_s = isnan(fault_ns) ? pt_unknown(no_profile) : pt_real(fault_ns / 1e9),
                          .lock_s = own->lock_ns / 1e9,
                          .idle_s = own->idle_ns / 1e9,
                      });
}

static void table_of_workers(const struct pt_children *children, pt_u32 stage)
{
    const struct pt_session *session = children->profile->session;
    struct pt_rows rows = pt_rows(&children->profile->metrics, pt_scope_stage(stage), &by_worker);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        if (is_worker_of(children, stage, process))
            add_worker(children, stage, &rows, process);
    }
}

/* ---- commands and forks ---- */

static int by_time(const void *a, const void *b)
{
    const struct pt_child_command *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return strcmp(x->text ? x->text : "", y->text ? y->text : "");
}

/* A child that has ended already is no wait. */
#define LEAST_SHOWN_NS 1000000

struct command_row {
    const char *command;
    pt_u64 waits;
    double total_s;
};

static const struct pt_column command_columns[] = {
    PT_COLUMN(struct command_row, command, TEXT, "Command"),
    PT_COLUMN(struct command_row, waits, COUNT, "Waits"),
    PT_COLUMN(struct command_row, total_s, SECONDS, "Waited"),
};
static const struct pt_table_kind by_command = {PT_VIEW_commands, .most = MAX_ROWS, PT_COLUMNS(command_columns)};

static void table_of_commands(struct pt_children *children, pt_u32 stage)
{
    struct pt_metrics *metrics = &children->profile->metrics;
    struct pt_rows rows = pt_rows(metrics, pt_scope_stage(stage), &by_command);
    if (children->commands.n)
        qsort(children->commands.items, children->commands.n, sizeof *children->commands.items, by_time);
    for (size_t i = 0; i < children->commands.n; i++) {
        const struct pt_child_command *command = &children->commands.items[i];
        if (command->stage != stage || command->ns < LEAST_SHOWN_NS || !pt_rows_have_room(&rows))
            continue;
        pt_rows_add(&rows, &(struct command_row){
                               .command = command->text ? pt_metrics_text(metrics, command->text) : "(others)",
                               .waits = command->waits,
                               .total_s = (double)command->ns / 1e9,
                           });
    }
}

/* A fork costs three times: the page tables are copied, the parent faults on the pages that it writes next, and the
 * child frees its copy while the parent usually waits. */
#define FORK_FACTOR 3

static void set_forks(const struct pt_children *children, pt_u32 stage)
{
    struct pt_metrics *metrics = &children->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_children_stage *s = &children->stages[stage];
    const double total_s = s->forks.ns / 1e9;
    pt_metrics_set(metrics, scope, "fork.calls", pt_integer(s->forks.n));
    pt_metrics_set(metrics, scope, "fork.longest_s", pt_real(s->forks.longest_ns / 1e9));
    pt_metrics_set(metrics, scope, "fork.mean_s",
                   s->forks.n        ? pt_real(total_s / (double)s->forks.n)
                   : s->forks_of_all ? pt_unknown("no large process forked")
                                     : pt_unknown("no forks"));
    pt_metrics_set(metrics, scope, "fork.rss.bytes",
                   s->forks.rss_bytes ? pt_integer(s->forks.rss_bytes) : pt_unknown("no process noted its memory"));
    pt_metrics_set(metrics, scope, "fork.cost_s", pt_real(FORK_FACTOR * total_s));
}

void pt_children_results(struct pt_children *children, pt_u32 stage)
{
    struct pt_metrics *metrics = &children->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_children_stage *s = &children->stages[stage];
    const struct pt_children_repeated repeated = pt_children_repeated(children, stage);
    set_workers(children, stage);
    /* Of commands without a trace nobody knows whether they ran together. */
    const double together_s = (repeated.of_programs_ns + (double)s->unknown_ns) / 1e9;
    const double waited_s = pt_value_number(pt_split_time_cost(&s->child, children->profile, stage));
    const double alone_s =
        fmin(fmax(waited_s - (double)s->concurrent_ns / 1e9, 0), together_s) + repeated.gain_ns / 1e9;
    double total_ns = 0;
    for (int i = 0; i < PT_WHOSE__COUNT; i++)
        total_ns += (double)s->child.of[i].total_ns;
    pt_metrics_set(metrics, scope, "child.wait_s", pt_real((total_ns + repeated.total_ns) / 1e9));
    pt_metrics_set(metrics, scope, "child.alone_s", pt_real(alone_s));
    pt_metrics_set(metrics, scope, "child.wait.calls", pt_integer(s->child_waits + repeated.commands));
    pt_children_pools_results(children, stage);
    pt_children_same_files_results(children, stage);
    set_forks(children, stage);
    table_of_workers(children, stage);
    table_of_commands(children, stage);
}
