/* SPDX-License-Identifier: MIT
 *
 * t_output_left.c - a stage leaves a process behind that goes on writing: nothing happens to it, its output is kept,
 * and nobody waits for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper_stage.h"

/* ---- who is there ---- */
/* Orphans come to us, so that we can wait for them. */
static int begin_as_subreaper(void **state)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return world_begin(state);
}

static char *proc_text(pid_t pid, const char *name)
{
    char folder[32];
    snprintf(folder, sizeof folder, "/proc/%d", pid);
    return file_read(folder, name, NULL);
}

/* Our child of this name; 0 = there is none. */
static pid_t child_named(const char *name)
{
    char path[64], found[32];
    snprintf(path, sizeof path, "/proc/self/task/%d", getpid());
    char *children = file_read(path, "children", NULL);
    pid_t match = 0;
    for (char *word = strtok(children, " "); word; word = strtok(NULL, " ")) {
        char *comm = proc_text(atoi(word), "comm");
        snprintf(found, sizeof found, "%s\n", name);
        if (comm && strcmp(comm, found) == 0)
            match = atoi(word);
        free(comm);
    }
    free(children);
    return match;
}

static int count_fds(pid_t pid)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *folder = opendir(path);
    int n = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

/* Once it has closed what was the launcher's, the last thing before it reads; 0 = never. */
static pid_t settled_reader(void)
{
    for (int i = 0; i < 1000; i++, nap_ms(20)) {
        const pid_t reader = child_named("proftrace-log");
        if (reader && count_fds(reader) == 2)
            return reader;
    }
    return 0;
}

/* Whoever is left ends by himself, and well. Returns how many. */
static int end_all(void)
{
    int n = 0;
    for (int status; waitpid(-1, &status, 0) > 0; n++)
        assert_int_equal(status, 0);
    return n;
}

/* ---- stories ---- */
/* What a signal would do to it, it does: nothing is caught. */
#define DAEMON                                                                                                         \
    "while ! test -e go; do sleep 0.02; done; echo late; echo later >&2; echo named > /dev/stdout; touch done"

