/* SPDX-License-Identifier: MIT
 *
 * Hot functions, by stage and by thread, and hot stacks. Self: the function itself ran; total: it, or something that it
 * called, directly or not; a recursive one counts once.
 *
 * Threads: one. Never: counts a function twice for one sample.
 */
#include "tables.h"

#include <math.h>
#include <stdlib.h>

#include "util/auto.h"
#include "util/str.h"
#include "util/text/path.h"
#include "function_rows.h"

enum { MOST_FUNCTIONS = 1000, MOST_STACKS = 1000, MOST_OF_A_THREAD = 5, MOST_THREADS = 100, MOST_FRAMES = 16 };

/* Less is within the error of the counts. */
#define LEAST_UNSAMPLED_S 0.002

struct weight {
    pt_u32 id; /* row of a function, or frame */
    pt_u32 thread;
    double self_s, total_s;
    pt_u64 samples;
};

struct weights {
    PT_VEC(struct weight);
    struct pt_map by_key;
};

static struct weight *weight_of(struct weights *weights, pt_u32 thread, pt_u32 id)
{
    pt_u64 *slot = pt_map_at(&weights->by_key, (pt_u64)thread << 32 | id);
    if (!*slot) {
        pt_vec_push(weights, ((struct weight){.id = id, .thread = thread}));
        *slot = weights->n;
    }
    return &weights->items[*slot - 1];
}

static void weights_fini(struct weights *weights)
{
    free(weights->items);
    pt_map_fini(&weights->by_key);
}

