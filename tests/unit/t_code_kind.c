/* SPDX-License-Identifier: MIT
 *
 * What code is, by its names; and what a node of a CPU profile does, by its own code and that of its callers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "facts/cpu_code.h"

static void files_have_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum pt_code_kind kind;
    } rows[] = {
        {"/usr/lib/libpython3.11.so.1.0", PT_CODE_PYTHON},
        {"/usr/bin/python3", PT_CODE_PYTHON},
        {"python", PT_CODE_PYTHON},
        {"/usr/bin/python-config", PT_CODE_OTHER},
        {"/usr/lib/libc.so.6", PT_CODE_LIBC},
        {"/lib/libc-2.31.so", PT_CODE_LIBC},
        {"/lib/libpthread.so.0", PT_CODE_LIBC},
        {"/opt/libpthreadpool.so", PT_CODE_OTHER},
        {"[vdso]", PT_CODE_LIBC},
        {"/lib64/ld-linux-x86-64.so.2", PT_CODE_LOADER},
        {"/opt/libproftrace.so", PT_CODE_TRACER},
        {"/usr/lib/libjemalloc.so.2", PT_CODE_ALLOCATOR},
        {"/opt/torch/lib/libtorch_cpu.so", PT_CODE_FRAMEWORK},
        {"/opt/torch/lib/libc10.so", PT_CODE_ABOVE_ALLOCATOR},
        {"/usr/lib/libjpeg.so.62", PT_CODE_DECODER},
        {"", PT_CODE_OTHER},
        {NULL, PT_CODE_OTHER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pt_code_of_file(rows[i].path), rows[i].kind);
}

static void functions_have_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum pt_code_kind kind;
    } rows[] = {
        {"malloc", PT_CODE_ALLOCATOR},
        {"__libc_malloc", PT_CODE_ALLOCATOR},
        {"__GI___libc_free", PT_CODE_ALLOCATOR},
        {"_int_free_merge_chunk", PT_CODE_ALLOCATOR},
        {"free.part.0", PT_CODE_ALLOCATOR},
        {"operator new(unsigned long)", PT_CODE_ALLOCATOR},
        {"free_pages", PT_CODE_OTHER},
        {"malloc_usable_size", PT_CODE_OTHER},
        {"PyMem_RawMalloc", PT_CODE_ABOVE_ALLOCATOR},
        {"_PyObject_Alloc", PT_CODE_ABOVE_ALLOCATOR},
        {"PyObject_Call", PT_CODE_CARRIER},
        {"_PyObject_MakeTpCall", PT_CODE_CARRIER}, /* and no allocator, as other functions that begin so */
        {"PyObject_Repr", PT_CODE_OTHER},
        {"GOMP_parallel", PT_CODE_CARRIER},
        {"__munmap", PT_CODE_MAPPING},
        {"mmap64", PT_CODE_MAPPING},
        {"mmap_file", PT_CODE_OTHER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pt_code_of_function(rows[i].name), rows[i].kind);
}

static void callers_say_what_code_is_for(void **state)
{
    (void)state;
    assert_int_equal(pt_code_hint_of("at::native::add", PT_CODE_FRAMEWORK, false), PT_CODE_SAYS);
    assert_int_equal(pt_code_hint_of("at::TensorIteratorBase::for_each", PT_CODE_FRAMEWORK, true), PT_CODE_CARRIES);
    assert_int_equal(pt_code_hint_of("start_thread", PT_CODE_LIBC, false), PT_CODE_SAYS_NOTHING);
    assert_int_equal(pt_code_hint_of("_PyEval_EvalFrameDefault", PT_CODE_PYTHON, false), PT_CODE_SAYS_NOTHING);
    assert_int_equal(pt_code_hint_of("_PyEval_EvalFrameDefault", PT_CODE_PYTHON, true), PT_CODE_SAYS);
    assert_int_equal(pt_code_plain_length("f(int, g<(char)1>) const"), 1);
    assert_int_equal(pt_code_plain_length("plain"), 5);
    assert_int_equal(pt_code_plain_length(""), 0);
    assert_int_equal(pt_code_plain_length(")"), 1);
    assert_int_equal(pt_code_plain_length("()"), 2);
    assert_int_equal(pt_code_plain_length("))(("), 4);
    assert_string_equal(pt_code_name_in_libc("__GI___libc_write"), "write");
    assert_string_equal(pt_code_name_in_libc("___"), "___");
}

