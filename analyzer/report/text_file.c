/* SPDX-License-Identifier: MIT
 *
 * Owns: writing a text to where the user wants it. Threads: one. Never: leaves half a file: it is written under another
 * name and renamed; follows a link under that other name; waits for a reader in a folder of ours.
 */
#include "text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"

static int write_to_stdout(const struct pt_str *text, struct pt_error *err)
{
    if (fwrite(pt_str_text(text), 1, text->n, stdout) != text->n || fflush(stdout))
        return pt_fail(err, "cannot write to stdout: %s", strerror(errno));
    return 0;
}

static int write_all(FILE *file, const struct pt_str *text)
{
    const bool failed = fwrite(pt_str_text(text), 1, text->n, file) != text->n;
    return fclose(file) != 0 || failed ? -1 : 0;
}

/* /dev/null, a pipe: what it does with the text is what the user wants. */
static int write_into(const char *path, const struct pt_str *text)
{
    FILE *file = fopen(path, "we");
    return file ? write_all(file, text) : -1;
}

/* Whoever may write into the folder may have put a link there, under either name: the one beside is always made anew.
 */
static int replace(const char *path, const struct pt_str *text)
{
    PT_AUTO(pt_str_fini) struct pt_str beside = {0};
    pt_str_printf(&beside, "%s.part", path);
    if (unlink(pt_str_text(&beside)) < 0 && errno != ENOENT)
        return -1;
    const int fd = open(pt_str_text(&beside), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return -1;
    if (write_all(file, text) == 0 && rename(pt_str_text(&beside), path) == 0)
        return 0;
    const int why = errno;
    unlink(pt_str_text(&beside));
    errno = why;
    return -1;
}

int pt_text_file_write(const char *path, const struct pt_str *text, struct pt_error *err)
{
    struct stat status;
    if (!path || !strcmp(path, "-"))
        return write_to_stdout(text, err);
    const bool is_special = !stat(path, &status) && !S_ISREG(status.st_mode);
    if ((is_special ? write_into(path, text) : replace(path, text)) < 0)
        return pt_fail(err, "cannot write %s: %s", path, strerror(errno));
    return 0;
}

int pt_text_file_replace(const char *path, const struct pt_str *text, struct pt_error *err)
{
    return replace(path, text) < 0 ? pt_fail(err, "cannot write %s: %s", path, strerror(errno)) : 0;
}
