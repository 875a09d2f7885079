/* SPDX-License-Identifier: MIT
 *
 * isolate.c - Owns: the temporary directory from its making to its removal. Threads: main only. Never: follows a link
 * out of the directory, writes to a file that was there before.
 */
#include "isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "isolate_stale.h"

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

static int write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        const ssize_t written = write(fd, bytes, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        bytes += written;
        n -= (size_t)written;
    }
    return 0;
}

static int write_file(const char *path, const struct pt_str *text, struct pt_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int done = fd < 0 ? -1 : fchmod(fd, 0600); /* whatever the umask has taken away */
    if (done == 0)
        done = write_all(fd, text->text, text->n);
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
        return pt_while(err, "%s", config->path);
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

/* nftw has no context: it stops at the first thing that cannot be removed, and errno says why. */
static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)place;
    return type == FTW_DP || type == FTW_DNR ? rmdir(path) : unlink(path);
}

static bool met_unreadable;

static int open_up(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)place;
    met_unreadable = met_unreadable || type == FTW_DNR;
    return type == FTW_D || type == FTW_DNR ? chmod(path, 0700) : 0;
}

/* Directories that a stage has made read-only or closed, as some caches do. */
static int remove_closed(const char *directory)
{
    enum { OPEN_DIRECTORIES = 16, DEPTH_MAX = 64 };
    int depth = 0;
    do {
        met_unreadable = false;
        if (nftw(directory, open_up, OPEN_DIRECTORIES, FTW_PHYS | FTW_MOUNT) != 0)
            return -1;
    } while (met_unreadable && ++depth < DEPTH_MAX);
    return nftw(directory, remove_one, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

int pt_isolate_remove(struct pt_isolated *isolated, struct pt_error *err)
{
    enum { OPEN_DIRECTORIES = 16 };
    struct stat about;
    if (!isolated->directory || (lstat(isolated->directory, &about) < 0 && errno == ENOENT))
        return 0;
    if (nftw(isolated->directory, remove_one, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0)
        return 0;
    if (remove_closed(isolated->directory) == 0)
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

/* The token at `at` and what it stands for; 0 = none. */
static size_t token_at(const char *at, const struct pt_stage_tokens *tokens, const char *epochs, const char **ret_value)
{
    const struct {
        const char *token, *value;
    } known[] = {
        {"{config}", tokens->config},
        {"{dataset}", tokens->dataset},
        {"{epochs}", epochs},
        {"{report_dir}", tokens->report_dir},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const size_t length = strlen(known[i].token);
        if (strncmp(at, known[i].token, length) != 0)
            continue;
        *ret_value = known[i].value ? known[i].value : "";
        return length;
    }
    return 0;
}

static void expand(const char *argument, const struct pt_stage_tokens *tokens, const char *epochs, struct pt_str *out)
{
    for (const char *at = argument; *at;) {
        const char *value = NULL;
        const size_t length = *at == '{' ? token_at(at, tokens, epochs, &value) : 0;
        if (length)
            pt_str_add(out, value);
        else
            pt_str_char(out, *at);
        at += length ? length : 1;
    }
    pt_str_bytes(out, "", 1); /* its NUL */
}

char **pt_stage_command(const char *const *command, const struct pt_stage_tokens *tokens)
{
    PT_AUTO(pt_str_fini) struct pt_str texts = {0};
    char epochs[24];
    size_t n = 0;
    snprintf(epochs, sizeof epochs, "%llu", (unsigned long long)tokens->train_epochs);
    for (; command[n]; n++)
        expand(command[n], tokens, epochs, &texts);
    char **copy = pt_malloc((n + 1) * sizeof *copy + texts.n);
    char *at = memcpy(copy + n + 1, pt_str_text(&texts), texts.n);
    for (size_t i = 0; i < n; i++, at += strlen(at) + 1)
        copy[i] = at;
    copy[n] = NULL;
    return copy;
}
