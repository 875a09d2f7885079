/* SPDX-License-Identifier: MIT
 *
 * session_dir.c - Owns: the creation of a run directory. Threads: main only. Never: removes or widens what it finds.
 *
 * Traces hold paths and arguments of the user's programs. So directories are 0700 and files 0600, nothing is opened
 * through a symbolic link, and a root that another user owns or can write into is refused.
 */
#include "session_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "proftrace/format.h"
#include "proftrace/limits.h"
#include "options/option_values.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/runs_root.h"
#include "util/small_file.h"
#include "util/str.h"
#include "util/text/path.h"
#include "util/text/sanitize.h"

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define REMEDY "; name another one with PROFTRACE_DIR or -o"

/* One that is there may be refused with another reason than that: EACCES by a server that squashes root, EROFS by a
 * mount, ENOENT by an automounter. */
static int make_directory(const char *path, mode_t mode)
{
    struct stat status;
    if (mkdir(path, mode) == 0 || errno == EEXIST)
        return 0;
    const int why = errno;
    const bool is_there = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    errno = why;
    return is_there ? 0 : -1;
}

/* Parents get the user's own mode: only the last directory is ours to protect. */
static int make_parents(const char *path)
{
    char copy[PATH_MAX];
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (make_directory(copy, 0777) < 0)
            return -1;
        *slash = '/';
    }
    return 0;
}

static int check_owner(int fd, const char *path, struct pt_error *err)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return pt_fail(err, "cannot examine %s: %s", path, strerror(errno));
    if (status.st_uid != geteuid())
        return pt_fail(err, "%s belongs to user %u, not to you" REMEDY, path, status.st_uid);
    if (status.st_mode & (S_IWGRP | S_IWOTH) && !(status.st_mode & S_ISVTX))
        return pt_fail(err, "others may write into %s; `chmod go-w %s`, or name another one with PROFTRACE_DIR or -o",
                       path, path);
    return 0;
}

static int open_directory(const char *path, struct pt_error *err)
{
    const int fd = open(path, OPEN_DIRECTORY);
    if (fd >= 0)
        return fd;
    if (errno == ELOOP || (errno == ENOTDIR && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0))
        return pt_fail(err, "%s is not a directory (a symbolic link is not followed)" REMEDY, path);
    return pt_fail(err, "cannot open %s: %s" REMEDY, path, strerror(errno));
}

int pt_session_root_open(const char *root, struct pt_error *err)
{
    if (make_parents(root) < 0 || make_directory(root, 0700) < 0)
        return pt_fail(err, "cannot make %s: %s" REMEDY, root, strerror(errno));
    PT_AUTO(pt_closep) int fd = open_directory(root, err);
    if (fd < 0 || check_owner(fd, root, err) < 0)
        return -1;
    if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
        return pt_fail(err, "cannot write into %s: %s" REMEDY, root, strerror(errno));
    const int opened = fd;
    fd = -1;
    return opened;
}

pt_u64 pt_free_bytes(int directory_fd)
{
    struct statvfs space;
    if (fstatvfs(directory_fd, &space) < 0)
        return 0;
    return (pt_u64)space.f_bavail * space.f_frsize;
}

/* The last component of the command, in letters that need no quoting in any shell. */
static void command_name(const char *command, char *name, size_t size)
{
    snprintf(name, size, "%s", pt_base_name(command));
    for (char *at = name; *at; at++) {
        const char c = *at;
        const int plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!plain && (at == name || (c != '.' && c != '-')))
            *at = '_';
    }
    if (!*name)
        snprintf(name, size, "run");
}

static void run_name(const char *command, char *name, size_t size)
{
    char base[41];
    command_name(command, base, sizeof base);
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    char stamp[32];
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
    unsigned id = 0;
    if (getrandom(&id, sizeof id, GRND_NONBLOCK) != sizeof id)
        id = (unsigned)getpid() ^ (unsigned)pt_monotonic_ns();
    snprintf(name, size, "%s-%s-%06x", stamp, base, id & 0xffffffu);
}

