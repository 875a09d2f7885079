/* SPDX-License-Identifier: MIT
 *
 * Owns: what a row of `top` says. Threads: main only. Never: shows a rate of what has ended.
 */
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/layers.h"
#include "profile/first_rank.h"
#include "report/outcome.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/text/path.h"

const char *const pt_top_by_names[] = {"processes", "stages", "ranks"};
const char *const pt_top_sort_names[] = {"start", "CPU", "memory", "reads and writes"};

struct row {
    pt_u32 pid, processes, order;
    const char *stage, *program, *state;
    struct pt_value rank, phase, cpu_percent, data_wait_percent, rss_bytes, anonymous_bytes, threads, open_files;
    struct pt_value reading_percent, writing_percent, files_percent, network_percent, lock_percent, sleeping_percent,
        waiting_percent, children_percent;
    bool marks_steps;
    struct pt_value steps, steps_per_s;
    struct pt_value reads, read_bytes, read_bytes_per_s, writes, written_bytes, written_bytes_per_s;
    struct pt_value allocations, allocated_bytes, allocations_per_s, live_blocks;
    struct pt_value gpu_percent, gpu_memory_bytes;
    pt_u64 gpu_kernels, events, lost;
};

/* In the order in which a terminal loses them: the last first. */
#define COLUMNS_OF_ALL                                                                                                 \
    PT_COLUMN(struct row, stage, TEXT, "Stage"), PT_COLUMN(struct row, rank, COUNT, "Rank"),                           \
        PT_COLUMN(struct row, phase, TEXT, "Phase"), PT_COLUMN(struct row, cpu_percent, PERCENT, "CPU"),               \
        PT_COLUMN(struct row, data_wait_percent, PERCENT, "Data"),                                                     \
        PT_COLUMN(struct row, reading_percent, PERCENT, "Read"),                                                       \
        PT_COLUMN(struct row, writing_percent, PERCENT, "Write"),                                                      \
        PT_COLUMN(struct row, lock_percent, PERCENT, "Locks"),                                                         \
        PT_COLUMN(struct row, sleeping_percent, PERCENT, "Sleep"), PT_COLUMN(struct row, rss_bytes, BYTES, "Memory"),  \
        PT_COLUMN(struct row, read_bytes_per_s, BYTES_PER_SECOND, "Reads"),                                            \
        PT_COLUMN(struct row, written_bytes_per_s, BYTES_PER_SECOND, "Writes"),                                        \
        PT_COLUMN(struct row, steps, COUNT, "Steps"), PT_COLUMN(struct row, steps_per_s, PER_SECOND, "Steps/s"),       \
        PT_COLUMN(struct row, lost, COUNT, "Lost"), PT_COLUMN(struct row, gpu_percent, PERCENT, "GPU"),                \
        PT_COLUMN(struct row, open_files, COUNT, "Files")

#define COLUMNS_OF_MACHINES                                                                                            \
    PT_COLUMN(struct row, files_percent, PERCENT, "Metadata"),                                                         \
        PT_COLUMN(struct row, network_percent, PERCENT, "Network"),                                                    \
        PT_COLUMN(struct row, waiting_percent, PERCENT, "Waits"),                                                      \
        PT_COLUMN(struct row, children_percent, PERCENT, "Children"),                                                  \
        PT_COLUMN(struct row, anonymous_bytes, BYTES, "Anonymous"), PT_COLUMN(struct row, threads, COUNT, "Threads"),  \
        PT_COLUMN(struct row, allocations_per_s, PER_SECOND, "Allocations"),                                           \
        PT_COLUMN(struct row, live_blocks, COUNT, "Live blocks"), PT_COLUMN(struct row, reads, COUNT, "Read calls"),   \
        PT_COLUMN(struct row, read_bytes, BYTES, "Read"), PT_COLUMN(struct row, writes, COUNT, "Write calls"),         \
        PT_COLUMN(struct row, written_bytes, BYTES, "Written"),                                                        \
        PT_COLUMN(struct row, allocations, COUNT, "Allocated"),                                                        \
        PT_COLUMN(struct row, allocated_bytes, BYTES, "Allocated bytes"),                                              \
        PT_COLUMN(struct row, gpu_memory_bytes, BYTES, "GPU memory"),                                                  \
        PT_COLUMN(struct row, gpu_kernels, COUNT, "Kernels"), PT_COLUMN(struct row, events, COUNT, "Events")

