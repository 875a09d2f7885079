/* SPDX-License-Identifier: MIT
 *
 * t_status_line.c - one line that comes and goes on a terminal, plain lines elsewhere, and never a byte on stdout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "helper_stage.h"
#include "launcher/status_line.h"

#define S 1000000000ull
#define START (100 * S)

/* What is written to stderr between these two is the line's. */
static int saved_stderr;

static void stderr_becomes(int fd)
{
    saved_stderr = fcntl(2, F_DUPFD_CLOEXEC, 3);
    dup2(fd, 2);
}

static void stderr_again(void)
{
    dup2(saved_stderr, 2);
    close(saved_stderr);
}

static void environment(const char *term, const char *no_color, const char *quiet, const char *locale)
{
    setenv("TERM", term, 1);
    setenv("NO_COLOR", no_color, 1);
    setenv("PROFTRACE_QUIET", quiet, 1);
    setenv("LC_ALL", locale, 1);
}

static struct winsize size = {.ws_row = 25, .ws_col = 80};

struct terminal {
    int master, slave;
};

static struct terminal terminal_begin(struct pt_status_line *line)
{
    struct terminal terminal;
    terminal_make(&terminal.master, &terminal.slave);
    ioctl(terminal.master, TIOCSWINSZ, &size);
    stderr_becomes(terminal.slave);
    pt_status_line_open(line);
    return terminal;
}

/* What came since the last time. The kernel hands a terminal's output to its reader later and in parts, so that a read
 * at once saw the line without its end: a mark of ours says that all before it has come. */
static const char *seen(const struct terminal *terminal)
{
    static char text[5000];
    static const char mark = '\001';
    assert_int_equal(write(terminal->slave, &mark, 1), 1);
    for (size_t n = 0; n < sizeof text - 1;) {
        struct pollfd came = {.fd = terminal->master, .events = POLLIN};
        assert_int_equal(poll(&came, 1, 60000), 1);
        const ssize_t part = read(terminal->master, text + n, sizeof text - 1 - n);
        assert_true(part > 0);
        n += (size_t)part;
        text[n] = 0;
        if (text[n - 1] == mark) {
            text[n - 1] = 0;
            return text;
        }
    }
    fail_msg("a terminal with more output than a line's: %s", text);
    return NULL;
}

static void terminal_end(struct terminal *terminal)
{
    stderr_again();
    close(terminal->master);
    close(terminal->slave);
}

static void test_life_of_a_line(void **state)
{
    (void)state;
    environment("xterm", "1", "", "C.UTF-8");
    struct pt_status_line line;
    struct terminal terminal = terminal_begin(&line);
    pt_status_line_begin(&line, "train", 6, 9, START);
    assert_int_equal(pt_status_line_step(&line, START + 1), START + S / 4);
    assert_string_equal(seen(&terminal), "");
    pt_status_line_values(&line, &(struct pt_status_values){812.4, 13207024435.0, 87});
    assert_int_equal(pt_status_line_step(&line, START + 125 * S), START + 125 * S + S / 4);
    assert_string_equal(seen(&terminal), "\r⠋ 6/9 train  2 m 05 s  CPU 812 %  RSS 12.3 GiB  GPU 87 %\033[K\r");
    assert_int_equal(pt_status_line_step(&line, START + 125 * S + S / 8), START + 125 * S + S / 4);
    assert_string_equal(seen(&terminal), ""); /* too early to redraw */
    /* Output passes: erased, and back once its line has ended and it was quiet. */
    assert_true(pt_status_line_erase(&line));
    assert_string_equal(seen(&terminal), "\r\033[K");
    pt_status_line_passed(&line, '%', START + 130 * S);
    pt_status_line_step(&line, START + 140 * S);
    assert_string_equal(seen(&terminal), "");
    pt_status_line_passed(&line, '\n', START + 140 * S);
    pt_status_line_step(&line, START + 140 * S + S / 100);
    assert_string_equal(seen(&terminal), "");
    pt_status_line_values(&line, &(struct pt_status_values){NAN, NAN, NAN});
    pt_status_line_step(&line, START + 141 * S);
    assert_string_equal(seen(&terminal), "\r⠙ 6/9 train  2 m 21 s\033[K\r");
    pt_status_line_end(&line, "ok", START + 142 * S);
    assert_string_equal(seen(&terminal), "\r\033[K");
    assert_int_equal(pt_status_line_step(&line, START + 150 * S), ~0ull);
    pt_status_line_close(&line);
    assert_string_equal(seen(&terminal), "");
    terminal_end(&terminal);
}

