/* SPDX-License-Identifier: MIT
 *
 * Profiler windows: their clock, nesting, sums of memory, and floating point operations by torch's formulas.
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "torch_file/flops.h"
#include "torch_file/window.h"

static char folder[] = "/tmp/t-torch-window-XXXXXX";
static int folder_fd;

static int make_folder(void **state)
{
    (void)state;
    folder_fd = open(mkdtemp(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder_fd < 0 ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlinkat(folder_fd, "trace.json", 0);
    close(folder_fd);
    return rmdir(folder);
}

/* A trace with these events. */
static struct pt_torch_window window_of(const char *events)
{
    struct pt_torch_window window;
    struct pt_error err = {0};
    const int fd = openat(folder_fd, "trace.json", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    dprintf(fd, "{\"traceEvents\": [%s]}", events);
    close(fd);
    if (pt_torch_window_read(folder_fd, "trace.json", "torch/Net/trace.json", &window, &err) < 0)
        fail_msg("%s", err.text);
    return window;
}

static const struct pt_torch_span *span_of(const struct pt_torch_window *window, const char *name)
{
    const struct pt_torch_span *span;
    pt_vec_each(span, &window->spans) if (!strcmp(span->name, name)) return span;
    fail_msg("no span %s", name);
    return NULL;
}

#define MARKER(at_us, our_ns)                                                                                          \
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ptsync:" our_ns                                         \
    ":7:8:epoch:20:3:1000\", \"tid\": 8, \"ts\": " at_us ", \"dur\": 1},"
#define OPERATOR(name, at_us, took_us)                                                                                 \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name "\", \"tid\": 8, \"ts\": " at_us ", \"dur\": " took_us "},"

/* Of the markers of an end the one that was made fastest counts; in between the clock drifts. */
static void test_clock(void **state)
{
    (void)state;
    struct pt_torch_window window = window_of(MARKER("190", "1000000") MARKER("100", "1000000") MARKER(
        "1110", "2000000") OPERATOR("half", "600", "10") OPERATOR("before", "50", "10") MARKER("1150", "2000000"));
    assert_int_equal(window.start_ns, 1000000);
    assert_int_equal(window.pid, 7);
    assert_int_equal(window.thread_id, 8);
    assert_int_equal(window.kind, PT_TORCH_EPOCH);
    assert_int_equal(window.first_step, 20);
    assert_int_equal(window.epoch, 3);
    assert_int_equal(window.parameters, 1000);
    /* The distance is -900 us at 100 us and -890 us at 1110 us: -895.05 us at 600 us. */
    assert_int_equal(span_of(&window, "half")->start_ns / 100, 14950);
    assert_int_equal(span_of(&window, "before")->start_ns, 950000);
    pt_torch_window_fini(&window);
}

static void test_nesting(void **state)
{
    (void)state;
    struct pt_torch_window window = window_of(MARKER("0", "0") OPERATOR("inner", "120", "30") OPERATOR(
        "outer", "100", "100") OPERATOR("same", "100", "100") OPERATOR("behind", "200", "5") MARKER("900", "900000"));
    assert_int_equal(span_of(&window, "outer")->self_ns, 0); /* it contains its like, which contains the rest */
    assert_int_equal(span_of(&window, "same")->self_ns, 70000);
    assert_int_equal(span_of(&window, "inner")->self_ns, 30000);
    assert_int_equal(span_of(&window, "inner")->depth, 2);
    assert_int_equal(span_of(&window, "behind")->depth, 0);
    pt_torch_window_fini(&window);
}

static void test_memory_of_the_innermost(void **state)
{
    (void)state;
    struct pt_torch_window window = window_of(
        MARKER("0", "0") OPERATOR("outer", "100", "100") OPERATOR("inner", "120", "30")
            OPERATOR("free", "300",
                     "10") "{\"ph\": \"i\", \"name\": \"[memory]\", \"tid\": 8, \"ts\": 130, \"args\": {\"Bytes\": "
                           "512, \"Total Allocated\": 4096, \"Device Type\": 0}},"
                           "{\"ph\": \"i\", \"name\": \"[memory]\", \"tid\": 8, \"ts\": 180, \"args\": {\"Bytes\": "
                           "-128, \"Total Allocated\": 3968, \"Device Type\": 0}},"
                           "{\"ph\": \"i\", \"name\": \"[memory]\", \"tid\": 8, \"ts\": 181, \"args\": {\"Bytes\": 64, "
                           "\"Total Allocated\": 64, \"Device Type\": 1}}," MARKER("900", "900000"));
    assert_true(window.has_memory);
    assert_int_equal((int)span_of(&window, "inner")->self_bytes, 512);
    assert_int_equal((int)span_of(&window, "outer")->self_bytes, -128);
    assert_int_equal((int)span_of(&window, "outer")->peak_bytes, 4096);
    assert_true(span_of(&window, "free")->peak_bytes < 0);
    pt_torch_window_fini(&window);
}

/* What a GPU did is no part of what a thread did, though a stream may have a thread's number. */
static void test_kernels(void **state)
{
    (void)state;
    struct pt_torch_window window = window_of(MARKER("0", "0") OPERATOR(
        "launch", "100", "100") "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 8, "
                                "\"ts\": 120, \"dur\": 500}," MARKER("900", "900000"));
    assert_int_equal(span_of(&window, "launch")->self_ns, 100000);
    assert_int_equal(span_of(&window, "gemm")->self_ns, 500000);
    assert_int_equal(span_of(&window, "gemm")->kind, PT_TORCH_KERNEL);
    pt_torch_window_fini(&window);
}

static double flops(const char *name, const char *dims, const char *values)
{
    char event[600];
    snprintf(
        event, sizeof event,
        MARKER("0", "0") "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"tid\": 8, \"ts\": 10, \"dur\": 1, "
                         "\"args\": {\"Input Dims\": %s, \"Concrete Inputs\": %s}},",
        name, dims, values);
    struct pt_torch_window window = window_of(event);
    const double found = span_of(&window, name)->flops;
    pt_torch_window_fini(&window);
    return found;
}

#define BACKWARD(transposed, which)                                                                                    \
    "[\"\", \"\", \"\", \"[4]\", \"[1, 1]\", \"[0, 0]\", \"[1, 1]\", \"" transposed "\", \"[0, 0]\", \"1\", \"" which  \
    "\"]"

static void test_flops(void **state)
{
    (void)state;
    const char *convolution = "[\"\", \"\", \"\", \"[2, 2]\", \"[1, 1]\", \"[1, 1]\", \"2\"]";
    assert_true(flops("aten::mm", "[[2, 3], [3, 4]]", "[]") == 2 * 2 * 3 * 4);
    assert_true(flops("aten::addmm", "[[4], [2, 3], [3, 4]]", "[]") == 2 * 2 * 3 * 4);
    assert_true(flops("aten::bmm", "[[5, 2, 3], [5, 3, 4]]", "[]") == 5 * 2 * 2 * 3 * 4);
    assert_true(flops("aten::baddbmm", "[[1], [5, 2, 3], [5, 3, 4]]", "[]") == 5 * 2 * 2 * 3 * 4);
    assert_true(flops("aten::add", "[[7, 3], [7, 3]]", "[]") == 21);
    /* (17 + 2 - 2 - 1) / 2 + 1 = 9 in each direction */
    assert_true(flops("aten::conv2d", "[[8, 4, 17, 17], [6, 2, 3, 3], []]", convolution) ==
                2.0 * 8 * 9 * 9 * 6 * 4 * 3 * 3 / 2);
    assert_true(flops("aten::convolution_backward", "[[2, 4, 14, 14], [2, 8, 16, 16], [4, 8, 3, 3]]",
                      BACKWARD("False", "[True, True, True]")) == 2 * 2.0 * 2 * 4 * 14 * 14 * 8 * 9);
    assert_true(flops("aten::convolution_backward", "[[2, 4, 14, 14], [2, 8, 16, 16], [4, 8, 3, 3]]",
                      BACKWARD("False", "[False, True, True]")) == 2.0 * 2 * 4 * 14 * 14 * 8 * 9);
    assert_true(flops("aten::convolution_backward", "[[2, 6, 9], [2, 4, 7], [4, 6, 3]]",
                      BACKWARD("True", "[True, True, False]")) == 2 * 2.0 * 2 * 4 * 7 * 6 * 3);
    assert_true(isnan(flops("aten::convolution_backward", "[[2, 4, 14, 14], [2, 8, 16, 16], [4, 8, 3, 3]]", "[]")));
    assert_true(isnan(flops("aten::relu", "[[7, 3]]", "[]")));
    assert_true(isnan(flops("aten::mm", "[[2, 3]]", "[]")));
    assert_true(isnan(flops("aten::mm", "[[2, -3], [3, 4]]", "[]")));
    assert_true(isnan(flops("aten::conv2d", "[[8, 4, 17, 17], [6, 2, 3, 3]]", "[]")));
}

/* A packed file of some MB that holds millions of long names: they are cut, and from some number on left out. */
static void test_names_of_a_bomb(void **state)
{
    (void)state;
    enum { NAMES = 40000, NAME_BYTES = 3000 };
    struct pt_torch_window window;
    struct pt_error err = {0};
    char name[NAME_BYTES + 1] = "";
    gzFile file = gzdopen(openat(folder_fd, "trace.json", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600), "wb1");
    memset(name, 'x', NAME_BYTES);
    gzprintf(file, "{\"traceEvents\": [%s", MARKER("100", "1000000"));
    for (int i = 0; i < NAMES; i++) {
        gzprintf(file, "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"tid\": 8, \"ts\": 200, \"dur\": 1, \"name\": \"%d", i);
        gzwrite(file, name, NAME_BYTES);
        gzputs(file, "\"},");
    }
    gzprintf(file, "%s]}", "{}");
    assert_int_equal(gzclose(file), Z_OK);
    if (pt_torch_window_read(folder_fd, "trace.json", "torch/Net/trace.json", &window, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(window.spans.n + window.left_out, NAMES);
    assert_in_range(window.left_out, 1, NAMES / 2);
    const struct pt_torch_span *span;
    pt_vec_each(span, &window.spans) assert_in_range(strlen(span->name), 1, 1024);
    pt_torch_window_fini(&window);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),   cmocka_unit_test(test_nesting), cmocka_unit_test(test_memory_of_the_innermost),
        cmocka_unit_test(test_kernels), cmocka_unit_test(test_flops),   cmocka_unit_test(test_names_of_a_bomb),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
