/* SPDX-License-Identifier: MIT
 *
 * Samples have no events beside them: the phase is told by the functions of PyTorch that our scripts stand before
 * (preload/python/torch_phases.py), whose files end in what stand_before() writes there. The innermost one counts.
 *
 * Threads: one. Never: counts a sample twice.
 */
#include "python_by_phase.h"

#include <stdlib.h>
#include <string.h>

#include "decode/phase_names.h"
#include "facts/cpu_code.h"
#include "facts/python/frames.h"
#include "profile/process_name.h"
#include "util/text/path.h"

enum { MOST_ROWS = 500 };

struct sum {
    pt_u32 pid, thread, function;
    pt_u32 phase; /* enum pt_phase; 0 = none */
    pt_u64 samples;
    double s;
};

struct sums {
    PT_VEC(struct sum);
    struct pt_map by_key; /* process, phase and function -> index, plus 1 */
    double total_s;
    bool has_phases;
};

/* ---- phases ---- */

static const struct {
    const char *function, *file; /* NULL = any; file: a part of its path */
    enum pt_phase phase;
} stand_ins[] = {
    {"__next__", NULL, PT_PHASE_data_wait},
    {"__iter__", NULL, PT_PHASE_loader_start},
    {"fetch", NULL, PT_PHASE_worker_fetch},
    {"_compile", "/_dynamo/", PT_PHASE_compile},
    {NULL, "/_inductor/", PT_PHASE_compile},
    {"_call_impl", NULL, PT_PHASE_forward},
    {"_wrapped_call_impl", NULL, PT_PHASE_forward},
    {"__call__", "/torch/nn/", PT_PHASE_forward},
    {"to", "/torch/nn/", PT_PHASE_transfer},
    {"cuda", "/torch/nn/", PT_PHASE_transfer},
    {"send_to_device", NULL, PT_PHASE_transfer},
    {"move_data_to_device", NULL, PT_PHASE_transfer},
    {"backward", NULL, PT_PHASE_backward},
    {"grad", "/autograd/", PT_PHASE_backward},
    {"zero_grad", NULL, PT_PHASE_zero_grad},
    {"inner", "/torch/_compile.py", PT_PHASE_zero_grad}, /* an optimizer's, from PyTorch 2.1 on */
    {"step", "/amp/", PT_PHASE_grad_scaling},
    {"step", NULL, PT_PHASE_optimizer_step},
    {"wrapper", "/optim/", PT_PHASE_optimizer_step},
    {NULL, "/torch/distributed/", PT_PHASE_collective},
    {"save", NULL, PT_PHASE_checkpoint},
    {"load", NULL, PT_PHASE_checkpoint},
};

static bool is_stand_in(const char *file)
{
    return file && pt_ends_with(file, " (proftrace, importlib._bootstrap)");
}

/* 0 = it begins none. */
static pt_u32 phase_of(const struct pt_cpu_function *function)
{
    if (!is_stand_in(function->file) || !function->name)
        return 0;
    const char *const dot = strrchr(function->name, '.');
    const char *const name = dot ? dot + 1 : function->name;
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
        if ((!stand_ins[i].function || !strcmp(stand_ins[i].function, name)) &&
            (!stand_ins[i].file || strstr(function->file, stand_ins[i].file)))
            return stand_ins[i].phase;
    return 0;
}

/* ---- sums ---- */

static void add(struct sums *sums, struct sum what)
{
    pt_u64 *slot = pt_map_at(&sums->by_key, (pt_u64)what.pid << 37 | (pt_u64)what.phase << 32 | what.function);
    if (!*slot) {
        pt_vec_push(sums, what);
        *slot = sums->n;
    } else {
        sums->items[*slot - 1].s += what.s;
        sums->items[*slot - 1].samples += what.samples;
    }
    sums->total_s += what.s;
    sums->has_phases |= what.phase && what.phase != PT_PHASE_import;
}

