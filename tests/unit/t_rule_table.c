/* SPDX-License-Identifier: MIT
 *
 * Every rule fires at what it complains about, and is silent when one figure is other. The two cases of a RULE follow
 * from its row: its metric at the threshold, and beyond it. A RULE_CUSTOM needs a row in rule_cases.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "rules/general.h"
#include "rules/remedy.h"
#include "rules/rule.h"
#include "rule_cases.h"

/* People read words, and no two facts of a finding under the same one. */
static void check_words(const struct pt_finding *finding)
{
    for (pt_u32 i = 0; i < finding->n_evidence; i++) {
        const char *label = pt_evidence_label(finding->evidence[i].key);
        if (!label)
            fail_msg("%s: evidence.def has no row for %s", finding->rule, finding->evidence[i].key);
        for (pt_u32 j = 0; j < i; j++)
            if (!strcmp(label, pt_evidence_label(finding->evidence[j].key)))
                fail_msg("%s: two facts are called '%s'", finding->rule, label);
    }
}

enum { N_ROWS = sizeof rows / sizeof *rows };

/* True = that was no metric. */
static bool set_of_process(struct pt_process *process, const char *name, double value)
{
    static struct pt_untraced program = {.path = "/usr/bin/go", .reason = "static"};
    if (!strcmp(name, "process.untraced"))
        process->n_untraced = (pt_u32)value, process->untraced = &program;
    else if (!strcmp(name, "process.truncated"))
        process->quality.truncated = value != 0;
    else
        return false;
    return true;
}

struct file_row {
    const char *path, *python_place;
    pt_u64 opens, read_again_bytes, distinct_bytes;
};

static void add_computing(struct pt_profile *profile, const struct pt_stack_frame *frames, pt_u32 n, double s)
{
    struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, frames, n);
    stack->part = PT_STACK_ANY_PART;
    for (int cost = PT_STACK_CPU_S; cost <= PT_STACK_TRAINING_OWN_S; cost++)
        stack->cost[cost] = s;
}

/* A function of Python that computes in two smaller ones, each of which takes so long. True = that was no metric. */
static bool set_of_caller(struct pt_profile *profile, const char *name, double value)
{
    static const struct pt_stack_frame caller = {
        .function = "match", .file = "/app/train.py", .line = 12, .flags = PT_FRAME_OF_PYTHON};
    if (!strcmp(name, "caller.each_s"))
        for (int i = 0; i < 2; i++) {
            const struct pt_stack_frame called = {
                .function = i ? "area" : "overlap", .file = "/app/train.py", .flags = PT_FRAME_OF_PYTHON};
            const struct pt_stack_frame main = {
                .function = "main", .file = "/app/train.py", .flags = PT_FRAME_OF_PYTHON};
            add_computing(profile, (const struct pt_stack_frame[]){called, caller, main}, 3, value);
        }
    else if (!strcmp(name, "caller.beside_s"))
        pt_stacks_add(&profile->stacks, 0, &caller, 1)->cost[PT_STACK_BESIDE_S] = value;
    else if (!strcmp(name, "caller.behind_s")) {
        const struct pt_stack_frame main = {.function = "main", .file = "/app/train.py", .flags = PT_FRAME_OF_PYTHON};
        struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, (const struct pt_stack_frame[]){caller, main}, 2);
        stack->part = PT_STACK_ANY_PART;
        stack->cost[PT_STACK_TRAINING_S] = stack->cost[PT_STACK_BESIDE_S] = value;
        stack->cost[PT_STACK_BEHIND_S] = stack->cost[PT_STACK_BEHIND_OWN_S] = value;
    } else if (!strcmp(name, "caller.calls_s")) {
        struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, &caller, 1);
        stack->part = PT_PART_file_meta;
        stack->cost[PT_STACK_CALL_S] = stack->cost[PT_STACK_MAIN_CALL_S] = value;
    } else if (!strcmp(name, "cell.forward_s")) {
        static const struct pt_stack_frame cell = {
            .function = "LSTMCell.forward", .file = "/lib/torch/nn/modules/rnn.py", .flags = PT_FRAME_OF_PYTHON};
        pt_stacks_add(&profile->stacks, 0, &cell, 1)->cost[PT_STACK_FORWARD_S] = value;
    } else if (!strcmp(name, "old_cell.forward_s") || !strcmp(name, "old_layer.forward_s")) {
        const struct pt_stack_frame operation = {.function = strstr(name, "cell") ? "at::_ops::lstm_cell::call"
                                                                                  : "at::_ops::lstm_input::call",
                                                 .flags = PT_FRAME_IS_NAMED};
        static const struct pt_stack_frame forward = {
            .function = "forward", .file = "/lib/torch/nn/modules/rnn.py", .flags = PT_FRAME_OF_PYTHON};
        pt_stacks_add(&profile->stacks, 0, (const struct pt_stack_frame[]){operation, forward}, 2)
            ->cost[PT_STACK_FORWARD_S] = value;
    } else if (!strcmp(name, "caller.backward_s"))
        profile->stacks.items[0].cost[PT_STACK_BACKWARD_S] = value;
    else
        return false;
    return true;
}

