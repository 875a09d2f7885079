/* SPDX-License-Identifier: MIT
 *
 * Names of rows in tables of functions: each sample is self time of one row, and the row says what can be acted on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "analysis/cpu/function_rows.h"
#include "analysis/cpu/generated.h"

static const char python[] = "/usr/bin/python3.11", torch[] = "/opt/libtorch_cpu.so", jpeg[] = "/usr/lib/libjpeg.so.62",
                  libc[] = "/usr/lib/libc.so.6", us[] = "/opt/libproftrace.so", dash[] = "/usr/bin/dash";

/* A frame for each row: what called it (its row from 1; 0 = nobody), its function (in brackets: it has no name), and
 * the row that a sample there is self time of. */
static const struct {
    pt_u32 parent;
    const char *name, *module, *row;
} rows[] = {
    {0, "_start", python, "_start"},
    {1, "[python3.11]", python, "_start > [python3.11]"},
    {2, "_PyEval_EvalFrameDefault", python, "_PyEval_EvalFrameDefault"},
    {3, "[python3.11]", python, "_PyEval_EvalFrameDefault > [python3.11]"},
    {4, "[libjpeg.so.62]", jpeg, "[libjpeg.so.62]"}, /* the interpreter calls everything */
    {4, "at::native::add(at::Tensor const&, at::Tensor const&)", torch,
     "at::native::add(at::Tensor const&, at::Tensor const&)"},
    {6, "[libtorch_cpu.so]", torch, "at::native::add > [libtorch_cpu.so]"},
    {7, "[libjpeg.so.62]", jpeg, "at::native::add > [libjpeg.so.62]"}, /* past what has no name */
    {7, "[kernel]", NULL, "page faults > [kernel]"},
    {7, "__GI___libc_write", libc, "__GI___libc_write"},
    {10, "[kernel]", NULL, "write > [kernel]"},
    {7, "JIT code (oneDNN)", "", "JIT code (oneDNN)"},
    {12, "[kernel]", NULL, "page faults > [kernel]"},
    {7, "malloc", us, "proftrace"},
    {14, "[kernel]", NULL, "proftrace"},
    {14, "__libc_malloc", libc, "__libc_malloc"}, /* what a hook passes on is the program's */
    {16, "[kernel]", NULL, "malloc > [kernel]"},
    {14, "pt_store", us, "proftrace"},
    {18, "__memcpy", libc, "proftrace"}, /* below our own code */
    {0, "start_thread", libc, "start_thread"},
    {20, "[dash]", dash, "[dash]"}, /* libc starts every thread */
    {0, "[cut]", NULL, "[cut]"},
    {22, "[dash]", dash, "[dash]"},
    {22, "[kernel]", NULL, "[kernel]"},
    {0, "[kernel]", NULL, "[kernel]"},
    {3, "std::vector<int (*)(char)>::operator()(int) const", torch,
     "std::vector<int (*)(char)>::operator()(int) const"},
    {26, "[libtorch_cpu.so]", torch, "std::vector<int (*)(char)>::operator() > [libtorch_cpu.so]"},
    {6, "at::parallel_for(long, long)", torch, "at::parallel_for(long, long)"},
    {28, "[libtorch_cpu.so]", torch, "at::native::add > [libtorch_cpu.so]"}, /* past what calls anything */
    {21, "GOMP_parallel", "/usr/lib/libgomp.so.1", "GOMP_parallel"},
    {30, "[libgomp.so.1]", "/usr/lib/libgomp.so.1", "GOMP_parallel > [libgomp.so.1]"}, /* nobody says more */
    {3, "foo(int)::{lambda(char)#1}", torch, "foo(int)::{lambda(char)#1}"},
    {32, "[libtorch_cpu.so]", torch, "foo(int)::{lambda(char)#1} > [libtorch_cpu.so]"},
    {3, "(anonymous namespace)", torch, "(anonymous namespace)"},
    {34, "[libtorch_cpu.so]", torch, "(anonymous namespace) > [libtorch_cpu.so]"},
};

enum { N = sizeof rows / sizeof *rows, TRACER = N + 1 };

struct world {
    struct pt_cpu_function functions[N + 2];
    struct pt_cpu_frame frames[N + 1];
    struct pt_cpu_node nodes[N + 1];
    pt_u32 frame_of[N + 1];
    struct pt_cpu_data data;
    struct pt_cpu_view view;
};

static enum pt_code_kind code_of(pt_u32 i)
{
    if (!rows[i].module)
        return strcmp(rows[i].name, "[kernel]") ? PT_CODE_CUT : PT_CODE_KERNEL;
    return *rows[i].module ? pt_code_of_file(rows[i].module) : PT_CODE_JIT;
}