static const struct pt_column of_processes[] = {
    PT_COLUMN(struct row, pid, NUMBER, "Pid"),
    PT_COLUMN(struct row, program, TEXT, "Program"),
    PT_COLUMN(struct row, state, TEXT, "State"),
    COLUMNS_OF_ALL,
};
static const struct pt_column of_groups[] = {COLUMNS_OF_ALL, PT_COLUMN(struct row, processes, COUNT, "Processes")};
static const struct pt_column of_machines[] = {COLUMNS_OF_MACHINES};

/* ---- values ---- */

static const char has_ended[] = "it has ended";
static const char marks_none[] = "only steps that are marked have totals";

static bool is_number(struct pt_value value)
{
    return value.type == PT_VALUE_INTEGER || value.type == PT_VALUE_REAL;
}

/* Of one that has ended nothing happens now, and that is no rate of 0. */
static struct pt_value rate(pt_u64 before, pt_u64 now, double window_s)
{
    if (window_s <= 0)
        return pt_unknown(has_ended);
    return pt_real((now > before ? (double)(now - before) : 0) / window_s);
}

/* Calls count when they end: one that lasted longer than the window is no more than all of it, of each thread. */
static struct pt_value share(pt_u64 before_ns, pt_u64 now_ns, double window_s, pt_u32 threads)
{
    if (window_s <= 0)
        return pt_unknown(has_ended);
    const double percent = (now_ns > before_ns ? (double)(now_ns - before_ns) : 0) / window_s / 1e7;
    return pt_real(fmin(percent, 100.0 * (threads ? threads : 1)));
}

/* Without one of these a share would be of some of its calls only. */
static const pt_u32 layers_of[PT_TOP_PART__COUNT] = {
    [PT_TOP_READ] = 1 << PT_LAYER_IO | 1 << PT_LAYER_STDIO,
    [PT_TOP_WRITE] = 1 << PT_LAYER_IO | 1 << PT_LAYER_STDIO,
    [PT_TOP_FILES] = 1 << PT_LAYER_IO | 1 << PT_LAYER_STDIO,
    [PT_TOP_NETWORK] = 1 << PT_LAYER_NET,
    [PT_TOP_LOCK] = 1 << PT_LAYER_LOCKS,
    [PT_TOP_SLEEP] = 1 << PT_LAYER_WAITS,
    [PT_TOP_WAIT] = 1 << PT_LAYER_WAITS,
    [PT_TOP_CHILD] = 1 << PT_LAYER_IO | 1 << PT_LAYER_WAITS,
};

static struct pt_value unless(const char *why_unknown, struct pt_value value)
{
    return why_unknown ? pt_unknown(why_unknown) : value;
}

static void set_rates(struct row *row, const struct pt_process *process, const struct pt_top_sums *old,
                      const struct pt_top_sums *sums, double window_s)
{
    struct pt_value *const shares[PT_TOP_PART__COUNT] = {
        [PT_TOP_READ] = &row->reading_percent, [PT_TOP_WRITE] = &row->writing_percent,
        [PT_TOP_FILES] = &row->files_percent,  [PT_TOP_NETWORK] = &row->network_percent,
        [PT_TOP_LOCK] = &row->lock_percent,    [PT_TOP_SLEEP] = &row->sleeping_percent,
        [PT_TOP_WAIT] = &row->waiting_percent, [PT_TOP_CHILD] = &row->children_percent,
    };
    const pt_u32 threads = row->threads.type == PT_VALUE_INTEGER ? (pt_u32)row->threads.integer : 1;
    for (int part = 0; part < PT_TOP_PART__COUNT; part++)
        *shares[part] = unless(pt_process_why_no_layers(process, layers_of[part]),
                               share(old->part_ns[part], sums->part_ns[part], window_s, threads));
    row->steps_per_s = is_number(row->steps) || window_s <= 0 ? rate(old->steps, sums->steps, window_s) : row->steps;
    const char *why = pt_process_why_no_layers(process, 1 << PT_LAYER_IO);
    row->reads = unless(why, pt_integer(sums->read.calls));
    row->read_bytes = unless(why, pt_integer(sums->read.bytes));
    row->read_bytes_per_s = unless(why, rate(old->read.bytes, sums->read.bytes, window_s));
    row->writes = unless(why, pt_integer(sums->written.calls));
    row->written_bytes = unless(why, pt_integer(sums->written.bytes));
    row->written_bytes_per_s = unless(why, rate(old->written.bytes, sums->written.bytes, window_s));
}

