/* SPDX-License-Identifier: MIT
 *
 * t_output_trouble.c - readers that stand still or go away, full disks, hostile names: the stage
 * never notices, and the log has it all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper_stage.h"
#include "launcher/output/log.h"
#include "launcher/output/sink.h"

/* ---- destinations that fail ---- */
static void test_a_closed_stdout_stays_closed(void **state)
{
    struct world *world = *state;
    int ends[2];
    pipe_make(ends);
    const struct stage stage = {
        .script = "test -e /proc/self/fd/1 || echo closed >&2", .out_fd = -1, .err_fd = ends[1]};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(ends[1]);
    char *got = fd_read(ends[0], NULL);
    assert_string_equal(got, "closed\n");
    assert_int_equal(wait_exit_code(pid), 0);
    assert_file(world, "logs/train.log", "closed\n");
    free(got);
    close(ends[0]);
    assert_int_equal(
        stage_run(&(struct stage){.script = "exit 0", .out_fd = -1, .err_fd = -1}, world->folder, world->logs_fd), 0);
}

static void test_a_closed_stdin_is_not_taken(void **state)
{
    struct world *world = *state;
    int master, slave, ends[2];
    terminal_make(&master, &slave);
    pipe_make(ends);
    const struct stage stage = {.script = "test -e /proc/self/fd/0 || echo closed; echo err >&2",
                                .out_fd = slave,
                                .err_fd = ends[1],
                                .no_stdin = true};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(slave);
    close(ends[1]);
    char *got = fd_read(master, NULL);
    assert_string_equal(got, "closed\r\n");
    free(got);
    got = fd_read(ends[0], NULL);
    assert_string_equal(got, "err\n");
    free(got);
    assert_int_equal(wait_exit_code(pid), 0);
    close(ends[0]);
    close(master);
}

static void test_a_full_destination(void **state)
{
    struct world *world = *state;
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const struct stage stage = {.script = "echo one && echo two && echo fine >&2", .out_fd = full, .err_fd = null};
    assert_int_equal(stage_run(&stage, world->folder, world->logs_fd), 0);
    char *log = file_read(world->folder, "logs/train.log", NULL);
    assert_int_equal(strlen(log), 13);
    free(log);
    assert_file(world, "notes.txt",
                "stdout could not be written any more (No space left on device): the rest is only in logs/train.log. ");
    close(full);
    close(null);
}

/* Both are files on the same full disk. */
static void test_a_full_destination_and_a_full_log(void **state)
{
    struct world *world = *state;
    free(blob_make(world));
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const struct stage stage = {.script = "cat blob", .out_fd = full, .err_fd = null, .log_max_bytes = 100000};
    assert_int_equal(stage_run(&stage, world->folder, world->logs_fd), 0);
    assert_file(world, "notes.txt",
                "stdout could not be written any more (No space left on device): it misses 2.86 MiB, which may not be "
                "in logs/train.log either. logs/train.log is not complete: File too large. ");
    close(full);
    close(null);
}

static void test_a_reader_that_goes_away(void **state)
{
    struct world *world = *state;
    free(blob_make(world));
    int ends[2];
    pipe_make(ends);
    const struct stage stage = {.script = "cat blob && echo unharmed", .out_fd = ends[1], .err_fd = ends[1]};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(ends[1]);
    char some[100];
    assert_true(read(ends[0], some, sizeof some) > 0);
    close(ends[0]);
    assert_int_equal(wait_exit_code(pid), 0);
    size_t n;
    char *log = file_read(world->folder, "logs/train.log", &n);
    assert_int_equal(n, BLOB_BYTES + 9);
    assert_memory_equal(log + n - 9, "unharmed\n", 9);
    free(log);
    char *notes = file_read(world->folder, "notes.txt", NULL);
    assert_non_null(strstr(notes, "Broken pipe"));
    free(notes);
}

static void test_a_pager_that_stands_still(void **state)
{
    struct world *world = *state;
    char *blob = blob_make(world);
    int ends[2];
    pipe_make(ends);
    const struct stage stage = {.script = "cat blob && touch done", .out_fd = ends[1], .err_fd = ends[1]};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(ends[1]);
    /* The stage does not wait for the pager. */
    char *done = NULL;
    for (int i = 0; i < 1200 && !done; i++, nap_ms(50))
        done = file_read(world->folder, "done", NULL);
    assert_non_null(done);
    free(done);
    nap_ms(300);
    size_t n;
    char *got = fd_read(ends[0], &n);
    assert_blob(blob, got, n);
    assert_int_equal(wait_exit_code(pid), 0);
    close(ends[0]);
    free(blob);
}