static int by_self(const void *a, const void *b)
{
    const struct weight *x = a, *y = b;
    if (x->self_s != y->self_s)
        return x->self_s < y->self_s ? 1 : -1;
    if (x->total_s != y->total_s)
        return x->total_s < y->total_s ? 1 : -1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

/* ---- adding up ---- */

struct sums {
    struct pt_cpu_view *view;
    struct pt_function_rows rows;
    struct weights functions, of_threads, stacks;
    double total_s;
    pt_u32 *seen_in; /* by row: the count that last met it, plus 1 */
    size_t n_seen;
};

static bool is_first_time(struct sums *sums, pt_u32 row, pt_u32 stamp)
{
    if (row >= sums->n_seen) {
        const size_t n = sums->rows.n * 2;
        sums->seen_in = pt_realloc(sums->seen_in, n * sizeof *sums->seen_in);
        for (size_t i = sums->n_seen; i < n; i++)
            sums->seen_in[i] = 0;
        sums->n_seen = n;
    }
    const bool is_first = sums->seen_in[row] != stamp;
    sums->seen_in[row] = stamp;
    return is_first;
}

/* Among the samples of all threads and among those of its own, one stands for different times. */
static void add_total(struct sums *sums, const struct pt_cpu_count *count, pt_u32 row)
{
    const double n = (double)count->samples;
    weight_of(&sums->functions, 0, row)->total_s += n * sums->view->shared_s[count->thread];
    weight_of(&sums->of_threads, count->thread, row)->total_s += n * sums->view->sample_s[count->thread];
}

static void add_self(struct weight *weight, double s, pt_u64 samples)
{
    weight->self_s += s;
    weight->samples += samples;
}

static void add_count(struct sums *sums, const struct pt_cpu_count *count, pt_u32 stamp)
{
    const double n = (double)count->samples, s = n * sums->view->shared_s[count->thread];
    const pt_u32 leaf = sums->view->frame_of[count->node];
    pt_u32 caller;
    const pt_u32 ran = pt_function_row_of_sample(&sums->rows, count->node, &caller);
    sums->total_s += s;
    if (ran && is_first_time(sums, ran, stamp)) {
        add_total(sums, count, ran);
        add_self(weight_of(&sums->functions, 0, ran), s, count->samples);
        add_self(weight_of(&sums->of_threads, count->thread, ran), n * sums->view->sample_s[count->thread],
                 count->samples);
    }
    for (; caller; caller = sums->view->frames.items[caller].parent) {
        const pt_u32 row = pt_function_row_of_frame(&sums->rows, caller);
        if (row && is_first_time(sums, row, stamp))
            add_total(sums, count, row);
    }
    struct weight *whole = weight_of(&sums->stacks, 0, leaf);
    whole->self_s += s;
    whole->samples += count->samples;
}

static struct pt_value percent(const struct sums *sums, double s)
{
    return sums->total_s > 0 ? pt_real(100 * s / sums->total_s) : pt_unknown("no on-CPU time");
}

/* ---- tables ---- */

struct function_row {
    pt_u32 pid, tid; /* in the table by thread only */
    const char *comm;
    const char *function;
    struct pt_value self_percent, total_percent, module, file, line;
    double self_s, total_s;
    pt_u64 samples;
};

/* The figures come before the names of files: a terminal of 80 columns cuts what is to the right. */
#define FUNCTION_COLUMNS                                                                                               \
    PT_COLUMN(struct function_row, function, TEXT, "Function"),                                                        \
        PT_COLUMN(struct function_row, self_percent, PERCENT, "Self"),                                                 \
        PT_COLUMN(struct function_row, total_percent, PERCENT, "Total"),                                               \
        PT_COLUMN(struct function_row, self_s, SECONDS, "Self time"),                                                  \
        PT_COLUMN(struct function_row, module, TEXT, "Module"), PT_COLUMN(struct function_row, file, TEXT, "File"),    \
        PT_COLUMN(struct function_row, line, NUMBER, "Line"),                                                          \
        PT_COLUMN(struct function_row, total_s, SECONDS, "Total time"),                                                \
        PT_COLUMN(struct function_row, samples, COUNT, "Samples")

static const struct pt_column function_columns[] = {FUNCTION_COLUMNS};
static const struct pt_column thread_columns[] = {
    PT_COLUMN(struct function_row, pid, NUMBER, "Pid"),
    PT_COLUMN(struct function_row, tid, NUMBER, "Tid"),
    PT_COLUMN(struct function_row, comm, TEXT, "Thread"),
    FUNCTION_COLUMNS,
};
static const struct pt_table_kind by_function = {PT_VIEW_cpu_functions, .most = MOST_FUNCTIONS,
                                                 PT_COLUMNS(function_columns)};
static const struct pt_table_kind by_thread_and_function = {PT_VIEW_cpu_thread_functions, PT_COLUMNS(thread_columns)};

static struct function_row row_of(struct pt_metrics *metrics, const struct sums *sums, const struct weight *weight)
{
    const struct pt_function_row *named = &sums->rows.items[weight->id];
    const struct pt_cpu_function *function = &sums->view->functions.items[named->function];
    const bool is_python = function->code == PT_CODE_SCRIPT;
    const struct pt_value no_file = pt_unknown(is_python ? "it is Python: see file" : "in no file"),
                          no_debug = pt_unknown("no debug information");
    return (struct function_row){
        .function = pt_metrics_text(metrics, named->name),
        .self_percent = percent(sums, weight->self_s),
        .total_percent = percent(sums, weight->total_s),
        .self_s = weight->self_s,
        .module = named->module ? pt_text(pt_metrics_text(metrics, named->module)) : no_file,
        .file = function->file ? pt_text(pt_metrics_text(metrics, function->file)) : no_debug,
        .line = function->line ? pt_integer(function->line) : no_debug,
        .total_s = weight->total_s,
        .samples = weight->samples,
    };
}

static void add_functions(struct pt_metrics *metrics, struct pt_scope scope, struct sums *sums)
{
    struct weights *list = &sums->functions;
    struct pt_rows rows = pt_rows(metrics, scope, &by_function);
    if (list->n)
        qsort(list->items, list->n, sizeof *list->items, by_self);
    for (size_t i = 0; i < list->n; i++) {
        if (!pt_rows_have_room(&rows))
            continue;
        const struct function_row row = row_of(metrics, sums, &list->items[i]);
        pt_rows_add(&rows, &row);
    }
}

static int by_thread(const void *a, const void *b)
{
    const struct weight *x = a, *y = b;
    return x->thread != y->thread ? (x->thread < y->thread ? -1 : 1) : by_self(a, b);
}

/* The few hottest functions of each thread. */
static void add_thread_functions(struct pt_metrics *metrics, struct pt_scope scope, struct sums *sums)
{
    struct weights *list = &sums->of_threads;
    struct pt_table *table = pt_metrics_add_table(metrics, scope, &by_thread_and_function);
    if (list->n)
        qsort(list->items, list->n, sizeof *list->items, by_thread);
    for (size_t i = 0, of_this = 0, threads = 0; i < list->n; i++) {
        const bool is_new = !i || list->items[i].thread != list->items[i - 1].thread;
        of_this = is_new ? 0 : of_this + 1;
        threads += is_new;
        if (of_this >= MOST_OF_A_THREAD || threads > MOST_THREADS || list->items[i].self_s <= 0) {
            table->rows_left_out++;
            continue;
        }
        const struct pt_cpu_thread *thread = &sums->view->data->threads[list->items[i].thread];
        struct function_row row = row_of(metrics, sums, &list->items[i]);
        row.pid = thread->pid;
        row.tid = thread->tid;
        row.comm = pt_metrics_text(metrics, thread->comm);
        pt_table_add(table, &row);
    }
}

const char *pt_cpu_stack_text(struct pt_metrics *metrics, const struct pt_cpu_view *view, pt_u32 frame, pt_u32 line)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    for (int n = 0; frame; n++) {
        const struct pt_cpu_function *function = &view->functions.items[pt_cpu_shown(view, frame)];
        if (n == MOST_FRAMES) {
            pt_str_add(&text, " < ...");
            break;
        }
        pt_str_printf(&text, "%s%s", n ? " < " : "", function->name);
        if (function->file)
            pt_str_printf(&text, " (%s:%u)", pt_telling_name(function->file), pt_cpu_line(view, frame, line));
        line = pt_cpu_shown_called_at(view, frame);
        frame = pt_cpu_shown_caller(view, frame);
    }
    return text.n ? pt_metrics_text(metrics, pt_str_text(&text)) : "(no stack)";
}