/* Seconds in which workers pickle, and in which they wait for work. True = that was no metric. */
static bool set_of_pickling(struct pt_profile *profile, const char *name, double value)
{
    static const struct pt_stack_frame frames[] = {
        {.function = "dumps", .file = "/lib/multiprocessing/reduction.py", .flags = PT_FRAME_OF_PYTHON},
        {.function = "_poll", .file = "/lib/multiprocessing/connection.py", .flags = PT_FRAME_OF_PYTHON},
        {.function = "SimpleQueue.get", .file = "/lib/multiprocessing/queues.py", .flags = PT_FRAME_OF_PYTHON},
        {.function = "worker", .file = "/lib/multiprocessing/pool.py", .flags = PT_FRAME_OF_PYTHON}};
    static const struct pt_stack_frame other = {
        .function = "dumps", .file = "/site-packages/multiprocess/reduction.py", .flags = PT_FRAME_OF_PYTHON};
    const bool is_other = !strcmp(name, "pickling.by_multiprocess_s");
    if (is_other || !strcmp(name, "pickling.workers_s")) {
        struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, is_other ? &other : frames, 1);
        stack->part = PT_STACK_ANY_PART;
        stack->cost[PT_STACK_CPU_S] = stack->cost[PT_STACK_IN_WORKER_S] = value;
    } else if (!strcmp(name, "pickling.polls_s"))
        add_computing(profile, frames + 1, 3, value);
    else if (!strcmp(name, "pickling.dumps_s"))
        add_computing(profile, (const struct pt_stack_frame[]){frames[0], frames[3]}, 2, value);
    else
        return false;
    return true;
}

/* Bytes that a model allocates, larger each time. True = that was no metric. */
static bool set_of_model(struct pt_profile *profile, const char *name, double value)
{
    static const struct pt_stack_frame frames[] = {
        {.function = "empty"},
        {.function = "Module._call_impl",
         .file = "/lib/torch/nn/modules/module.py",
         .flags = PT_FRAME_OF_PYTHON | PT_FRAME_SERVES},
        {.function = "train", .file = "/app/train.py", .line = 20, .flags = PT_FRAME_OF_PYTHON}};
    if (strcmp(name, "model.growing_bytes") != 0)
        return false;
    struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, frames, 3);
    stack->part = PT_STACK_ANY_PART;
    stack->cost[PT_STACK_ALLOCATED_BYTES] = 1e9;
    stack->cost[PT_STACK_GROWING_BYTES] = value;
    return true;
}

