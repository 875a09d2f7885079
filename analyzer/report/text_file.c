/* SPDX-License-Identifier: MIT
 *
 * Owns: writing a text to where the user wants it. Threads: one. Never: leaves half a file.
 */
#include "text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "util/auto.h"
#include "util/fd.h"
#include "util/new_file.h"

static int write_to_stdout(const struct pt_str *text, struct pt_error *err)
{
    if (fwrite(pt_str_text(text), 1, text->n, stdout) != text->n || fflush(stdout))
        return pt_fail(err, "cannot write to stdout: %s", strerror(errno));
    return 0;
}

/* /dev/null, a pipe: what it does with the text is what the user wants. */
static int write_into(const char *path, const struct pt_str *text)
{
    PT_AUTO(pt_closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -1 : pt_fd_write_all(fd, pt_str_text(text), text->n);
}

int pt_text_file_write(const char *path, const struct pt_str *text, struct pt_error *err)
{
    if (!path || !strcmp(path, "-"))
        return write_to_stdout(text, err);
    const int written = pt_path_is_special(path) ? write_into(path, text)
                                                 : pt_new_file_write(AT_FDCWD, path, pt_str_text(text), text->n);
    return written < 0 ? pt_fail(err, "cannot write %s: %s", path, strerror(errno)) : 0;
}