static void test_a_narrow_terminal_and_a_hostile_name(void **state)
{
    (void)state;
    environment("xterm", "", "", "C.UTF-8");
    size.ws_col = 14;
    struct pt_status_line line;
    struct terminal terminal = terminal_begin(&line);
    size.ws_col = 80;
    /* 13 columns: spinner, blank, "1/1 ", then three wide characters; a half of the fourth does not fit. */
    pt_status_line_begin(&line, "漢字漢字漢字", 1, 1, START);
    pt_status_line_step(&line, START + S);
    assert_string_equal(seen(&terminal), "\r\033[36m⠋\033[0m 1/1 漢字漢\033[K\r");
    /* Thai vowels stand above their letters; a star takes two columns: all of it fills the line. */
    pt_status_line_begin(&line, "รั่รั่รั่รั่⭐abc⭐", 0, 0, START);
    pt_status_line_step(&line, START + S);
    assert_string_equal(seen(&terminal), "\r\033[36m⠙\033[0m รั่รั่รั่รั่⭐abc⭐\033[K\r");
    pt_status_line_begin(&line, "\033]0;x\a", 0, 0, START);
    pt_status_line_step(&line, START + S);
    assert_string_equal(seen(&terminal), "\r\033[36m⠹\033[0m \\x1b]0;x\\x0\033[K\r");
    pt_status_line_close(&line);
    terminal_end(&terminal);
}

static void test_without_utf8(void **state)
{
    (void)state;
    environment("xterm", "1", "", "C");
    struct pt_status_line line;
    struct terminal terminal = terminal_begin(&line);
    pt_status_line_begin(&line, "größe", 1, 2, START);
    pt_status_line_step(&line, START + S);
    assert_string_equal(seen(&terminal), "\r| 1/2 gr??e  1 s\033[K\r");
    pt_status_line_close(&line);
    terminal_end(&terminal);
}

static void test_a_terminal_that_stands_still_does_not_hold_us(void **state)
{
    (void)state;
    environment("xterm", "1", "", "C");
    struct pt_status_line line;
    struct terminal terminal = terminal_begin(&line);
    pt_status_line_begin(&line, "train", 1, 2, START);
    pt_status_line_step(&line, START + S);
    assert_int_equal(tcflow(terminal.slave, TCOOFF), 0); /* Ctrl-S */
    assert_false(pt_status_line_erase(&line));
    pt_status_line_step(&line, START + 2 * S);
    assert_int_equal(tcflow(terminal.slave, TCOON), 0);
    assert_true(pt_status_line_erase(&line));
    pt_status_line_close(&line);
    terminal_end(&terminal);
}

static void lines_of(const char *want, const char *term, const char *quiet)
{
    int ends[2];
    struct pt_status_line line;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    environment(term, "", quiet, "C");
    stderr_becomes(ends[1]);
    pt_status_line_open(&line);
    pt_status_line_begin(&line, "train", 6, 9, START);
    pt_u64 due = pt_status_line_step(&line, START);
    if (!*quiet)
        assert_int_equal(due, START + 60 * S);
    pt_status_line_step(&line, START + 59 * S);
    pt_status_line_step(&line, START + 60 * S);
    /* The stage says something itself, and leaves its line open: no heartbeat until it is silent for long. */
    pt_status_line_passed(&line, '.', START + 90 * S);
    pt_status_line_step(&line, START + 120 * S);
    pt_status_line_step(&line, START + 151 * S);
    pt_status_line_end(&line, "failed: exit 3", START + 152 * S + S / 10);
    pt_status_line_begin(&line, "", 0, 0, START);
    pt_status_line_end(&line, "ok", START);
    pt_status_line_close(&line);
    stderr_again();
    close(ends[1]);
    char *got = fd_read(ends[0], NULL);
    assert_string_equal(got, want);
    free(got);
    close(ends[0]);
}