/* What a line of the program costs, with the function that it calls for that. True = that was no metric. */
static bool set_of_line(struct pt_profile *profile, const char *name, double value)
{
    static const struct {
        const char *name, *called, *file;
        enum pt_stack_cost cost;
    } figures[] = {
        {"line.joins_s", "array_concatenate", NULL, PT_STACK_STEPS_S},
        {"line.deflates_s", "deflate", NULL, PT_STACK_STEPS_S},
        {"line.inflates_s", "inflate", NULL, PT_STACK_STEPS_S},
        {"line.reference_blas_s", "sgemm_", "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0", PT_STACK_STEPS_S},
        {"line.openblas_s", "sgemm_", "/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3", PT_STACK_STEPS_S},
        {"line.masks_s", "DataFrame._getitem_bool_array", "/lib/pandas/core/frame.py", PT_STACK_TRAINING_S},
        {"line.sorts_s", "sort", NULL, PT_STACK_STEPS_S},
        {"line.copies_s", "deepcopy", "/lib/python3.11/copy.py", PT_STACK_STEPS_S},
        {"line.copies_of_weights_s", "deepcopy", "/lib/python3/dist-packages/torch/nn/copy.py", PT_STACK_STEPS_S},
        {"line.copies_of_tensors_s", "deepcopy", "/lib/python3/dist-packages/torch/copy.py", PT_STACK_STEPS_S},
        {"line.tensors_s", "torch::utils::tensor_ctor", NULL, PT_STACK_TRAINING_S},
        {"line.sums_s", "sum", NULL, PT_STACK_TRAINING_S},
        {"line.double_s", "dgemm_kernel_ZEN", "/lib/libtorch_cpu.so", PT_STACK_TRAINING_S},
        {"line.numpy_double_s", "dgemm_kernel_ZEN", "/lib/libopenblas.so.0", PT_STACK_TRAINING_S},
        {"line.single_s", "sgemm_kernel_ZEN", "/lib/libtorch_cpu.so", PT_STACK_TRAINING_S},
        {"line.plain_s", NULL, NULL, PT_STACK_TRAINING_S},
        {"line.filters_s", "DataFrame._getitem_bool_array", "/lib/pandas/core/frame.py", PT_STACK_STEPS_S},
        {"line.written_s", "NumpyBlock._get_values_for_csv", "/lib/pandas/core/frame.py", PT_STACK_STEPS_S},
        {"line.old_rows_s", "__setitem__", "/lib/pandas/core/indexing.py", PT_STACK_STEPS_S},
        {"line.old_queries_s", "query", "/lib/pandas/core/frame.py", PT_STACK_TRAINING_S},
        {"line.old_gzip_s", "write", "/lib/python3.9/gzip.py", PT_STACK_STEPS_S},
        {"line.other_writes_s", "write", "/lib/python3.9/codecs.py", PT_STACK_STEPS_S},
        {"line.rows_s", "DataFrame.iterrows", "/lib/pandas/core/frame.py", PT_STACK_STEPS_S},
        {"line.commands_s", "Popen.communicate", "/lib/python3.11/subprocess.py", PT_STACK_WORKER_S},
        {"line.decodes_s", "decode", NULL, PT_STACK_WORKER_S},
        {"line.beside_s", "sort", NULL, PT_STACK_BESIDE_S},
        {"line.allocated_bytes", "empty", NULL, PT_STACK_ALLOCATED_BYTES},
        {"line.growing_bytes", "empty", NULL, PT_STACK_GROWING_BYTES},
        {"line.ups", "empty", NULL, PT_STACK_SIZE_UPS},
        {"line.downs", "empty", NULL, PT_STACK_SIZE_DOWNS},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (strcmp(name, figures[i].name) != 0)
            continue;
        const char *file = figures[i].file;
        const bool is_python = file && strstr(file, ".py");
        const struct pt_stack_frame frames[] = {
            {.function = figures[i].called,
             .file = is_python ? file : NULL,
             .module = is_python ? NULL : file,
             .flags = PT_FRAME_IS_NAMED | (is_python ? PT_FRAME_OF_PYTHON | PT_FRAME_SERVES : 0u)},
            {.function = "extract", .file = "/app/train.py", .line = 14, .flags = PT_FRAME_OF_PYTHON}};
        const pt_u32 inner = figures[i].called ? 0 : 1;
        struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, frames + inner, 2 - inner);
        stack->part = PT_STACK_ANY_PART;
        stack->cost[figures[i].cost] = value;
        return true;
    }
    return false;
}

