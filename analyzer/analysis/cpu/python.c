/* SPDX-License-Identifier: MIT
 *
 * Functions and lines of Python. Self: it was the innermost of Python, and did what it did in Python or in what it
 * called of libraries, libc and the kernel; total: it, or something that it called; a recursive one counts once. Shares
 * are of the CPU time of which it is known what Python did.
 *
 * Threads: one. Never: counts a function or a line twice for one sample.
 */
#include "python.h"

#include <stdlib.h>

#include "facts/python/frames.h"

enum { MOST_FUNCTIONS = 1000, MOST_LINES = 2000 };

/* Of a function, or of one of its lines. */
struct sum {
    pt_u32 function, line; /* 0 = of all lines */
    pt_u32 stamp;          /* of the count that was added last */
    double self_s, total_s;
    pt_u64 samples;
};

struct sums {
    PT_VEC(struct sum);
    struct pt_map by_key; /* function and line -> index, plus 1 */
};

struct python {
    const struct pt_cpu_view *view;
    struct sums functions, lines;
    double total_s;
    pt_u64 samples;
};

static void add(struct sums *sums, pt_u32 function, pt_u32 line, double s, pt_u64 samples, pt_u32 stamp)
{
    pt_u64 *slot = pt_map_at(&sums->by_key, (pt_u64)function << 32 | line);
    if (!*slot) {
        pt_vec_push(sums, ((struct sum){.function = function, .line = line}));
        *slot = sums->n;
    }
    struct sum *sum = &sums->items[*slot - 1];
    sum->self_s += samples ? s : 0;
    sum->samples += samples;
    sum->total_s += sum->stamp == stamp ? 0 : s;
    sum->stamp = stamp;
}

static void add_count(struct python *python, const struct pt_cpu_count *count, pt_u32 stamp)
{
    const struct pt_cpu_view *view = python->view;
    const double s = (double)count->samples * view->shared_s[count->thread];
    bool is_innermost = true;
    for (pt_u32 frame = view->frame_of[count->node]; frame; frame = view->frames.items[frame].parent) {
        if (!pt_cpu_is_script(view, frame))
            continue;
        const struct pt_cpu_frame *what = &view->frames.items[frame];
        const pt_u64 samples = is_innermost ? count->samples : 0;
        add(&python->functions, what->function, 0, s, samples, stamp);
        add(&python->lines, what->function, what->line, s, samples, stamp);
        is_innermost = false;
    }
    if (is_innermost)
        return;
    python->total_s += s;
    python->samples += count->samples;
}

static int by_self(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    if (x->self_s != y->self_s)
        return x->self_s < y->self_s ? 1 : -1;
    if (x->total_s != y->total_s)
        return x->total_s < y->total_s ? 1 : -1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* ---- tables ---- */

struct row {
    const char *place, *function, *file;
    struct pt_value line;
    double self_percent, total_percent, self_s, total_s;
    pt_u64 samples;
};

static const struct pt_column function_columns[] = {
    PT_COLUMN(struct row, function, TEXT, "Function"),
    PT_COLUMN(struct row, self_percent, PERCENT, "Self"),
    PT_COLUMN(struct row, total_percent, PERCENT, "Total"),
    PT_COLUMN(struct row, self_s, SECONDS, "Self time"),
    PT_COLUMN(struct row, total_s, SECONDS, "Total time"),
    PT_COLUMN(struct row, line, NUMBER, "Line"),
    PT_COLUMN(struct row, file, TEXT, "File"),
    PT_COLUMN(struct row, samples, COUNT, "Samples"),
};
static const struct pt_column line_columns[] = {
    PT_COLUMN(struct row, place, TEXT, "Line of Python"),
    PT_COLUMN(struct row, self_percent, PERCENT, "Self"),
    PT_COLUMN(struct row, total_percent, PERCENT, "Total"),
    PT_COLUMN(struct row, self_s, SECONDS, "Self time"),
    PT_COLUMN(struct row, total_s, SECONDS, "Total time"),
    PT_COLUMN(struct row, samples, COUNT, "Samples"),
    PT_COLUMN(struct row, function, TEXT, NULL),
    PT_COLUMN(struct row, file, TEXT, NULL),
    PT_COLUMN(struct row, line, NUMBER, NULL),
};
static const struct pt_table_kind by_function = {PT_VIEW_python_functions, .most = MOST_FUNCTIONS,
                                                 PT_COLUMNS(function_columns)};
static const struct pt_table_kind by_line = {PT_VIEW_python_lines, .most = MOST_LINES, PT_COLUMNS(line_columns)};

static void add_table(struct pt_metrics *metrics, struct pt_scope scope, const struct python *python, struct sums *sums,
                      const struct pt_table_kind *kind)
{
    struct pt_rows rows = pt_rows(metrics, scope, kind);
    if (sums->n)
        qsort(sums->items, sums->n, sizeof *sums->items, by_self);
    for (size_t i = 0; i < sums->n; i++) {
        const struct sum *sum = &sums->items[i];
        const struct pt_cpu_function *function = &python->view->functions.items[sum->function];
        const pt_u32 line = kind == &by_line ? sum->line : function->line;
        if (!pt_rows_have_room(&rows))
            continue;
        pt_rows_add(&rows, &(struct row){
                               .place = pt_python_place_text(metrics, function->file, line, function->name),
                               .function = pt_metrics_text(metrics, function->name),
                               .file = pt_metrics_text(metrics, function->file),
                               .line = line ? pt_integer(line) : pt_unknown("the code says no line"),
                               .self_percent = 100 * sum->self_s / python->total_s,
                               .total_percent = 100 * sum->total_s / python->total_s,
                               .self_s = sum->self_s,
                               .total_s = sum->total_s,
                               .samples = sum->samples,
                           });
    }
}

/* Without any function, but with the interpreter on its stacks. */
static bool meets_interpreter(const struct pt_cpu_view *view)
{
    bool meets = false;
    for (size_t i = PT_CPU_MODULE__FIRST; i < view->data->n_modules; i++)
        meets |= view->code_of[i] == PT_CODE_PYTHON;
    return meets;
}

void pt_cpu_python(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_cpu_view *view)
{
    struct python python = {.view = view};
    for (size_t i = 0; i < view->data->n_counts; i++)
        add_count(&python, &view->data->counts[i], (pt_u32)i + 1);
    if (python.total_s > 0) {
        add_table(metrics, scope, &python, &python.functions, &by_function);
        add_table(metrics, scope, &python, &python.lines, &by_line);
        pt_metrics_set(metrics, scope, "python.samples", pt_integer(python.samples));
    } else if (meets_interpreter(view)) {
        pt_metrics_set(metrics, scope, "python.samples",
                       pt_unknown(view->data->note ? pt_metrics_text(metrics, view->data->note)
                                                   : "the interpreter was not read while it ran"));
    }
    free(python.functions.items);
    free(python.lines.items);
    pt_map_fini(&python.functions.by_key);
    pt_map_fini(&python.lines.by_key);
}