/* poll says writable when there is room for one byte; a write of more would wait for the rest. */
static void test_no_write_waits(void **state)
{
    (void)state;
    static char much[1 << 20];
    int ends[2], terminal[2];
    pipe_make(ends);
    terminal_make(&terminal[0], &terminal[1]);
    const int fds[2] = {ends[1], terminal[1]};
    alarm(10);
    for (int i = 0; i < 2; i++) {
        struct pt_outlet outlet;
        pt_outlet_open(&outlet, fds[i]);
        /* Its room is no multiple of the size of a piece. */
        for (size_t taken = pt_outlet_write(&outlet, much, 101); taken;)
            taken = pt_outlet_write(&outlet, much, sizeof much);
        assert_true(outlet.blocked);
        assert_int_equal(fcntl(fds[i], F_GETFL) & O_NONBLOCK, 0); /* others share that one */
        pt_outlet_close(&outlet);
    }
    alarm(0);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(terminal[i]);
    }
}

static void test_a_terminal_that_stands_still(void **state)
{
    struct world *world = *state;
    int master, slave;
    terminal_make(&master, &slave);
    const struct stage stage = {
        .script = "head -c 300000 /dev/zero | tr '\\0' x", .out_fd = slave, .err_fd = slave, .status_line = true};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(slave);
    nap_ms(1200);
    size_t n, n_x = 0;
    char *got = fd_read(master, &n);
    for (size_t i = 0; i < n; i++)
        n_x += (i < 1 || got[i - 1] != 'e') && got[i] == 'x';
    assert_int_equal(n_x, 300000);
    assert_int_equal(wait_exit_code(pid), 0);
    free(got);
    close(master);
}

static void test_a_full_disk_for_the_log(void **state)
{
    struct world *world = *state;
    char path[100];
    snprintf(path, sizeof path, "%s/logs", world->folder);
    if (mount("tmpfs", path, "tmpfs", 0, "size=64k") < 0)
        skip();
    const int small_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int master, slave;
    terminal_make(&master, &slave);
    const struct stage stage = {.script = "head -c 200000 /dev/zero | tr '\\0' x", .out_fd = slave, .err_fd = slave};
    const pid_t pid = stage_start(&stage, world->folder, small_fd);
    close(slave);
    size_t n;
    char *got = fd_read(master, &n);
    const int code = wait_exit_code(pid);
    close(small_fd);
    umount2(path, MNT_DETACH);
    assert_int_equal(code, 0);
    assert_int_equal(n, 200000);
    free(got);
    assert_file(world, "notes.txt", "logs/train.log is not complete: No space left on device. ");
    close(master);
}

/* The reader sets the pace, and gets everything. */
static void test_a_log_that_may_not_grow(void **state)
{
    struct world *world = *state;
    char *blob = blob_make(world);
    int ends[2];
    pipe_make(ends);
    const struct stage stage = {
        .script = "cat blob && touch done", .out_fd = ends[1], .err_fd = ends[1], .log_max_bytes = 100000};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(ends[1]);
    nap_ms(500);
    assert_null(file_read(world->folder, "done", NULL));
    size_t n;
    char *got = fd_read(ends[0], &n);
    assert_blob(blob, got, n);
    assert_int_equal(wait_exit_code(pid), 0);
    char *log = file_read(world->folder, "logs/train.log", &n);
    assert_int_equal(n, 100000);
    assert_memory_equal(log, blob, n);
    free(log);
    assert_file(world, "notes.txt", "logs/train.log is not complete: File too large. ");
    close(ends[0]);
    free(blob);
}