static void let_go(const struct world *world)
{
    close(openat(world->logs_fd, "../go", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static void test_it_outlives_everybody(void **state)
{
    struct world *world = *state;
    int ends[2];
    pipe_make(ends);
    const struct stage stage = {
        .script = "(" DAEMON ") & echo early", .out_fd = ends[1], .err_fd = ends[1], .no_stdin = true};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(ends[1]);
    char *got = fd_read(ends[0], NULL); /* our pipe ends when the runner ends */
    close(ends[0]);
    assert_string_equal(got, "early\n");
    free(got);
    assert_int_equal(wait_exit_code(pid), 0);
    assert_file(world, "notes.txt", "");
    const pid_t reader = settled_reader();
    assert_int_not_equal(reader, 0);
    assert_int_equal(count_fds(reader), 2); /* the pipe and the log */
    assert_int_equal(getsid(reader), reader);
    for (int number = 1; number < 32; number++)
        if (number != SIGKILL && number != SIGSTOP && number != SIGSEGV)
            kill(reader, number); /* the end of a session, of a service, of a terminal */
    let_go(world);
    assert_int_equal(end_all(), 2);
    assert_true(faccessat(world->logs_fd, "../done", F_OK, 0) == 0);
    assert_file(world, "logs/train.log", "early\nlate\nlater\nnamed\n");
}

static void test_on_a_terminal(void **state)
{
    struct world *world = *state;
    char *got = run_on_terminal(world, "(trap '' HUP; " DAEMON ") & echo early");
    assert_string_equal(got, "early\r\n");
    free(got);
    let_go(world);
    assert_int_equal(end_all(), 2);
    assert_file(world, "logs/train.log", "early\nlate\nlater\nnamed\n");
}

static void test_two_outputs_and_one_reader(void **state)
{
    struct world *world = *state;
    int out[2], err[2];
    pipe_make(out);
    pipe_make(err);
    const struct stage stage = {
        .script = "(" DAEMON "; exec >&-; sleep 0.1; echo last >&2) & echo early", .out_fd = out[1], .err_fd = err[1]};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(out[1]);
    close(err[1]);
    assert_int_equal(wait_exit_code(pid), 0);
    let_go(world);
    assert_int_equal(end_all(), 2);
    char *log = file_read(world->folder, "logs/train.log", NULL);
    assert_int_equal(strlen(log), strlen("early\nlate\nlater\nnamed\nlast\n"));
    assert_string_equal(log + strlen(log) - 5, "last\n");
    free(log);
    close(out[0]);
    close(err[0]);
}

/* tee sees the end of its input after the shell has ended. */
static void test_last_words(void **state)
{
    struct world *world = *state;
    int ends[2];
    pipe_make(ends);
    const struct stage stage = {
        .script = "mkfifo fifo; (cat fifo; echo last) & exec > fifo; echo first", .out_fd = ends[1], .err_fd = ends[1]};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(ends[1]);
    char *got = fd_read(ends[0], NULL);
    assert_string_equal(got, "first\nlast\n");
    free(got);
    assert_int_equal(wait_exit_code(pid), 0);
    assert_file(world, "logs/train.log", "first\nlast\n");
    assert_int_equal(end_all(), 1);
    close(ends[0]);
}

static void test_nobody_left_nobody_reads(void **state)
{
    struct world *world = *state;
    char *got = run_on_terminal(world, "echo a");
    free(got);
    assert_int_equal(end_all(), 0);
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const struct stage stage = {.script = "sleep 0.5 >/dev/null 2>&1 & echo b", .out_fd = null, .err_fd = null};
    assert_int_equal(stage_run(&stage, world->folder, world->logs_fd), 0);
    assert_int_equal(child_named("proftrace-log"), 0);
    assert_int_equal(end_all(), 1);
    close(null);
}

static void test_a_log_that_is_full(void **state)
{
    struct world *world = *state;
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    free(blob_make(world));
    const struct stage stage = {.script = "(sleep 0.6; cat blob && cat blob && touch done) & echo early",
                                .out_fd = null,
                                .err_fd = null,
                                .log_max_bytes = 100000};
    assert_int_equal(stage_run(&stage, world->folder, world->logs_fd), 0);
    assert_int_equal(end_all(), 2);
    assert_true(faccessat(world->logs_fd, "../done", F_OK, 0) == 0);
    size_t n;
    free(file_read(world->folder, "logs/train.log", &n));
    assert_int_equal(n, 100000);
    close(null);
}

static void test_one_that_never_stops_writing(void **state)
{
    struct world *world = *state;
    static const char script[] = "(i=0; while [ $i -lt 100000 ] && echo y; do i=$((i+1)); done) 2>err.txt & "
                                 "trap '' HUP; sleep 0.1; echo end";
    char *got = run_on_terminal(world, script);
    assert_non_null(strstr(got, "end\r\n"));
    free(got);
    assert_in_range(end_all(), 0, 2); /* it may be quicker than the end of the stage */
    assert_file(world, "err.txt", "");
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const struct stage stage = {.script = script, .out_fd = null, .err_fd = null};
    assert_int_equal(stage_run(&stage, world->folder, world->logs_fd), 0);
    assert_in_range(end_all(), 0, 2);
    assert_file(world, "err.txt", "");
    size_t n;
    free(file_read(world->folder, "logs/train.2.log", &n));
    assert_int_equal(n, 200004);
    close(null);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_as_subreaper, world_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_it_outlives_everybody),        TEST(test_on_a_terminal),
        TEST(test_two_outputs_and_one_reader),   TEST(test_last_words),
        TEST(test_nobody_left_nobody_reads),     TEST(test_a_log_that_is_full),
        TEST(test_one_that_never_stops_writing),
    };
    return cmocka_run_group_tests_name("output_left", tests, NULL, NULL);
}