/* Seconds in which a line has a pattern compiled, or found among those that are kept. True = that was no metric. */
static bool set_of_patterns(struct pt_profile *profile, const char *name, double value)
{
    static const struct pt_stack_frame frames[] = {
        {.function = "_code", .file = "/lib/python3.11/re/_compiler.py", .flags = PT_FRAME_OF_PYTHON | PT_FRAME_SERVES},
        {.function = "_compile",
         .file = "/lib/python3.11/re/__init__.py",
         .flags = PT_FRAME_OF_PYTHON | PT_FRAME_SERVES},
        {.function = "mask", .file = "/app/train.py", .line = 11, .flags = PT_FRAME_OF_PYTHON}};
    const bool is_compiled = !strcmp(name, "patterns.compiled_s");
    if (!is_compiled && strcmp(name, "patterns.found_s") != 0)
        return false;
    struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, frames + !is_compiled, is_compiled ? 3 : 2);
    stack->part = PT_STACK_ANY_PART;
    stack->cost[PT_STACK_STEPS_S] = value;
    return true;
}

/* Seconds in a step of Adam, of a PyTorch with fused kernels for CPUs or without. True = that was no metric. */
static bool set_of_optimizer(struct pt_profile *profile, const char *name, double value)
{
    static const struct pt_stack_frame frames[] = {
        {.function = "_single_tensor_adam",
         .file = "/lib/torch/optim/adam.py",
         .flags = PT_FRAME_OF_PYTHON | PT_FRAME_SERVES},
        {.function = "_disable_dynamo_if_unsupported.<locals>.wrapper.<locals>.maybe_fallback",
         .file = "/lib/torch/optim/optimizer.py",
         .flags = PT_FRAME_OF_PYTHON | PT_FRAME_SERVES},
        {.function = "train", .file = "/app/train.py", .line = 20, .flags = PT_FRAME_OF_PYTHON}};
    const struct pt_stack_frame old[] = {frames[0], frames[2]};
    const bool is_old = !strcmp(name, "optimizer.old_s");
    if (!is_old && strcmp(name, "optimizer.fallback_s") != 0)
        return false;
    struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, is_old ? old : frames, is_old ? 2 : 3);
    stack->part = PT_STACK_ANY_PART;
    stack->cost[PT_STACK_STEPS_S] = value;
    return true;
}

/* Seconds in which workers of a loader make batches, of a stream or of a list; before Python 3.11 no name has a class.
 * True = that was no metric. */
static bool set_of_fetcher(struct pt_profile *profile, const char *name, double value)
{
    static const char file[] = "/lib/torch/utils/data/_utils/fetch.py", own[] = "/app/train.py";
    static const struct {
        const char *metric;
        const char *frames[2][2];
    } fetchers[] = {{"fetcher.stream_s", {{"_IterableDatasetFetcher.fetch", file}}},
                    {"fetcher.list_s", {{"_MapDatasetFetcher.fetch", file}}},
                    {"fetcher.old_stream_s", {{"__iter__", own}, {"fetch", file}}},
                    {"fetcher.old_list_s", {{"<listcomp>", file}, {"fetch", file}}}};
    for (size_t i = 0; i < sizeof fetchers / sizeof *fetchers; i++) {
        if (strcmp(name, fetchers[i].metric) != 0)
            continue;
        struct pt_stack_frame frames[2];
        pt_u32 n = 0;
        for (; n < 2 && fetchers[i].frames[n][0]; n++)
            frames[n] = (struct pt_stack_frame){.function = fetchers[i].frames[n][0],
                                                .file = fetchers[i].frames[n][1],
                                                .flags = PT_FRAME_OF_PYTHON | PT_FRAME_SERVES};
        struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, frames, n);
        stack->part = PT_STACK_ANY_PART;
        stack->cost[PT_STACK_WORKER_S] = value;
        return true;
    }
    return false;
}

