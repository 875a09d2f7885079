/* SPDX-License-Identifier: MIT
 *
 * Owns: copies of reports in the directory that the user named. Threads: one. Never: touches any other file there.
 */
#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/fd.h"
#include "util/new_file.h"
#include "util/str.h"
#include "render.h"

enum { USAGE = 2 };

static int make_directories(const char *path)
{
    PT_AUTO(pt_str_fini) struct pt_str so_far = {0};
    for (const char *at = path; *at;) {
        const size_t length = strcspn(at + 1, "/") + 1;
        pt_str_bytes(&so_far, at, length);
        at += length;
        if (mkdir(pt_str_text(&so_far), 0777) < 0 && errno != EEXIST && *at == 0)
            return -1;
    }
    return 0;
}

int pt_report_prepare_copy(const char *directory, struct pt_error *err)
{
    struct stat status;
    /* One that is there may be refused with another reason than that, as by a server that squashes root. */
    const bool is_made = make_directories(directory) == 0;
    const int why_not = errno;
    if (!is_made && stat(directory, &status) < 0)
        return pt_fail_code(err, USAGE, "cannot make the report directory %s: %s; name another one with --report-dir",
                            directory, strerror(why_not));
    if (stat(directory, &status) < 0 || !S_ISDIR(status.st_mode))
        return pt_fail_code(
            err, USAGE, "the report directory %s is not a directory; name another one with --report-dir", directory);
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) < 0)
        return pt_fail_code(err, USAGE,
                            "cannot write into the report directory %s: %s; name another one with --report-dir",
                            directory, strerror(errno));
    return 0;
}

static int write_copy(int to_fd, const char *name, const struct pt_str *content)
{
    struct pt_new_file file;
    if (pt_new_file_open_shown(&file, to_fd, name) < 0)
        return -1;
    if (pt_fd_write_all(file.fd, pt_str_text(content), content->n) == 0)
        return pt_new_file_finish(&file);
    const int why = errno;
    pt_new_file_drop(&file);
    errno = why;
    return -1;
}

static int copy_one(int run_fd, int to_fd, const char *name, struct pt_error *err)
{
    enum { MOST_BYTES = 1 << 30 };
    PT_AUTO(pt_str_fini) struct pt_str content = {0};
    PT_AUTO(pt_closep) int fd = openat(run_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || pt_fd_read_all(fd, MOST_BYTES, &content) < 0)
        return pt_fail(err, "cannot read %s: %s", name, strerror(errno));
    if (write_copy(to_fd, name, &content) < 0)
        return pt_fail(err, "cannot write %s: %s", name, strerror(errno));
    return 0;
}

int pt_report_copy(int run_fd, const char *directory, struct pt_error *err)
{
    PT_AUTO(pt_closep) int to_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (to_fd < 0)
        return pt_fail(err, "cannot open %s: %s", directory, strerror(errno));
    int result = 0;
    for (const struct pt_renderer *renderer = pt_renderers; renderer->name && !result; renderer++)
        if (renderer->file_name && copy_one(run_fd, to_fd, renderer->file_name, err) < 0)
            result = pt_error_context(err, "copying reports to %s", directory);
    return result;
}