/* The innermost function of the program's own code; where a library runs by itself, its innermost one. */
static void add_count(struct sums *sums, const struct pt_cpu_view *view, const struct pt_cpu_count *count)
{
    struct sum sum = {.pid = view->data->threads[count->thread].pid, .thread = count->thread};
    const struct pt_python_program program = pt_cpu_program_of(view, view->frame_of[count->node]);
    bool is_own = false, is_import = false;
    for (pt_u32 frame = view->frame_of[count->node]; frame; frame = view->frames.items[frame].parent) {
        const pt_u32 id = view->frames.items[frame].function;
        const struct pt_cpu_function *function = &view->functions.items[id];
        if (function->code != PT_CODE_SCRIPT)
            continue;
        sum.phase = sum.phase ? sum.phase : phase_of(function);
        const bool is_library =
            is_stand_in(function->file) || pt_cpu_python_owner(view, &program, frame) < PT_OWNER_USER;
        if (!sum.function || (!is_own && !is_library))
            sum.function = id;
        is_own |= !is_library;
        is_import |= pt_python_is_importer(function->file);
    }
    if (!sum.function)
        return;
    if (!sum.phase && is_import)
        sum.phase = PT_PHASE_import;
    sum.samples = count->samples;
    sum.s = (double)count->samples * view->shared_s[count->thread];
    add(sums, sum);
}

static int by_time(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    if (x->s != y->s)
        return x->s < y->s ? 1 : -1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->phase != y->phase ? (x->phase < y->phase ? -1 : 1) : (x->function < y->function ? -1 : 1);
}

/* ---- the table ---- */

struct row {
    const char *process, *phase, *place, *function, *file;
    struct pt_value line;
    pt_u64 pid, samples;
    double percent, cpu_s;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct row, process, TEXT, "Process"),  PT_COLUMN(struct row, pid, NUMBER, "PID"),
    PT_COLUMN(struct row, phase, TEXT, "Phase"),      PT_COLUMN(struct row, place, TEXT, "Own function"),
    PT_COLUMN(struct row, percent, PERCENT, "Share"), PT_COLUMN(struct row, cpu_s, SECONDS, "CPU time"),
    PT_COLUMN(struct row, samples, COUNT, "Samples"), PT_COLUMN(struct row, function, TEXT, NULL),
    PT_COLUMN(struct row, file, TEXT, NULL),          PT_COLUMN(struct row, line, NUMBER, NULL),
};
static const struct pt_table_kind kind = {PT_VIEW_python_by_phase, .most = MOST_ROWS, PT_COLUMNS(columns)};

static const char *name_of(struct pt_profile *profile, const struct pt_cpu_view *view,
                           const struct pt_path_thread *threads, const struct sum *sum)
{
    for (pt_u32 i = 1; i < view->data->n_threads; i++)
        if (threads[i].process && view->data->threads[i].pid == sum->pid)
            return pt_process_name(profile, threads[i].process);
    return pt_metrics_text(&profile->metrics, view->data->threads[sum->thread].comm);
}

static void add_table(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view,
                      const struct pt_path_thread *threads, const struct sums *sums)
{
    struct pt_metrics *metrics = &profile->metrics;
    struct pt_rows rows = pt_rows(metrics, pt_scope_stage(stage), &kind);
    for (size_t i = 0; i < sums->n; i++) {
        const struct sum *sum = &sums->items[i];
        const struct pt_cpu_function *function = &view->functions.items[sum->function];
        if (!pt_rows_have_room(&rows))
            continue;
        pt_rows_add(&rows,
                    &(struct row){
                        .process = name_of(profile, view, threads, sum),
                        .pid = sum->pid,
                        .phase = sum->phase ? pt_phase_names[sum->phase] : "between phases",
                        .place = pt_python_place_text(metrics, function->file, function->line, function->name),
                        .percent = 100 * sum->s / sums->total_s,
                        .cpu_s = sum->s,
                        .samples = sum->samples,
                        .function = pt_metrics_text(metrics, function->name),
                        .file = pt_metrics_text(metrics, function->file),
                        .line = function->line ? pt_integer(function->line) : pt_unknown("the code says no line"),
                    });
    }
}

void pt_cpu_python_by_phase(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view,
                            const struct pt_path_thread *threads)
{
    struct sums sums = {0};
    bool has_several = false;
    for (size_t i = 0; i < view->data->n_counts; i++)
        add_count(&sums, view, &view->data->counts[i]);
    for (size_t i = 0; i < sums.n; i++)
        has_several |= sums.items[i].pid != sums.items[0].pid;
    if (sums.total_s > 0 && (sums.has_phases || has_several)) {
        qsort(sums.items, sums.n, sizeof *sums.items, by_time);
        add_table(profile, stage, view, threads, &sums);
    }
    free(sums.items);
    pt_map_fini(&sums.by_key);
}