/* A function of Python that reads a file of 1 MB, called by another one. True = that was no metric. */
static bool set_of_reader(struct pt_profile *profile, const char *name, double value)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct file_row, path, TEXT, "File"),
        PT_COLUMN(struct file_row, python_place, TEXT, "Python"),
        PT_COLUMN(struct file_row, opens, COUNT, "Opens"),
        PT_COLUMN(struct file_row, read_again_bytes, BYTES, "Read again"),
        PT_COLUMN(struct file_row, distinct_bytes, BYTES, "Distinct"),
    };
    static const struct pt_table_kind by_file = {PT_VIEW_files, .most = 9, PT_COLUMNS(columns)};
    static const struct pt_stack_frame frames[] = {
        {.function = "read_labels", .file = "/app/train.py", .line = 22, .flags = PT_FRAME_OF_PYTHON},
        {.function = "main", .file = "/app/train.py", .line = 30, .flags = PT_FRAME_OF_PYTHON}};
    if (!strcmp(name, "reader.own_s")) {
        add_computing(profile, frames, 2, value);
        return true;
    }
    if (strcmp(name, "reader.read_again_bytes") != 0)
        return false;
    pt_table_add(pt_metrics_add_table(&profile->metrics, pt_scope_stage(0), &by_file),
                 &(struct file_row){"/app/labels.csv", "train.py:21 read_labels", 11, (pt_u64)value, 1000000});
    return true;
}

/* Without what a rule complains about; if that is said of the capture, it is unknown until it is set. */
static void set_what_all_have(struct pt_profile *profile, const char *first)
{
    if (strcmp(first, "capture.total") != 0)
        pt_metrics_set(&profile->metrics, pt_scope_stage(0), "capture.total", pt_integer(5));
    pt_metrics_set(&profile->metrics, pt_scope_stage(0), "gpu.source", pt_text("cupti"));
}

/* A stage of one process that ran for ten seconds. */
static bool fires(const char *rule, const struct figure *figures, double last)
{
    struct pt_session session = {.duration_ns = 10000000000, .n_processes = 1};
    struct pt_process process = {.session = &session, .end_ns = session.duration_ns, .stage = "train"};
    struct pt_process *processes[] = {&process};
    struct pt_profile profile = {.session = &session};
    struct pt_findings findings = {0};
    bool found = false;
    session.processes = processes;
    static const struct pt_heap_totals heap = {.allocs = 5};
    process.heap = &heap;
    pt_stages_build(&profile.stages, &session, NULL);
    set_what_all_have(&profile, figures[0].metric);
    for (size_t i = 0; figures[i].metric; i++) {
        const double value = figures[i + 1].metric ? figures[i].value : last;
        if (!isnan(value) && !set_of_process(&process, figures[i].metric, value) &&
            !set_of_reader(&profile, figures[i].metric, value) && !set_of_caller(&profile, figures[i].metric, value) &&
            !set_of_pickling(&profile, figures[i].metric, value) && !set_of_line(&profile, figures[i].metric, value) &&
            !set_of_model(&profile, figures[i].metric, value) && !set_of_patterns(&profile, figures[i].metric, value) &&
            !set_of_fetcher(&profile, figures[i].metric, value) &&
            !set_of_optimizer(&profile, figures[i].metric, value))
            pt_metrics_set(&profile.metrics, pt_scope_stage(0), figures[i].metric, pt_real(value));
    }
    pt_judge(&profile, &findings);
    for (size_t i = 0; i < findings.n; i++) {
        found |= !strcmp(findings.items[i].rule, rule);
        check_words(&findings.items[i]);
    }
    pt_findings_free(&findings);
    pt_profile_free(&profile);
    return found;
}

static void judge(const char *rule, const struct figure *figures, double last, double silent)
{
    if (!fires(rule, figures, last))
        fail_msg("%s does not fire at %s = %g", rule, figures[0].metric, last);
    if (fires(rule, figures, silent))
        fail_msg("%s is not silent at %s = %g", rule, figures[0].metric, silent);
}

static void each_case_fires_and_is_silent(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ROWS; i++) {
        size_t n = 0;
        while (rows[i].fires[n].metric)
            n++;
        judge(rows[i].rule, rows[i].fires, rows[i].fires[n - 1].value, rows[i].silent);
    }
}

