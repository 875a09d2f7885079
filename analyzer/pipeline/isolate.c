/* SPDX-License-Identifier: MIT
 *
 * isolate.c - Owns: the temporary directory from its making to its removal. Threads: main only. Never: follows a link
 * out of the directory, writes to a file that was there before.
 */
#include "isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/fd.h"
#include "isolate_stale.h"
#include "isolate_text.h"
#include "remove_tree.h"

#define FILE_NAME "config.json"

static char *make_directory(struct pt_error *err)
{
    const char *root = getenv("TMPDIR");
    char cwd[PATH_MAX];
    if (!root || !*root)
        root = "/tmp";
    /* Stages may run elsewhere: what they get must not depend on where we are. */
    const bool relative = *root != '/';
    if (relative && !getcwd(cwd, sizeof cwd)) {
        pt_fail_code(err, 2, "TMPDIR is relative and the current directory cannot be named: %s; use an absolute path",
                     strerror(errno));
        return NULL;
    }
    PT_AUTO(pt_freep)
    char *absolute = pt_asprintf("%s%s%s", relative ? cwd : "", relative ? "/" : "", root);
    pt_isolate_remove_stale(absolute);
    char *directory = pt_asprintf("%s/" PT_ISOLATE_PREFIX "XXXXXX", absolute);
    if (mkdtemp(directory) && chmod(directory, 0700) == 0)
        return directory;
    pt_fail_code(err, 2, "no temporary directory can be made in %s: %s; set TMPDIR to a directory you can write to",
                 root, strerror(errno));
    free(directory);
    return NULL;
}

static int write_file(const char *path, const struct pt_str *text, struct pt_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int done = fd < 0 ? -1 : fchmod(fd, 0600); /* whatever the umask is */
    if (done == 0)
        done = pt_fd_write_all(fd, text->text, text->n);
    const int cause = errno;
    if (fd >= 0 && close(fd) < 0 && done == 0)
        return pt_fail_code(err, 2, "cannot write %s: %s; set TMPDIR to another directory", path, strerror(errno));
    if (done < 0)
        return pt_fail_code(err, 2, "cannot write %s: %s; set TMPDIR to another directory", path, strerror(cause));
    return 0;
}

int pt_isolate_create(const struct pt_config *config, struct pt_isolated *ret_isolated, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    struct pt_isolated isolated = {0};
    struct pt_error ignored;
    if (pt_isolate_text(config, &text, err) < 0)
        return pt_error_context(err, "%s", config->path);
    isolated.directory = make_directory(err);
    if (!isolated.directory)
        return -1;
    isolated.lock_fd = pt_isolate_mark(isolated.directory);
    isolated.config_path = pt_asprintf("%s/" FILE_NAME, isolated.directory);
    if (write_file(isolated.config_path, &text, err) < 0) {
        pt_isolate_remove(&isolated, &ignored);
        pt_isolate_fini(&isolated);
        return -1;
    }
    *ret_isolated = isolated;
    return 0;
}

int pt_isolate_remove(struct pt_isolated *isolated, struct pt_error *err)
{
    if (!isolated->directory || pt_remove_tree(isolated->directory) == 0)
        return 0;
    return pt_fail(err, "the temporary directory %s could not be removed: %s; remove it by hand", isolated->directory,
                   strerror(errno));
}

void pt_isolate_keep(struct pt_isolated *isolated)
{
    pt_isolate_unmark(isolated->directory);
}

void pt_isolate_fini(struct pt_isolated *isolated)
{
    if (isolated->directory && isolated->lock_fd >= 0)
        close(isolated->lock_fd);
    free(isolated->directory);
    free(isolated->config_path);
    *isolated = (struct pt_isolated){0};
}
