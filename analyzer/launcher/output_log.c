/* SPDX-License-Identifier: MIT
 *
 * output_log.c - Owns: names and files in logs/. Threads: main only. Never: opens a file that it has not made.
 */
#include "output_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../util/auto.h"
#include "../util/sanitize.h"

#define NAME_MAX_BYTES 100
#define SAME_NAME_MAX 1000

void pt_log_safe_name(struct pt_str *out, const char *stage)
{
    const size_t start = out->n;
    pt_sanitize_terminal(out, stage);
    size_t n = out->n - start;
    if (n > NAME_MAX_BYTES)
        n = NAME_MAX_BYTES;
    /* Not in the middle of a character. */
    while (n < out->n - start && n && (out->text[start + n] & 0xc0) == 0x80)
        n--;
    if (!n) {
        pt_str_add(out, "stage");
        return;
    }
    out->n = start + n;
    out->text[out->n] = 0;
    for (char *at = out->text + start; *at; at++)
        if (*at == '/' || *at == '\\')
            *at = '_';
    if (out->text[start] == '.')
        out->text[start] = '_';
}

static int make_file(int dir_fd, const char *name)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const int fd = openat(dir_fd, name, flags, 0600);
    if (fd < 0 || fd > 2)
        return fd;
    const int high_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return high_fd;
}

static void make_names(struct pt_log *log, const char *base, int number)
{
    char suffix[16] = "";
    if (number > 1)
        snprintf(suffix, sizeof suffix, ".%d", number);
    snprintf(log->name, sizeof log->name, "%.100s%s.log", base, suffix);
    snprintf(log->raw_name[0], sizeof log->raw_name[0], ".%.100s%s.stdout", base, suffix);
    snprintf(log->raw_name[1], sizeof log->raw_name[1], ".%.100s%s.stderr", base, suffix);
}

static void unmake_file(const struct pt_log *log, const char *name, int fd)
{
    if (fd < 0)
        return;
    close(fd);
    unlinkat(log->dir_fd, name, 0);
}

/* Make all that are wanted, or none. */
static bool make_files(struct pt_log *log, const bool want_raw[2], int ret_raw_fds[2])
{
    ret_raw_fds[0] = ret_raw_fds[1] = -1;
    log->fd = make_file(log->dir_fd, log->name);
    bool made = log->fd >= 0;
    for (int i = 0; i < 2; i++) {
        if (!want_raw[i])
            log->raw_name[i][0] = 0;
        else if (made)
            made = (ret_raw_fds[i] = make_file(log->dir_fd, log->raw_name[i])) >= 0;
    }
    if (made)
        return true;
    const int problem = errno;
    unmake_file(log, log->raw_name[0], ret_raw_fds[0]);
    unmake_file(log, log->name, log->fd);
    errno = problem;
    return false;
}

int pt_log_open(struct pt_log *ret_log, int dir_fd, const char *stage, const bool want_raw[2], int ret_raw_fds[2],
                struct pt_error *err)
{
    *ret_log = (struct pt_log){.dir_fd = dir_fd, .fd = -1};
    PT_AUTO(pt_str_fini) struct pt_str base = {0};
    pt_log_safe_name(&base, stage);
    for (int number = 1; number <= SAME_NAME_MAX; number++) {
        make_names(ret_log, pt_str_text(&base), number);
        if (make_files(ret_log, want_raw, ret_raw_fds))
            return 0;
        if (errno != EEXIST)
            break;
    }
    ret_log->fd = -1;
    return pt_fail_code(err, 125, "cannot make the log logs/%s: %s", ret_log->name, strerror(errno));
}

void pt_log_write(struct pt_log *log, const char *bytes, size_t n)
{
    while (n && !log->problem) {
        const ssize_t written = write(log->fd, bytes, n);
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            log->problem = written == 0 ? EIO : errno;
        }
    }
}

void pt_log_close(struct pt_log *log, bool keep_raw)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
    for (int i = 0; i < 2 && !keep_raw; i++)
        if (log->raw_name[i][0])
            unlinkat(log->dir_fd, log->raw_name[i], 0);
}