/* ---- readers of different speed ---- */
static void test_one_reader_does_not_hold_up_the_other(void **state)
{
    struct world *world = *state;
    char *blob = blob_make(world);
    int out[2], err[2];
    pipe_make(out);
    pipe_make(err);
    /* Many parts of one in the log, with parts of the other between them. */
    const struct stage stage = {.script =
                                    "for i in 1 2 3 4 5 6 7 8 9; do head -c 300000; echo $i >&2; sleep 0.01; done "
                                    "< blob; head -c 300000 blob",
                                .out_fd = out[1],
                                .err_fd = err[1]};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(out[1]);
    close(err[1]);
    char lines[19] = "";
    for (size_t n = 0; n < 18; n += (size_t)read(err[0], lines + n, 18 - n))
        ;
    assert_string_equal(lines, "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    memmove(blob + 2700000, blob, 300000);
    size_t n;
    char *got = fd_read(out[0], &n);
    assert_blob(blob, got, n);
    assert_int_equal(wait_exit_code(pid), 0);
    close(out[0]);
    close(err[0]);
    free(blob);
}

static void test_a_log_that_somebody_empties(void **state)
{
    struct world *world = *state;
    free(blob_make(world));
    int ends[2];
    pipe_make(ends);
    const struct stage stage = {.script =
                                    "cat blob; touch half; while ! test -e emptied; do sleep 0.02; done; echo end",
                                .out_fd = ends[1],
                                .err_fd = ends[1]};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(ends[1]);
    while (faccessat(world->logs_fd, "../half", F_OK, 0) < 0)
        nap_ms(20);
    struct stat log;
    while (fstatat(world->logs_fd, "train.log", &log, 0) < 0 || log.st_size < (off_t)BLOB_BYTES)
        nap_ms(20);
    close(openat(world->logs_fd, "train.log", O_WRONLY | O_TRUNC | O_CLOEXEC));
    close(openat(world->logs_fd, "../emptied", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    size_t n;
    char *got = fd_read(ends[0], &n);
    assert_in_range(n, 65536, BLOB_BYTES);
    assert_string_equal(got + n - 4, "end\n");
    free(got);
    assert_int_equal(wait_exit_code(pid), 0);
    assert_file(world, "logs/train.log", "end\n");
    char *notes = file_read(world->folder, "notes.txt", NULL);
    assert_non_null(strstr(notes, "was emptied while they waited there"));
    free(notes);
    close(ends[0]);
}

/* ---- names ---- */
static void test_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"train", "train"}, {"../../etc/passwd", "_._.._etc_passwd"}, {"..", "_."},
        {"", "stage"},      {"a\nb\033[2J", "a_x0ab_x1b[2J"},         {".hidden", "_hidden"},
        {"größe", "größe"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_str name = {0};
        pt_log_safe_name(&name, cases[i][0]);
        if (i != 1)
            assert_string_equal(pt_str_text(&name), cases[i][1]);
        assert_null(strchr(pt_str_text(&name), '/'));
        assert_int_not_equal(pt_str_text(&name)[0], '.');
        pt_str_fini(&name);
    }
    char long_name[1001] = "";
    for (int i = 0; i < 500; i++)
        memcpy(long_name + 2 * i, "ö", 2);
    struct pt_str name = {0};
    pt_log_safe_name(&name, long_name + 1);
    assert_in_range(name.n, 90, 100);
    assert_int_equal(name.text[name.n - 1] & 0xff, 0xb6);
    pt_str_fini(&name);
}

static void test_a_link_in_the_way(void **state)
{
    struct world *world = *state;
    assert_int_equal(symlinkat("/etc/hostname-never-made", world->logs_fd, "train.log"), 0);
    int ends[2];
    pipe_make(ends);
    assert_int_equal(
        stage_run(&(struct stage){.script = "echo x", .out_fd = ends[1], .err_fd = -1}, world->folder, world->logs_fd),
        0);
    assert_file(world, "logs/train.2.log", "x\n");
    assert_int_not_equal(access("/etc/hostname-never-made", F_OK), 0);
    close(ends[0]);
    close(ends[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_begin, world_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_closed_stdout_stays_closed),
        TEST(test_a_closed_stdin_is_not_taken),
        TEST(test_a_full_destination),
        TEST(test_a_full_destination_and_a_full_log),
        TEST(test_a_reader_that_goes_away),
        TEST(test_a_pager_that_stands_still),
        cmocka_unit_test(test_no_write_waits),
        TEST(test_a_terminal_that_stands_still),
        TEST(test_a_full_disk_for_the_log),
        TEST(test_a_log_that_may_not_grow),
        TEST(test_one_reader_does_not_hold_up_the_other),
        TEST(test_a_log_that_somebody_empties),
        cmocka_unit_test(test_names),
        TEST(test_a_link_in_the_way),
    };
    return cmocka_run_group_tests_name("output_trouble", tests, NULL, NULL);
}