/* Modules; none of the files is here, so that functions are called by them. */
enum { KERNEL = PT_CPU_MODULE_KERNEL, CUT = PT_CPU_MODULE_CUT, PYTHON = PT_CPU_MODULE__FIRST, LIBC, LOADER, US, TORCH };

/* A node for each row: what called it (its row from 1; 0 = nobody), and what is true of it. */
static const struct {
    pt_u32 parent, module;
    bool runs_python, is_page_fault, is_tracing;
    pt_u32 program; /* row of the program's own frame, from 1 */
} rows[] = {
    {0, PYTHON, true, false, false, 1},
    {1, LIBC, true, false, false, 1},
    {2, KERNEL, true, false, false, 1}, /* a system call for it */
    {1, KERNEL, true, true, false, 1},  /* no code but libc's makes one */
    {1, TORCH, false, false, false, 5},
    {5, LIBC, false, false, false, 5},
    {5, KERNEL, false, true, false, 5},
    {1, LOADER, false, false, false, 8}, /* the work is as much as there is native code */
    {8, KERNEL, false, false, false, 8},
    {1, US, true, false, true, 1},
    {10, LIBC, true, false, false, 1}, /* what a hook calls is the program's */
    {10, KERNEL, true, false, true, 1},
    {0, CUT, false, false, false, 13},
    {13, LIBC, false, false, false, 14}, /* nobody knows more */
    {14, KERNEL, false, false, false, 15},
};

enum { N = sizeof rows / sizeof *rows };

static void nodes_do_what_their_callers_want(void **state)
{
    (void)state;
    struct pt_cpu_file modules[] = {{.path = ""},
                                    {.path = ""},
                                    {.path = ""},
                                    {.path = "/x/python3.11"},
                                    {.path = "/x/libc.so.6"},
                                    {.path = "/x/ld-linux-x86-64.so.2"},
                                    {.path = "/x/libproftrace.so"},
                                    {.path = "/x/libtorch.so"}};
    struct pt_cpu_node nodes[N + 1] = {{0}};
    struct pt_cpu_times times[1] = {{0}};
    struct pt_cpu_data data = {
        .modules = modules, .n_modules = TORCH + 1, .nodes = nodes, .n_nodes = N + 1, .times = times, .n_threads = 1};
    struct pt_cpu_view view;
    assert_int_equal(sizeof modules / sizeof *modules, TORCH + 1);
    for (pt_u32 i = 0; i < N; i++)
        nodes[i + 1] = (struct pt_cpu_node){.parent = rows[i].parent, .module = rows[i].module, .address = 16 * i};
    struct pt_symbols *symbols = pt_symbols_open(NULL);
    pt_cpu_view_of(&view, &data, symbols);
    for (pt_u32 i = 0; i < N; i++) {
        const pt_u32 program = pt_cpu_program_frame(&view, view.frame_of[i + 1], NULL);
        print_message("row %u\n", i + 1);
        assert_int_equal(pt_cpu_runs_python(&view, i + 1), rows[i].runs_python);
        assert_int_equal(pt_cpu_is_page_fault(&view, i + 1), rows[i].is_page_fault);
        assert_int_equal(pt_cpu_is_tracing(&view, i + 1), rows[i].is_tracing);
        assert_int_equal(program, view.frame_of[rows[i].program]);
    }
    pt_cpu_view_close(&view);
    pt_symbols_close(symbols);
}