static void set_heap(struct row *row, const struct pt_process *process, const struct pt_top_sums *old,
                     const struct pt_top_sums *sums, double window_s)
{
    const char *why = pt_process_why_no_heap(process);
    const struct pt_value unknown = pt_unknown(why);
    const pt_u64 live = sums->allocations > sums->releases ? sums->allocations - sums->releases : 0;
    row->allocations = why ? unknown : pt_integer(sums->allocations);
    row->allocated_bytes = why ? unknown : pt_integer(sums->allocated_bytes);
    row->allocations_per_s = why ? unknown : rate(old->allocations, sums->allocations, window_s);
    row->live_blocks = why ? unknown : pt_integer(live);
}

static void set_outside(struct row *row, const struct pt_top_outside *outside, bool is_seen)
{
    const struct pt_value ended = pt_unknown(has_ended);
    row->rss_bytes = is_seen ? pt_integer(outside->stat.rss_bytes) : ended;
    row->anonymous_bytes = is_seen ? pt_integer(outside->anonymous_bytes) : ended;
    row->threads = is_seen ? pt_integer(outside->stat.threads) : ended;
    row->open_files = !is_seen                  ? ended
                      : outside->open_files < 0 ? pt_unknown("only its user may see them")
                                                : pt_integer((pt_u64)outside->open_files);
}

/* What makes phases may be a training that does not say when it steps. */
static void set_steps(struct row *row, const struct pt_top_sums *sums)
{
    row->marks_steps = sums->steps > 0;
    row->steps = !sums->steps && sums->phases ? pt_unknown(marks_none) : pt_integer(sums->steps);
}

static void set_counts(struct row *row, const struct pt_process *process, const struct pt_top_sums *sums)
{
    row->gpu_kernels = sums->gpu_kernels;
    row->events = process->quality.events;
    row->lost = process->quality.overwritten + process->quality.dropped;
}

/* The launcher's last sample, of all GPUs that the stage may use. */
static void set_gpu(struct row *row, const struct pt_run_info *info)
{
    const struct pt_run_stage *stage = NULL;
    for (pt_u32 i = 0; info && i < info->n_stages; i++)
        if (row->stage && !strcmp(info->stages[i].name, row->stage))
            stage = &info->stages[i];
    const double percent = stage ? stage->resources[PT_RESOURCE_gpu_util_percent].last : NAN;
    const double bytes = stage ? stage->resources[PT_RESOURCE_gpu_mem_bytes].last : NAN;
    const struct pt_value unknown = pt_unknown(stage ? "the launcher has sampled no GPU" : "no launcher samples it");
    row->gpu_percent = isnan(percent) ? unknown : pt_real(percent);
    row->gpu_memory_bytes = isnan(bytes) ? unknown : pt_real(bytes);
}

static struct row row_of(const struct pt_top_look *before, const struct pt_top_look *now, pt_u32 index,
                         const struct pt_top_phases *phases, struct pt_arena *arena)
{
    const struct pt_process *process = now->run.session->processes[index];
    const struct pt_top_outside *outside = &now->outside[index];
    const struct pt_top_before earlier = pt_top_before(before, now, index);
    const struct pt_top_sums *old = &earlier.sums, *sums = &now->sums[index];
    const double window_s = process->is_running ? (double)(now->at_ns - before->at_ns) / 1e9 : 0;
    const struct pt_value exit = pt_report_process_exit(process, arena), ended = pt_unknown(has_ended);
    const bool is_seen = process->is_running && outside->stat.threads;
    const double ticks_per_s = (double)sysconf(_SC_CLK_TCK);
    struct row row = {
        .pid = process->pid,
        .processes = 1,
        .order = index,
        .program = process->exe ? pt_base_name(process->exe) : process->comm,
        .stage = process->stage,
        .state = process->is_running          ? "running"
                 : exit.type == PT_VALUE_TEXT ? exit.text
                                              : "no end seen",
        .rank = process->rank < 0 ? pt_unknown("it has none") : pt_integer((pt_u64)process->rank),
        .phase = is_seen ? pt_top_phase_of(phases, process) : ended,
        .data_wait_percent = is_seen ? pt_top_data_wait_of(phases, process) : ended,
        .cpu_percent = !is_seen ? ended
                       : earlier.is_cpu_known
                           ? rate(old->cpu_ticks * 100, sums->cpu_ticks * 100, window_s * ticks_per_s)
                           : pt_unknown("it was not traced at the look before"),
    };
    set_outside(&row, outside, is_seen);
    set_steps(&row, sums);
    set_rates(&row, process, old, sums, window_s);
    set_heap(&row, process, old, sums, window_s);
    set_counts(&row, process, sums);
    set_gpu(&row, now->run.info);
    return row;
}