struct stack_row {
    struct pt_value percent;
    double cpu_s;
    pt_u64 samples;
    const char *stack;
};

static const struct pt_column stack_columns[] = {
    PT_COLUMN(struct stack_row, percent, PERCENT, "CPU"),
    PT_COLUMN(struct stack_row, cpu_s, SECONDS, "CPU time"),
    PT_COLUMN(struct stack_row, samples, COUNT, "Samples"),
    PT_COLUMN(struct stack_row, stack, TEXT, "Stack"),
};
static const struct pt_table_kind by_stack = {PT_VIEW_cpu_stacks, .most = MOST_STACKS, PT_COLUMNS(stack_columns)};

static void add_stacks(struct pt_metrics *metrics, struct pt_scope scope, struct sums *sums)
{
    struct weights *list = &sums->stacks;
    struct pt_rows rows = pt_rows(metrics, scope, &by_stack);
    if (list->n)
        qsort(list->items, list->n, sizeof *list->items, by_self);
    for (size_t i = 0; i < list->n; i++)
        if (pt_rows_have_room(&rows))
            pt_rows_add(&rows, &(struct stack_row){
                                   .percent = percent(sums, list->items[i].self_s),
                                   .cpu_s = list->items[i].self_s,
                                   .samples = list->items[i].samples,
                                   .stack = pt_cpu_stack_text(metrics, sums->view, list->items[i].id, 0),
                               });
}

/* What the kernel counted for the stage and no sample stands for: threads too short to be met, the ends of processes,
 * which it does not let be sampled, and, where that is not allowed, its own work. */
static void add_unsampled(struct sums *sums, double stage_s)
{
    double s = stage_s;
    for (size_t i = 0; i < sums->functions.n; i++)
        s -= sums->functions.items[i].self_s;
    s = isnan(stage_s) ? sums->view->unsampled_s : s;
    if (s < LEAST_UNSAMPLED_S)
        return;
    pt_vec_push(&sums->rows, ((struct pt_function_row){.name = "[not sampled]"}));
    struct weight *weight = weight_of(&sums->functions, 0, (pt_u32)sums->rows.n - 1);
    weight->self_s = weight->total_s = s;
    sums->total_s += s;
}

void pt_cpu_tables(struct pt_metrics *metrics, struct pt_scope scope, struct pt_cpu_view *view)
{
    const struct pt_value stage = pt_metrics_get(metrics, scope, "cpu.total_s");
    struct sums sums = {.view = view};
    pt_function_rows_open(&sums.rows, view);
    for (size_t i = 0; i < view->data->n_counts; i++)
        add_count(&sums, &view->data->counts[i], (pt_u32)i + 1);
    add_unsampled(&sums, stage.type == PT_VALUE_UNKNOWN ? NAN : pt_value_number(stage));
    if (sums.functions.n) {
        add_functions(metrics, scope, &sums);
        add_thread_functions(metrics, scope, &sums);
        add_stacks(metrics, scope, &sums);
    }
    weights_fini(&sums.functions);
    weights_fini(&sums.of_threads);
    weights_fini(&sums.stacks);
    pt_function_rows_close(&sums.rows);
    free(sums.seen_in);
}
