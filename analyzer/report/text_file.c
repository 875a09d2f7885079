/* SPDX-License-Identifier: MIT
 *
 * Owns: writing a text to where the user wants it. Threads: one. Never: leaves half a file: it is written under another
 * name and renamed; does anything but write to what is not a regular file.
 */
#include "text_file.h"

#include <errno.h>
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

int pt_text_file_write(const char *path, const struct pt_str *text, struct pt_error *err)
{
    if (!path || !strcmp(path, "-"))
        return write_to_stdout(text, err);
    struct stat status;
    const bool is_special = !stat(path, &status) && !S_ISREG(status.st_mode);
    PT_AUTO(pt_str_fini) struct pt_str beside = {0};
    pt_str_printf(&beside, is_special ? "%s" : "%s.part", path);
    FILE *file = fopen(pt_str_text(&beside), "we");
    if (!file)
        return pt_fail(err, "cannot write %s: %s", path, strerror(errno));
    bool failed = fwrite(pt_str_text(text), 1, text->n, file) != text->n;
    failed |= fclose(file) != 0;
    if (!failed && !is_special)
        failed = rename(pt_str_text(&beside), path) != 0;
    if (!failed)
        return 0;
    const int why = errno;
    if (!is_special)
        unlink(pt_str_text(&beside));
    return pt_fail(err, "cannot write %s: %s", path, strerror(why));
}