static void test_plain_lines(void **state)
{
    (void)state;
    lines_of("proftrace: stage 6/9 train started\n"
             "proftrace: stage 6/9 train is running: 1 m 00 s\n"
             "\nproftrace: stage 6/9 train is running: 2 m 31 s\n"
             "proftrace: stage 6/9 train finished: failed: exit 3, 152.1 s\n"
             "proftrace: stage (no name) started\n"
             "proftrace: stage (no name) finished: ok, 0.0 s\n",
             "xterm", "");
    lines_of("", "xterm", "1");
}

static void test_a_dumb_terminal_gets_plain_lines(void **state)
{
    (void)state;
    environment("dumb", "", "", "C");
    struct pt_status_line line;
    struct terminal terminal = terminal_begin(&line);
    pt_status_line_begin(&line, "train", 1, 2, START);
    pt_status_line_step(&line, START + S);
    assert_string_equal(seen(&terminal), "proftrace: stage 1/2 train started\r\n");
    pt_status_line_close(&line);
    terminal_end(&terminal);
}

static void test_a_full_pipe_gets_its_lines_later(void **state)
{
    (void)state;
    int ends[2];
    struct pt_status_line line;
    environment("dumb", "", "", "C");
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    static char full[4096];
    assert_int_equal(write(ends[1], full, 4096), 4096);
    stderr_becomes(ends[1]);
    pt_status_line_open(&line);
    pt_status_line_begin(&line, "train", 1, 2, START);
    assert_true(pt_status_line_step(&line, START + 1) < START + S);
    assert_int_equal(read(ends[0], full, 4096), 4096);
    pt_status_line_step(&line, START + S);
    pt_status_line_close(&line);
    stderr_again();
    close(ends[1]);
    char *got = fd_read(ends[0], NULL);
    assert_string_equal(got, "proftrace: stage 1/2 train started\n");
    free(got);
    close(ends[0]);
}

/* The same as a viewer sees it: a stage's output with the line between, then nothing but the output. */
static void test_output_and_line_together(void **state)
{
    (void)state;
    environment("xterm", "1", "", "C");
    int logs_fd, terminal, slave;
    char *folder = folder_make(&logs_fd);
    terminal_make(&terminal, &slave);
    const struct stage stage = {.script = "echo one; sleep 3; printf two; sleep 0.9; echo three",
                                .out_fd = slave,
                                .err_fd = slave,
                                .status_line = true};
    const pid_t pid = stage_start(&stage, folder, logs_fd);
    close(slave);
    char *got = fd_read(terminal, NULL);
    assert_int_equal(wait_exit_code(pid), 0);
    assert_non_null(strstr(got, "train"));
    /* Take away what was drawn and erased again. */
    char left[1000] = "";
    size_t n = 0;
    for (const char *at = got; *at && n < sizeof left - 1;) {
        const char *erased = at[0] == '\r' && at[1] != '\n' ? strstr(at, "\033[K") : NULL;
        if (erased)
            at = erased + 3 + (erased[3] == '\r' && erased[4] != '\033' && erased[4] != '\n');
        else
            left[n++] = *at++;
    }
    assert_non_null(strstr(got, "\r\033[Ktwothree\r\n"));
    assert_null(strstr(left, "train"));
    free(got);
    close(terminal);
    folder_remove(folder, logs_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life_of_a_line),
        cmocka_unit_test(test_a_narrow_terminal_and_a_hostile_name),
        cmocka_unit_test(test_without_utf8),
        cmocka_unit_test(test_a_terminal_that_stands_still_does_not_hold_us),
        cmocka_unit_test(test_plain_lines),
        cmocka_unit_test(test_a_dumb_terminal_gets_plain_lines),
        cmocka_unit_test(test_a_full_pipe_gets_its_lines_later),
        cmocka_unit_test(test_output_and_line_together),
    };
    return cmocka_run_group_tests_name("status_line", tests, NULL, NULL);
}
