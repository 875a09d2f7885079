/* SPDX-License-Identifier: MIT
 *
 * t_output.c - what a stage writes arrives, byte for byte and in order, wherever our stdout and stderr lead; and it is
 * in the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper_stage.h"
#include "util/mem.h"

/* ---- pipes and files ---- */
static void test_pipe_gets_every_byte(void **state)
{
    struct world *world = *state;
    char *blob = blob_make(world);
    int ends[2];
    size_t n;
    pipe_make(ends);
    const pid_t pid = stage_start(&(struct stage){.script = "cat blob", .out_fd = ends[1], .err_fd = ends[1]},
                                  world->folder, world->logs_fd);
    close(ends[1]);
    char *got = fd_read(ends[0], &n);
    assert_blob(blob, got, n);
    assert_int_equal(wait_exit_code(pid), 0);
    got = file_read(world->folder, "logs/train.log", &n);
    assert_blob(blob, got, n);
    assert_file(world, "notes.txt", "");
    struct stat st;
    assert_int_equal(fstatat(world->logs_fd, "train.log", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    close(ends[0]);
    free(blob);
}

static const char both_script[] = "i=0; while [ $i -lt 300 ]; do echo out$i; echo err$i >&2; i=$((i+1)); done";

static char *both_lines(const char *newline)
{
    char *text = pt_calloc(1, 300 * 20);
    for (int i = 0, n = 0; i < 300; i++)
        n += sprintf(text + n, "out%d%serr%d%s", i, newline, i, newline);
    return text;
}

static void test_order_is_kept_on_a_shared_pipe(void **state)
{
    struct world *world = *state;
    int ends[2];
    pipe_make(ends);
    char *want = both_lines("\n");
    const pid_t pid = stage_start(&(struct stage){.script = both_script, .out_fd = ends[1], .err_fd = ends[1]},
                                  world->folder, world->logs_fd);
    close(ends[1]);
    char *got = fd_read(ends[0], NULL);
    assert_string_equal(got, want);
    assert_int_equal(wait_exit_code(pid), 0);
    assert_file(world, "logs/train.log", want);
    close(ends[0]);
    free(got);
    free(want);
}

static void test_two_files_and_one_log(void **state)
{
    struct world *world = *state;
    char path[100];
    int fds[2];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/to%d", world->folder, i);
        fds[i] = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    assert_int_equal(write(fds[0], "before\n", 7), 7);
    const struct stage stage = {.script =
                                    "echo one; until grep -q one logs/train.log; do sleep 0.02; done; echo two >&2; "
                                    "until grep -q two logs/train.log; do sleep 0.02; done; printf 'th\\0ree\\n'",
                                .out_fd = fds[0],
                                .err_fd = fds[1]};
    assert_int_equal(stage_run(&stage, world->folder, world->logs_fd), 0);
    size_t n;
    char *got = file_read(world->folder, "to0", &n);
    assert_int_equal(n, 18);
    assert_memory_equal(got, "before\none\nth\0ree\n", 18);
    free(got);
    assert_file(world, "to1", "two\n");
    got = file_read(world->folder, "logs/train.log", &n);
    assert_int_equal(n, 15);
    assert_memory_equal(got, "one\ntwo\nth\0ree\n", 15);
    free(got);
    close(fds[0]);
    close(fds[1]);
}

/* Scripts name their own stdout and stderr. */
static const char by_name_script[] = "echo 1; echo 2 > /dev/stderr; echo 3 >> /dev/stdout; echo 4 > /dev/fd/1; "
                                     "echo 5 >> /proc/self/fd/2; sh -c 'echo 6 > /dev/stdout'; echo 7 >&2";

static void test_outputs_by_name(void **state)
{
    struct world *world = *state;
    int ends[2];
    pipe_make(ends);
    const pid_t pid = stage_start(&(struct stage){.script = by_name_script, .out_fd = ends[1], .err_fd = ends[1]},
                                  world->folder, world->logs_fd);
    close(ends[1]);
    char *got = fd_read(ends[0], NULL);
    assert_string_equal(got, "1\n2\n3\n4\n5\n6\n7\n");
    assert_int_equal(wait_exit_code(pid), 0);
    assert_file(world, "logs/train.log", got);
    assert_file(world, "notes.txt", "");
    free(got);
    close(ends[0]);
}

static void test_outputs_by_name_on_a_terminal(void **state)
{
    struct world *world = *state;
    char *got = run_on_terminal(world, by_name_script);
    assert_string_equal(got, "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n");
    assert_file(world, "logs/train.log", "1\n2\n3\n4\n5\n6\n7\n");
    free(got);
}

/* ---- terminals ---- */
static void test_order_and_newlines_on_a_terminal(void **state)
{
    struct world *world = *state;
    char *on_screen = both_lines("\r\n"), *in_log = both_lines("\n");
    char *got = run_on_terminal(world, both_script);
    assert_string_equal(got, on_screen);
    assert_file(world, "logs/train.log", in_log);
    free(got);
    free(on_screen);
    free(in_log);
}

static void test_a_stage_sees_a_terminal_of_our_size(void **state)
{
    struct world *world = *state;
    char *got = run_on_terminal(world, "test -t 1 && test -t 2 && stty size <&1; printf 'a\\tb\\033[1m\\r\\n'");
    assert_string_equal(got, "25 80\r\na\tb\033[1m\r\r\n");
    free(got);
    got = run_on_terminal(world, "cat /dev/tty 2>/dev/null || echo no controlling terminal");
    assert_string_equal(got, "no controlling terminal\r\n");
    free(got);
    assert_true(has_log(world, "train.2.log"));
}

static void test_a_resized_window(void **state)
{
    struct world *world = *state;
    int master, slave;
    terminal_make(&master, &slave);
    const struct stage stage = {.script = "trap 'stty size <&1; exit' WINCH; echo go; while :; do sleep 0.05; done",
                                .out_fd = slave,
                                .err_fd = slave};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(slave);
    char go[5] = "";
    for (size_t n = 0; n < 4; n += (size_t)read(master, go + n, 4 - n))
        ;
    assert_string_equal(go, "go\r\n");
    const struct winsize size = {.ws_row = 50, .ws_col = 132};
    assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
    char *got = fd_read(master, NULL);
    assert_string_equal(got, "50 132\r\n");
    assert_int_equal(wait_exit_code(pid), 0);
    close(master);
    free(got);
}

static void test_stdout_to_a_pipe_and_stderr_to_a_terminal(void **state)
{
    struct world *world = *state;
    int master, slave, ends[2];
    terminal_make(&master, &slave);
    pipe_make(ends);
    const struct stage stage = {.script = "test -t 1 || echo pipe; sleep 0.1; test -t 2 && echo terminal >&2",
                                .out_fd = ends[1],
                                .err_fd = slave};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(ends[1]);
    close(slave);
    char *got = fd_read(ends[0], NULL);
    assert_string_equal(got, "pipe\n");
    free(got);
    got = fd_read(master, NULL);
    assert_string_equal(got, "terminal\r\n");
    free(got);
    assert_int_equal(wait_exit_code(pid), 0);
    assert_file(world, "logs/train.log", "pipe\nterminal\n");
    close(ends[0]);
    close(master);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_begin, world_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pipe_gets_every_byte),
        TEST(test_order_is_kept_on_a_shared_pipe),
        TEST(test_two_files_and_one_log),
        TEST(test_outputs_by_name),
        TEST(test_outputs_by_name_on_a_terminal),
        TEST(test_order_and_newlines_on_a_terminal),
        TEST(test_a_stage_sees_a_terminal_of_our_size),
        TEST(test_a_resized_window),
        TEST(test_stdout_to_a_pipe_and_stderr_to_a_terminal),
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