/* ---- groups ---- */

/* What is known of either; unknown only if both are. */
static struct pt_value plus(struct pt_value a, struct pt_value b)
{
    if (!is_number(a) || !is_number(b))
        return is_number(a) ? a : b;
    if (a.type == PT_VALUE_INTEGER && b.type == PT_VALUE_INTEGER)
        return pt_integer((pt_u64)a.integer + (pt_u64)b.integer);
    return pt_real(pt_value_number(a) + pt_value_number(b));
}

static bool is_because(struct pt_value value, const char *reason)
{
    return value.type == PT_VALUE_UNKNOWN && value.reason == reason;
}

/* What differs once stays so: a third row may agree with the second, and is still not the one of all. */
static struct pt_value same(struct pt_value a, struct pt_value b)
{
    static const char several[] = "several";
    if (is_because(a, several) || is_because(b, several))
        return pt_unknown(several);
    const bool is_one =
        a.type == b.type && (a.type == PT_VALUE_TEXT ? !strcmp(a.text, b.text) : a.integer == b.integer);
    return a.type == PT_VALUE_UNKNOWN ? b : b.type == PT_VALUE_UNKNOWN || is_one ? a : pt_unknown(several);
}

/* Those that mark steps say how many there are; where none does, who may train without a mark does not know. */
static void add_steps(struct row *to, const struct row *from)
{
    if (to->marks_steps && from->marks_steps) {
        to->steps = plus(to->steps, from->steps);
        to->steps_per_s = plus(to->steps_per_s, from->steps_per_s);
    } else if (from->marks_steps || (!to->marks_steps && !is_number(from->steps))) {
        to->steps = from->steps;
        to->steps_per_s = from->steps_per_s;
    }
    to->marks_steps |= from->marks_steps;
}

static void add_row(struct row *to, const struct row *from)
{
    static const size_t sums[] = {
        offsetof(struct row, cpu_percent),
        offsetof(struct row, data_wait_percent),
        offsetof(struct row, rss_bytes),
        offsetof(struct row, anonymous_bytes),
        offsetof(struct row, threads),
        offsetof(struct row, open_files),
        offsetof(struct row, reading_percent),
        offsetof(struct row, writing_percent),
        offsetof(struct row, files_percent),
        offsetof(struct row, network_percent),
        offsetof(struct row, lock_percent),
        offsetof(struct row, sleeping_percent),
        offsetof(struct row, waiting_percent),
        offsetof(struct row, children_percent),
        offsetof(struct row, read_bytes_per_s),
        offsetof(struct row, written_bytes_per_s),
        offsetof(struct row, allocations),
        offsetof(struct row, allocated_bytes),
        offsetof(struct row, allocations_per_s),
        offsetof(struct row, live_blocks),
        offsetof(struct row, reads),
        offsetof(struct row, read_bytes),
        offsetof(struct row, writes),
        offsetof(struct row, written_bytes),
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        struct pt_value *value = (struct pt_value *)(void *)((char *)to + sums[i]);
        *value = plus(*value, *(const struct pt_value *)(const void *)((const char *)from + sums[i]));
    }
    to->rank = same(to->rank, from->rank);
    to->phase = same(to->phase, from->phase);
    to->processes += from->processes;
    add_steps(to, from);
    to->gpu_kernels += from->gpu_kernels;
    to->events += from->events;
    to->lost += from->lost;
}