/* Of a RULE: just within its threshold, and just not. */
static void judge_row(const struct pt_rule *rule)
{
    const bool is_its_cost = !strcmp(rule->metric, rule->cost);
    const bool or_costly = strstr(rule->comparison, "or costly");
    const struct figure figures[] = {
        {is_its_cost ? "capture.events" : rule->cost, or_costly ? 0.5 : 3}, {rule->metric, 0}, {NULL, 0}};
    const bool is_least = *rule->comparison == '>', is_included = rule->comparison[1] == '=';
    const double step = fabs(rule->threshold) * 1e-6 + 1e-9, within = is_least ? step : -step;
    const double at = rule->threshold;
    judge(rule->id, figures, is_included ? at : at + within, is_included ? at - within : at);
    judge(rule->id, figures, at + within, NAN); /* what is not known is no reason to complain */
    const struct figure by_cost[] = {{rule->metric, at + within}, {rule->cost, 0}, {NULL, 0}};
    judge(rule->id, by_cost, 3, 0.05); /* nor is what could gain next to nothing */
    /* Seconds first: a tenth of the stage is worth a finding however few calls it was, if its account says so, too. */
    const bool has_part = rule->part < PT_PART__COUNT;
    const struct figure few[] = {{rule->metric, at - within},
                                 {rule->cost, 1.1},
                                 {has_part ? pt_time_parts[rule->part].metric : NULL, 0},
                                 {NULL, 0}};
    if (or_costly && !is_its_cost)
        judge(rule->id, few, 1.5, 0.5);
}

static void every_rule_has_both_cases(void **state)
{
    (void)state;
    for (const struct pt_rule *rule = pt_rules; rule->id; rule++) {
        size_t cases = 0;
        for (size_t i = 0; i < N_ROWS; i++)
            cases += !strcmp(rows[i].rule, rule->id);
        if (!rule->custom)
            judge_row(rule);
        else if (!cases)
            fail_msg("%s has no case in which it fires and is silent: add one to rule_cases.h", rule->id);
    }
}

/* Of workers, what is waited for. */
static void pickling_costs_what_is_waited_for(void **state)
{
    (void)state;
    const struct figure by_workers[] = {{"pickling.workers_s", 2}, {"time.data_wait_s", 3}, {NULL, 0}};
    assert_true(fires("pickled_data", by_workers, 3));
    assert_false(fires("pickled_data", by_workers, 0));
}

/* A case of a rule that was renamed would be silent for ever. */
static void every_case_is_of_a_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct pt_rule *rule = pt_rules;
        while (rule->id && strcmp(rule->id, rows[i].rule) != 0)
            rule++;
        if (!rule->id)
            fail_msg("there is no rule %s", rows[i].rule);
    }
}

static bool is_named(const char *id, const char *name, size_t n)
{
    return strlen(id) == n && !strncmp(id, name, n);
}

static bool is_rule(const char *name, size_t n)
{
    bool is = false;
    for (size_t i = 0; pt_rules[i].id; i++)
        is |= is_named(pt_rules[i].id, name, n);
    for (size_t i = 0; pt_generals[i].id; i++)
        is |= is_named(pt_generals[i].id, name, n);
    return is;
}

static void remedies_are_sound(void **state)
{
    (void)state;
    for (const struct pt_remedy *row = pt_remedies; row->rules; row++) {
        assert_true(*row->patterns && *row->remedy && strlen(row->remedy) < 140);
        assert_true(*row->patterns != '|' && !strstr(row->patterns, "||"));
        for (const char *at = row->rules; *at; at += strspn(at, " ")) {
            const size_t n = strcspn(at, " ");
            if (!is_rule(at, n))
                fail_msg("remedies.def: there is no rule %.*s", (int)n, at);
            at += n;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_fires_and_is_silent),
        cmocka_unit_test(every_rule_has_both_cases),
        cmocka_unit_test(every_case_is_of_a_rule),
        cmocka_unit_test(pickling_costs_what_is_waited_for),
        cmocka_unit_test(remedies_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
