/* SPDX-License-Identifier: MIT
 *
 * Owns: copies of reports in the directory that the user named. Threads: one. Never: touches any other file there.
 */
#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "render.h"
#include "text_file.h"

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
    if (make_directories(directory) < 0)
        return pt_fail_code(err, USAGE, "cannot make the report directory %s: %s; name another one with --report-dir",
                            directory, strerror(errno));
    if (stat(directory, &status) < 0 || !S_ISDIR(status.st_mode))
        return pt_fail_code(
            err, USAGE, "the report directory %s is not a directory; name another one with --report-dir", directory);
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) < 0)
        return pt_fail_code(err, USAGE,
                            "cannot write into the report directory %s: %s; name another one with --report-dir",
                            directory, strerror(errno));
    return 0;
}

static int copy_one(const char *run_dir, const char *directory, const char *name, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str from = {0};
    PT_AUTO(pt_str_fini) struct pt_str to = {0};
    PT_AUTO(pt_str_fini) struct pt_str content = {0};
    pt_str_printf(&from, "%s/%s", run_dir, name);
    pt_str_printf(&to, "%s/%s", directory, name);
    PT_AUTO(pt_fclosep) FILE *file = fopen(pt_str_text(&from), "re");
    if (!file)
        return pt_fail(err, "cannot read %s: %s", pt_str_text(&from), strerror(errno));
    char buffer[65536];
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
        pt_str_bytes(&content, buffer, got);
    if (ferror(file))
        return pt_fail(err, "cannot read %s: %s", pt_str_text(&from), strerror(errno));
    return pt_text_file_replace(pt_str_text(&to), &content, err);
}

int pt_report_copy(const char *run_dir, const char *directory, struct pt_error *err)
{
    const mode_t before = umask(077); /* paths and arguments are in reports */
    int result = 0;
    for (const struct pt_renderer *renderer = pt_renderers; renderer->name && !result; renderer++)
        if (renderer->file_name)
            result = copy_one(run_dir, directory, renderer->file_name, err);
    umask(before);
    return result;
}