/* A link that appears at once: others may read `latest` at any time. */
static void lead_latest_to(const char *name, int root_fd, struct pt_session_dir *dir)
{
    char temporary[160];
    snprintf(temporary, sizeof temporary, ".latest-%s", name);
    if (symlinkat(name, root_fd, temporary) < 0) {
        dir->latest_problem = errno;
    } else if (renameat(root_fd, temporary, root_fd, "latest") < 0) {
        dir->latest_problem = errno;
        dir->latest_is_taken = faccessat(root_fd, "latest", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
        unlinkat(root_fd, temporary, 0);
    }
}

/* Processes would find no place for their traces, and the run would be empty. */
static int check_length(size_t bytes, struct pt_error *err)
{
    if (bytes <= PT_RUN_PATH_MAX_BYTES)
        return 0;
    return pt_fail(err, "the path of the run directory is too long for the library (%zu bytes, at most %d)" REMEDY,
                   bytes, PT_RUN_PATH_MAX_BYTES);
}

/* Of the resolved path that a directory will have, so that one of a path that is too long is not made, and left. */
static size_t future_bytes(const char *path)
{
    PT_AUTO(pt_freep) char *existing = pt_strdup(path);
    while (*existing && access(existing, F_OK) < 0) {
        char *slash = strrchr(existing, '/');
        *(slash ? slash : existing) = 0;
    }
    const char *missing = path + strlen(existing);
    PT_AUTO(pt_freep) char *above = realpath(*existing ? existing : *path == '/' ? "/" : ".", NULL);
    PT_AUTO(pt_str_fini) struct pt_str whole = {0};
    pt_path_join(&whole, above ? above : "", missing + strspn(missing, "/"));
    return whole.n;
}

static int make_under_root(const char *command, struct pt_session_dir *dir, struct pt_error *err)
{
    PT_AUTO(pt_freep) char *root = pt_runs_root();
    char name[128];
    run_name(command, name, sizeof name);
    if (check_length(future_bytes(root) + 1 + strlen(name), err) < 0)
        return -1;
    PT_AUTO(pt_closep) int root_fd = pt_session_root_open(root, err);
    if (root_fd < 0)
        return -1;
    int made = mkdirat(root_fd, name, 0700);
    for (int attempt = 1; attempt < 16 && made < 0 && errno == EEXIST; attempt++) {
        run_name(command, name, sizeof name);
        made = mkdirat(root_fd, name, 0700);
    }
    if (made < 0)
        return pt_fail(err, "cannot make a run directory in %s: %s" REMEDY, root, strerror(errno));
    dir->fd = openat(root_fd, name, OPEN_DIRECTORY);
    if (dir->fd < 0)
        return pt_fail(err, "cannot open %s/%s: %s", root, name, strerror(errno));
    if (asprintf(&dir->shown, "%s/%s", root, name) < 0)
        return pt_fail(err, "out of memory");
    lead_latest_to(name, root_fd, dir);
    return 0;
}

static bool is_empty(int directory_fd)
{
    DIR *entries = fdopendir(dup(directory_fd));
    if (!entries)
        return false;
    bool empty = true;
    for (const struct dirent *entry; empty && (entry = readdir(entries));)
        empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    closedir(entries);
    return empty;
}

static int make_itself(const char *wanted, struct pt_session_dir *dir, struct pt_error *err)
{
    PT_AUTO(pt_freep) char *output = pt_without_slashes(pt_strdup(wanted));
    if (check_length(future_bytes(output), err) < 0)
        return -1;
    if (make_parents(output) < 0 || make_directory(output, 0700) < 0)
        return pt_fail(err, "cannot make -o %s: %s; choose another name", output, strerror(errno));
    dir->fd = open_directory(output, err);
    if (dir->fd < 0 || check_owner(dir->fd, output, err) < 0)
        return pt_error_context(err, "-o");
    /* Two runs in one directory could not be separated afterwards. */
    if (!is_empty(dir->fd))
        return pt_fail(err, "-o %s exists and is not empty; remove it or choose another name", output);
    if (fchmod(dir->fd, 0700) < 0)
        return pt_fail(err, "cannot make -o %s private: %s", output, strerror(errno));
    dir->shown = strdup(output);
    return dir->shown ? 0 : pt_fail(err, "out of memory");
}

/* The space for all traces of the run: what the user set, else a share that leaves the machine usable. */
static pt_u64 budget_bytes(int directory_fd)
{
    const pt_u64 wanted_bytes = pt_option_mib_bytes("budget_mib");
    return wanted_bytes ? wanted_bytes
                        : pt_default_budget_bytes(pt_free_bytes(directory_fd), pt_option_mib_bytes("session_ring_mib"));
}

/* So that no process of this machine and boot need ask for it; left empty, each does. */
static void read_boot_id(char *ret, size_t bytes)
{
    char text[64];
    memset(ret, 0, bytes);
    if (pt_boot_id(text, sizeof text) && strlen(text) == bytes)
        memcpy(ret, text, bytes);
}

/* So that a process can tell a clock that was set meanwhile from a namespace with a clock of its own. */
static pt_u64 time_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/time", &status) == 0 ? status.st_ino : 0;
}