static bool is_same_stage(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

static bool is_together(const struct row *a, const struct row *b, enum pt_top_by by)
{
    if (by == PT_TOP_BY_PROCESS || !is_same_stage(a->stage, b->stage))
        return false;
    return by == PT_TOP_BY_STAGE ||
           (is_number(a->rank) == is_number(b->rank) && (!is_number(a->rank) || a->rank.integer == b->rank.integer));
}

/* ---- tables ---- */

struct rows {
    PT_VEC(struct row);
};

/* Of the stage that was asked for last. */
struct first_rank {
    const char *stage;
    pt_i64 rank;
    bool is_known;
};

static pt_i64 first_rank_of(struct first_rank *first, const struct pt_session *session, const char *stage)
{
    if (first->is_known && is_same_stage(first->stage, stage))
        return first->rank;
    *first = (struct first_rank){stage, PT_NO_RANK, true};
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (is_same_stage(session->processes[i]->stage, stage))
            first->rank = pt_first_marking_rank_with(first->rank, session->processes[i]);
    return first->rank;
}

/* Ranks make their steps together. */
static void leave_steps_to_first_rank(struct row *row, struct first_rank *first, const struct pt_process *process)
{
    if (!row->marks_steps || process->rank < 0 ||
        pt_rank_counts(first_rank_of(first, process->session, process->stage), process))
        return;
    row->marks_steps = false;
    row->steps = row->steps_per_s = pt_unknown("those of the first rank count");
}

/* Of one that has ended, beside others that run: what it did is still done, by the workers of earlier epochs, too. */
static void leave_counts_only(struct row *row)
{
    row->processes = 0;
    row->live_blocks = pt_unknown(has_ended);
}

static void put(struct rows *rows, const struct row *row, enum pt_top_by by)
{
    size_t i = 0;
    while (i < rows->n && !is_together(&rows->items[i], row, by))
        i = by == PT_TOP_BY_PROCESS ? rows->n : i + 1;
    if (i < rows->n)
        add_row(&rows->items[i], row);
    else
        pt_vec_push(rows, *row);
}

static double number_or_0(struct pt_value value)
{
    return is_number(value) ? pt_value_number(value) : 0;
}

static double sort_key(const struct row *row, enum pt_top_sort sort)
{
    switch (sort) {
    case PT_TOP_SORT_CPU:
        return number_or_0(row->cpu_percent);
    case PT_TOP_SORT_MEMORY:
        return number_or_0(row->rss_bytes);
    case PT_TOP_SORT_IO:
        return number_or_0(row->read_bytes_per_s) + number_or_0(row->written_bytes_per_s);
    case PT_TOP_SORT_START:
    case PT_TOP_SORT__COUNT:
        break;
    }
    return -(double)row->order;
}

static int by_key(const void *a, const void *b, void *sort)
{
    const struct row *x = a, *y = b;
    const double p = sort_key(x, *(const enum pt_top_sort *)sort), q = sort_key(y, *(const enum pt_top_sort *)sort);
    return p != q ? (p < q ? 1 : -1) : (x->order > y->order) - (x->order < y->order);
}

static size_t columns_of(const struct pt_top_view *view, struct pt_column *ret_columns)
{
    const bool is_of_processes = view->by == PT_TOP_BY_PROCESS;
    const struct pt_column *first = is_of_processes ? of_processes : of_groups;
    size_t n = is_of_processes ? sizeof of_processes / sizeof *first : sizeof of_groups / sizeof *first;
    memcpy(ret_columns, first, n * sizeof *first);
    if (view->is_for_people)
        return n;
    memcpy(ret_columns + n, of_machines, sizeof of_machines);
    return n + sizeof of_machines / sizeof *of_machines;
}

struct pt_panel *pt_top_panel(struct pt_doc *doc, const struct pt_top_look *before, const struct pt_top_look *now,
                              const struct pt_top_phases *phases, const struct pt_top_view *view)
{
    struct pt_column columns[sizeof of_processes / sizeof *of_processes + sizeof of_machines / sizeof *of_machines];
    const size_t n_columns = columns_of(view, columns);
    const struct pt_session *session = pt_run_session(&now->run);
    struct first_rank first_rank = {0};
    struct rows rows = {0};
    struct pt_table *table;
    enum pt_top_sort sort = view->sort;
    struct pt_panel *panel = pt_doc_table(doc, pt_top_by_names[view->by],
                                          view->by == PT_TOP_BY_PROCESS ? "Processes"
                                          : view->by == PT_TOP_BY_STAGE ? "Stages"
                                                                        : "Ranks",
                                          columns, (pt_u32)n_columns, &table);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const bool is_over = !session->processes[i]->is_running && now->n_running;
        if (is_over && view->by == PT_TOP_BY_PROCESS)
            continue;
        struct row row = row_of(before, now, i, phases, &doc->arena);
        if (is_over)
            leave_counts_only(&row);
        if (view->by == PT_TOP_BY_STAGE)
            leave_steps_to_first_rank(&row, &first_rank, session->processes[i]);
        if (view->by != PT_TOP_BY_RANK || is_number(row.rank))
            put(&rows, &row, view->by);
    }
    if (rows.n)
        qsort_r(rows.items, rows.n, sizeof *rows.items, by_key, &sort);
    for (size_t i = 0; i < rows.n; i++)
        if (rows.items[i].processes)
            pt_table_add(table, &rows.items[i]);
    free(rows.items);
    return panel;
}
