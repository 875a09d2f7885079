/* SPDX-License-Identifier: MIT
 *
 * output/log.c - Owns: names and files in logs/. Threads: main only. Never: opens a file that it has not made.
 */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/fd.h"
#include "util/text/sanitize.h"

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
    const int flags = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    return pt_fd_above_standard(openat(dir_fd, name, flags, 0600));
}

int pt_log_open(struct pt_log *ret_log, int dir_fd, const char *stage, struct pt_error *err)
{
    *ret_log = (struct pt_log){.fd = -1};
    PT_AUTO(pt_str_fini) struct pt_str base = {0};
    pt_log_safe_name(&base, stage);
    for (int number = 1; number <= SAME_NAME_MAX; number++) {
        char suffix[16] = "";
        if (number > 1)
            snprintf(suffix, sizeof suffix, ".%d", number);
        snprintf(ret_log->name, sizeof ret_log->name, "%.100s%s.log", pt_str_text(&base), suffix);
        ret_log->fd = make_file(dir_fd, ret_log->name);
        if (ret_log->fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    return pt_fail_code(err, 125, "cannot make the log logs/%s: %s", ret_log->name, strerror(errno));
}

size_t pt_log_write(struct pt_log *log, const char *bytes, size_t n)
{
    size_t done = 0;
    while (done < n && !log->problem) {
        const ssize_t written = write(log->fd, bytes + done, n - done);
        if (written > 0)
            done += (size_t)written;
        else if (written == 0 || errno != EINTR)
            log->problem = written == 0 ? EIO : errno;
    }
    return done;
}

off_t pt_log_end(const struct pt_log *log)
{
    return lseek(log->fd, 0, SEEK_CUR);
}

size_t pt_log_read(const struct pt_log *log, off_t at, char *ret_bytes, size_t n)
{
    size_t done = 0;
    while (done < n) {
        const ssize_t got = pread(log->fd, ret_bytes + done, n - done, at + (off_t)done);
        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            break;
    }
    return done;
}

void pt_log_close(struct pt_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}