static int write_session_page(struct pt_session_dir *dir, struct pt_error *err)
{
    PT_AUTO(pt_closep)
    int fd = openat(dir->fd, PT_SESSION_FILE, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return pt_fail(err, "cannot make %s/" PT_SESSION_FILE ": %s", dir->shown, strerror(errno));
    struct pt_session_page page = {
        .format_version = PT_FORMAT_VERSION,
        .made_by_launcher = 1,
        .budget_bytes = dir->budget_bytes,
        .start_realtime_ns = dir->start_realtime_ns,
        .start_monotonic_ns = dir->start_monotonic_ns,
        .time_namespace = time_namespace(),
    };
    memcpy(page.magic, PT_SESSION_MAGIC, sizeof page.magic);
    read_boot_id(page.boot_id, 36);
    /* Processes map this page: without its block on the disk a store into it would kill them (SIGBUS). */
    const int full = posix_fallocate(fd, 0, sizeof page);
    if (full)
        return pt_fail(err, "no space for %s: %s", dir->shown, strerror(full));
    if (pwrite(fd, &page, sizeof page, 0) != sizeof page)
        return pt_fail(err, "cannot write %s/" PT_SESSION_FILE ": %s", dir->shown, strerror(errno));
    return 0;
}

int pt_session_dir_create(const char *output, const char *command, struct pt_session_dir *ret_dir, struct pt_error *err)
{
    struct pt_session_dir dir = {.fd = -1};
    dir.start_realtime_ns = pt_clock_ns(CLOCK_REALTIME);
    dir.start_monotonic_ns = pt_monotonic_ns();
    /* Now, not when the record is written: meanwhile somebody may commit. */
    if (!pt_git_head(dir.git_commit))
        *dir.git_commit = 0;
    int done = output ? make_itself(output, &dir, err) : make_under_root(command, &dir, err);
    if (done == 0) {
        dir.budget_bytes = budget_bytes(dir.fd);
        dir.path = realpath(dir.shown, NULL);
        done = dir.path ? check_length(strlen(dir.path), err) : pt_fail(err, "cannot resolve %s", dir.shown);
        done = done < 0 ? -1 : write_session_page(&dir, err);
    }
    if (done < 0) {
        pt_session_dir_close(&dir);
        return -1;
    }
    *ret_dir = dir;
    return 0;
}

void pt_session_dir_close(struct pt_session_dir *dir)
{
    if (dir->fd >= 0)
        close(dir->fd);
    dir->fd = -1;
    free(dir->path);
    free(dir->shown);
    dir->path = dir->shown = NULL;
}

int pt_session_dir_check(const struct pt_session_dir *dir, struct pt_error *err)
{
    struct stat ours, there;
    if (fstat(dir->fd, &ours) == 0 && stat(dir->path, &there) == 0 && ours.st_dev == there.st_dev &&
        ours.st_ino == there.st_ino)
        return 0;
    return pt_fail(err, "%s is no longer the directory that was made: somebody moved or removed it", dir->shown);
}

static const char *latest_remedy(const struct pt_session_dir *dir)
{
    if (dir->latest_is_taken)
        return "remove what is there";
    if (dir->latest_problem == EPERM || dir->latest_problem == EOPNOTSUPP || dir->latest_problem == ENOSYS)
        return "this file system has no symbolic links: name the run, or set PROFTRACE_DIR to another one";
    return "name the run instead";
}

void pt_session_dir_print_problem(const struct pt_session_dir *dir)
{
    if (!dir->latest_problem)
        return;
    const char *slash = strrchr(dir->shown, '/');
    PT_AUTO(pt_str_fini) struct pt_str root = {0};
    PT_AUTO(pt_str_fini) struct pt_str shown = {0};
    pt_str_bytes(&root, dir->shown, (size_t)(slash - dir->shown));
    pt_sanitize_terminal(&shown, pt_str_text(&root));
    fprintf(stderr, "proftrace: %s/latest could not be made to lead to this run: %s; %s\n", pt_str_text(&shown),
            strerror(dir->latest_problem), latest_remedy(dir));
}

int pt_session_dir_logs(const struct pt_session_dir *dir, struct pt_error *err)
{
    if (mkdirat(dir->fd, "logs", 0700) < 0)
        return pt_fail(err, "cannot make %s/logs: %s", dir->shown, strerror(errno));
    const int fd = openat(dir->fd, "logs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? pt_fail(err, "cannot open %s/logs: %s", dir->shown, strerror(errno)) : fd;
}