static void what_a_program_is_made_of_is_no_data(void **state)
{
    (void)state;
    assert_true(pt_code_is_program_file("/usr/lib/python3/dist-packages/torch/__pycache__/_tensor.cpython-311.pyc"));
    assert_true(pt_code_is_program_file("/work/model.py"));
    assert_true(pt_code_is_program_file("/usr/lib/x86_64-linux-gnu/libc.so.6"));
    assert_true(pt_code_is_program_file("/work/venv/lib/python3.11/site-packages/torch/version.json"));
    assert_false(pt_code_is_program_file("/data/images/0001.jpg"));
    assert_false(pt_code_is_program_file("/data/set.solution.csv"));
    assert_true(pt_code_is_program_directory("/work/venv/lib/python3.11/site-packages"));
    assert_true(pt_code_is_program_directory("/usr/lib"));
    assert_false(pt_code_is_program_directory("/"));
    assert_false(pt_code_is_program_directory("/usr/share/data"));
}

static void files_of_python_have_owners(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        bool is_library;
    } files[] = {
        {"/home/me/python3/train.py", false},
        {"/usr/lib/python3.11/json/decoder.py", true},
        {"/opt/venv/lib/python3.11/site-packages/torch/_ops.py", true},
        {"<frozen runpy>", true},
        {"<stdin>", false},
        {"<ipython-input-3-0123456789ab>", false},
        {"<doctest train[0]>", false},
        {"<command-17>", false},
        {"<eval_with_key>.3", true},
        {"<eval_with_key>.3 from /home/me/train.py:7 in forward", true},
        {"<lambdifygenerated-1>", true},
        {"<template>", true},
        {"/tmp/__autograph_generated_file1a2b.py", true},
        {"/tmp/torchinductor_me/fx/cfxh3.py", true},
        {"/scratch/cache/fx/cfxh3abcdefghijklmnopqrstuvwxyz234567abcdefghijklmno.py", true},
        {"/scratch/cache/ab/cfxh3abcdefghijklmnopqrstuvwxyz234567abcdefghijklmno.py", false},
        {"/home/me/od/code.py", false},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        print_message("%s\n", files[i].file);
        assert_int_equal(pt_python_is_library(files[i].file), files[i].is_library);
    }
}

/* From the innermost frame to the outermost one, and whose each is. */
struct frame_row {
    const char *function, *file;
    pt_u32 line;
    enum pt_python_owner owner;
};

static void check_owners(const struct frame_row *frames, size_t n)
{
    struct pt_python_program program = {0};
    for (size_t i = 0; i < n; i++)
        pt_python_look(&program, frames[i].function, frames[i].file, frames[i].line);
    for (size_t i = 0; i < n; i++) {
        print_message("%s of %s\n", frames[i].function, frames[i].file);
        assert_int_equal(pt_python_owner_of(&program, frames[i].function, frames[i].file, frames[i].line),
                         frames[i].owner);
    }
}
#define CHECK_OWNERS(...)                                                                                              \
    check_owners((const struct frame_row[]){__VA_ARGS__},                                                              \
                 sizeof((const struct frame_row[]){__VA_ARGS__}) / sizeof(struct frame_row))
#define PACKAGES "/venv/lib/python3.11/site-packages/"

