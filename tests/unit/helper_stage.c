/* SPDX-License-Identifier: MIT
 *
 * helper_stage.c - Owns: the smallest runner that there can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "helper_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "launcher/output/output.h"
#include "launcher/status_line.h"
#include "util/mem.h"

static pt_u64 monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (pt_u64)now.tv_sec * 1000000000u + (pt_u64)now.tv_nsec;
}

/* ---- the runner ---- */
static void wait_some(struct pt_output *output, struct pt_status_line *line)
{
    struct pollfd fds[PT_OUTPUT_POLL_MAX];
    const pt_u64 now = monotonic_ns();
    pt_u64 due = now + 10000000;
    const pt_u64 line_due = pt_status_line_step(line, now);
    due = line_due < due ? line_due : due;
    const int n = pt_output_poll_fds(output, now, fds, &due);
    const pt_u64 wait_ns = due > now ? due - now : 0;
    const struct timespec timeout = {(time_t)(wait_ns / 1000000000u), (long)(wait_ns % 1000000000u)};
    ppoll(fds, (nfds_t)n, &timeout, NULL);
}

static int run(const struct stage *stage, const char *folder, int logs_fd)
{
    struct pt_output output;
    struct pt_status_line line = {.silent = true};
    struct pt_error err = {0};
    struct pt_str notes = {0};
    int fds[2];
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (stage->log_max_bytes)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){stage->log_max_bytes, RLIM_INFINITY});
    if (chdir(folder) < 0 || pt_output_open(&output, logs_fd, stage->name ? stage->name : "train", &err) < 0)
        return 90;
    if (stage->status_line) {
        pt_status_line_open(&line);
        output.status_line = &line;
        pt_status_line_begin(&line, "train", 6, 9, monotonic_ns());
    }
    pt_output_child_fds(&output, fds);
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGPIPE, SIG_DFL);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
        for (int i = 0; i < 2; i++)
            if (fds[i] >= 0)
                dup2(fds[i], STDOUT_FILENO + i);
        execl("/bin/sh", "sh", "-c", stage->script, (char *)NULL);
        _exit(127);
    }
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        wait_some(&output, &line);
        pt_output_pump(&output, monotonic_ns());
        if (pt_output_resize(&output))
            kill(pid, SIGWINCH);
    }
    while (!pt_output_drain(&output, monotonic_ns()))
        wait_some(&output, &line);
    if (stage->status_line)
        pt_status_line_end(&line, "ok", monotonic_ns());
    pt_status_line_close(&line);
    pt_output_finish(&output);
    pt_output_notes(&output, &notes);
    FILE *file = fopen("notes.txt", "we");
    fputs(pt_str_text(&notes), file);
    fclose(file);
    pt_str_fini(&notes);
    return 0;
}

static void put_at(int fd, int number)
{
    if (fd < 0)
        close(number);
    else
        dup2(fd, number);
}

pid_t stage_start(const struct stage *stage, const char *folder, int logs_fd)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid)
        return pid;
    const int out_fd = stage->out_fd < 0 ? -1 : fcntl(stage->out_fd, F_DUPFD_CLOEXEC, 10);
    const int err_fd = stage->err_fd < 0 ? -1 : fcntl(stage->err_fd, F_DUPFD_CLOEXEC, 10);
    put_at(out_fd, 1);
    put_at(err_fd, 2);
    /* The test's own ends of pipes would keep them open. */
    for (int fd = 3; fd < 100; fd++)
        if (fd != logs_fd)
            close(fd);
    if (stage->no_stdin)
        close(0);
    if (stage->status_line)
        setenv("TERM", "xterm", 1);
    _exit(run(stage, folder, logs_fd));
}

int wait_exit_code(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int stage_run(const struct stage *stage, const char *folder, int logs_fd)
{
    return wait_exit_code(stage_start(stage, folder, logs_fd));
}

/* ---- folders, files ---- */
char *folder_make(int *ret_logs_fd)
{
    char *folder = pt_strdup("/tmp/t_output.XXXXXX");
    char logs[64];
    if (!mkdtemp(folder))
        abort();
    snprintf(logs, sizeof logs, "%s/logs", folder);
    if (mkdir(logs, 0700) < 0)
        abort();
    *ret_logs_fd = open(logs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder;
}

void folder_remove(char *folder, int logs_fd)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", folder);
    close(logs_fd);
    free(folder);
}

char *fd_read(int fd, size_t *ret_n)
{
    size_t n = 0, room = 65536;
    char *text = pt_malloc(room);
    for (ssize_t got; (got = read(fd, text + n, room - n - 1)) > 0 || (got < 0 && errno == EINTR);) {
        n += got > 0 ? (size_t)got : 0;
        if (room - n < 4096)
            text = pt_realloc(text, room *= 2);
    }
    text[n] = 0;
    if (ret_n)
        *ret_n = n;
    return text;
}

char *file_read(const char *folder, const char *name, size_t *ret_n)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = fd_read(fd, ret_n);
    close(fd);
    return text;
}

void terminal_make(int *ret_master, int *ret_slave)
{
    *ret_master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*ret_master < 0 || unlockpt(*ret_master) < 0)
        abort();
    *ret_slave = open(ptsname(*ret_master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    const struct winsize size = {.ws_row = 25, .ws_col = 80};
    if (*ret_slave < 0 || ioctl(*ret_slave, TIOCSWINSZ, &size) < 0)
        abort();
}

/* ---- the state of a test ---- */
int world_begin(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    world->folder = folder_make(&world->logs_fd);
    *state = world;
    return 0;
}

int world_end(void **state)
{
    struct world *world = *state;
    folder_remove(world->folder, world->logs_fd);
    free(world);
    return 0;
}

void pipe_make(int ends[2])
{
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
}

void assert_file(const struct world *world, const char *name, const char *want)
{
    char *text = file_read(world->folder, name, NULL);
    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
}

bool has_log(const struct world *world, const char *name)
{
    return faccessat(world->logs_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void nap_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Every byte value, nothing that repeats soon. */
char *blob_make(const struct world *world)
{
    char path[100];
    char *blob = malloc(BLOB_BYTES);
    uint32_t x = 12345;
    for (size_t i = 0; i < BLOB_BYTES; i++)
        blob[i] = (char)((x = x * 1664525 + 1013904223) >> 24);
    snprintf(path, sizeof path, "%s/blob", world->folder);
    FILE *file = fopen(path, "we");
    assert_int_equal(fwrite(blob, 1, BLOB_BYTES, file), BLOB_BYTES);
    fclose(file);
    return blob;
}

void assert_blob(const char *blob, char *got, size_t n)
{
    assert_int_equal(n, BLOB_BYTES);
    assert_memory_equal(got, blob, n);
    free(got);
}

char *run_on_terminal(const struct world *world, const char *script)
{
    int master, slave;
    terminal_make(&master, &slave);
    const struct stage stage = {.script = script, .out_fd = slave, .err_fd = slave};
    const pid_t pid = stage_start(&stage, world->folder, world->logs_fd);
    close(slave);
    char *got = fd_read(master, NULL);
    assert_int_equal(wait_exit_code(pid), 0);
    close(master);
    return got;
}