static void make_world(struct world *w)
{
    *w = (struct world){0};
    for (pt_u32 i = 0; i < N; i++) {
        const enum pt_code_kind code = code_of(i);
        w->functions[i + 1] = (struct pt_cpu_function){
            .name = rows[i].name,
            .module = rows[i].module && *rows[i].module ? rows[i].module : NULL,
            .has_name = rows[i].name[0] != '[' && code != PT_CODE_JIT,
            .code = code,
        };
        w->frames[i + 1] = (struct pt_cpu_frame){.parent = rows[i].parent, .function = i + 1};
        w->nodes[i + 1].module = code == PT_CODE_KERNEL ? PT_CPU_MODULE_KERNEL : PT_CPU_MODULE__FIRST;
        w->frame_of[i + 1] = i + 1;
    }
    w->functions[0].name = "";
    w->functions[TRACER] = (struct pt_cpu_function){.name = "proftrace", .module = us, .code = PT_CODE_TRACER};
    w->data = (struct pt_cpu_data){.nodes = w->nodes, .n_nodes = N + 1};
    w->view = (struct pt_cpu_view){.data = &w->data, .frame_of = w->frame_of, .tracer = TRACER};
    w->view.functions.items = w->functions;
    w->view.functions.n = N + 2;
    w->view.frames.items = w->frames;
    w->view.frames.n = N + 1;
}

static void samples_are_of_rows_with_names(void **state)
{
    (void)state;
    struct world w;
    struct pt_function_rows found;
    make_world(&w);
    pt_function_rows_open(&found, &w.view);
    for (pt_u32 i = 0; i < N; i++) {
        pt_u32 caller;
        const pt_u32 row = pt_function_row_of_sample(&found, i + 1, &caller);
        print_message("row %u\n", i + 1);
        assert_string_equal(found.items[row].name, rows[i].row);
        assert_true(caller < i + 1);
    }
    pt_function_rows_close(&found);
    pt_intern_fini(&w.view.texts);
}

static void hooks_are_nobodys_total_time(void **state)
{
    (void)state;
    struct world w;
    struct pt_function_rows found;
    pt_u32 caller;
    make_world(&w);
    pt_function_rows_open(&found, &w.view);
    assert_int_equal(pt_function_row_of_frame(&found, 14), 0);
    pt_function_row_of_sample(&found, 19, &caller); /* recording counts for the program's code that caused it */
    assert_int_equal(caller, 7);
    pt_function_row_of_sample(&found, 16, &caller);
    assert_int_equal(caller, 14);
    pt_function_rows_close(&found);
    pt_intern_fini(&w.view.texts);
}

/* Its stacks end where generated code begins; but oneDNN tells by ranges when that runs. */
static void ranges_tell_who_made_code(void **state)
{
    (void)state;
    struct range_row {
        const char *name;
        double total_s;
    };
    static const struct pt_column columns[] = {
        PT_COLUMN(struct range_row, name, TEXT, "Range"),
        PT_COLUMN(struct range_row, total_s, SECONDS, "Total"),
    };
    static const struct pt_table_kind ranges = {PT_VIEW_ranges, .most = 9, PT_COLUMNS(columns)};
    for (int covers = 0; covers < 2; covers++) {
        struct pt_cpu_function functions[] = {{.name = ""}, {.name = "JIT code", .code = PT_CODE_JIT}};
        struct pt_cpu_frame frames[] = {{0}, {.function = 1}};
        struct pt_cpu_count count = {.node = 1, .samples = 300};
        pt_u32 frame_of[] = {0, 1};
        double sample_s[] = {0.01};
        struct pt_cpu_data data = {.counts = &count, .n_counts = 1};
        struct pt_cpu_view view = {.data = &data, .frame_of = frame_of, .sample_s = sample_s};
        struct pt_profile profile = {0};
        view.functions.items = functions;
        view.functions.n = 2;
        view.frames.items = frames;
        view.frames.n = 2;
        struct pt_table *table = pt_metrics_add_table(&profile.metrics, pt_scope_stage(0), &ranges);
        pt_table_add(table, &(struct range_row){"dnnl::primitive::execute: convolution", covers ? 1.5 : 0.5});
        pt_table_add(table, &(struct range_row){"step", 3});
        pt_cpu_name_generated(&profile, 0, &view);
        assert_string_equal(functions[1].name, covers ? "JIT code (oneDNN)" : "JIT code");
        pt_metrics_free(&profile.metrics);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_of_rows_with_names),
        cmocka_unit_test(hooks_are_nobodys_total_time),
        cmocka_unit_test(ranges_tell_who_made_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