static void an_installed_program_is_known_by_its_stack(void **state)
{
    (void)state;
    CHECK_OWNERS({"Linear.forward", PACKAGES "torch/nn/modules/linear.py", 9, PT_OWNER_PACKAGE},
                 {"train", PACKAGES "detector/train.py", 40, PT_OWNER_USER},
                 {"wrapper", PACKAGES "detector_extras/log.py", 3, PT_OWNER_PACKAGE},
                 {"cli", PACKAGES "detector/cli.py", 7, PT_OWNER_USER},
                 {"BaseCommand.__call__", PACKAGES "click/core.py", 1157, PT_OWNER_PACKAGE},
                 {"<module>", "/venv/bin/detector-train", 8, PT_OWNER_INTERPRETER});
    CHECK_OWNERS({"forward", PACKAGES "torch/nn/modules/linear.py", 9, PT_OWNER_PACKAGE},
                 {"<module>", PACKAGES "train.py", 40, PT_OWNER_USER},
                 {"_run_code", "<frozen runpy>", 88, PT_OWNER_INTERPRETER},
                 {"_run_module_as_main", "<frozen runpy>", 198, PT_OWNER_INTERPRETER});
    /* A script of the user's that is longer, and one that is installed as he edits it. */
    CHECK_OWNERS({"get", PACKAGES "requests/api.py", 9, PT_OWNER_PACKAGE},
                 {"<module>", "/home/me/bin/fetch", 30, PT_OWNER_USER});
    CHECK_OWNERS({"forward", PACKAGES "torch/nn/modules/linear.py", 9, PT_OWNER_PACKAGE},
                 {"train", "/home/me/detector/train.py", 40, PT_OWNER_USER},
                 {"wrapper", PACKAGES "record/log.py", 3, PT_OWNER_PACKAGE},
                 {"<module>", "/venv/bin/detector-train", 8, PT_OWNER_USER});
    /* One that is as short as those that installers write, and imports from elsewhere. */
    CHECK_OWNERS({"<module>", PACKAGES "pandas/__init__.py", 9, PT_OWNER_PACKAGE},
                 {"<module>", "/home/me/bin/train", 3, PT_OWNER_USER});
    CHECK_OWNERS({"<module>", "/repo/.venv/lib/python3.11/site-packages/pandas/__init__.py", 9, PT_OWNER_PACKAGE},
                 {"<module>", "/repo/bin/train", 3, PT_OWNER_USER});
    /* A thread of a library's. */
    CHECK_OWNERS({"send", PACKAGES "urllib3/pool.py", 9, PT_OWNER_PACKAGE},
                 {"run", PACKAGES "wandb/sender.py", 9, PT_OWNER_PACKAGE},
                 {"Thread._bootstrap", "/usr/lib/python3.11/threading.py", 995, PT_OWNER_STANDARD_LIBRARY});
}

static void installers_put_packages_beside_their_scripts(void **state)
{
    (void)state;
    static const struct {
        const char *script, *package;
    } layouts[] = {
        {"/usr/bin/train", "/usr/lib/python3/dist-packages/detector/cli.py"},
        {"/usr/local/bin/train", "/usr/local/lib/python3.11/dist-packages/detector/cli.py"},
        {"/usr/bin/train", "/usr/local/lib/python3.11/dist-packages/detector/cli.py"},
        {"/venv/bin/train", "/venv/lib64/python3.11/site-packages/detector/cli.py"},
        {"/home/me/.local/bin/train", "/home/me/.local/lib/python3.11/site-packages/detector/cli.py"},
        {"/home/me/.local/bin/train",
         "/home/me/.local/share/pipx/venvs/detector/lib/python3.11/site-packages/detector.py"},
        {"/home/me/.local/bin/train", "/home/me/.local/pipx/venvs/detector/lib/python3.11/site-packages/detector.py"},
        {"/home/me/.local/bin/train",
         "/home/me/.local/share/uv/tools/detector/lib/python3.11/site-packages/detector.py"},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        CHECK_OWNERS({"main", layouts[i].package, 9, PT_OWNER_USER},
                     {"<module>", layouts[i].script, 8, PT_OWNER_INTERPRETER});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_kinds),
        cmocka_unit_test(functions_have_kinds),
        cmocka_unit_test(callers_say_what_code_is_for),
        cmocka_unit_test(nodes_do_what_their_callers_want),
        cmocka_unit_test(what_a_program_is_made_of_is_no_data),
        cmocka_unit_test(files_of_python_have_owners),
        cmocka_unit_test(an_installed_program_is_known_by_its_stack),
        cmocka_unit_test(installers_put_packages_beside_their_scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
