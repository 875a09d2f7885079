/* SPDX-License-Identifier: MIT
 *
 * run_dir.c - Owns: the rule by which a run is found, and which of its files hold a process. Threads: main only. Never:
 * reads more of a trace file than its header.
 */
#include "run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proftrace/format.h"
#include "util/auto.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/runs_root.h"
#include "util/text/path.h"
#include "refusals.h"
#include "small_heads.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "-<pid>-<8 digits of the trace_id>.ptr" ends the name of a process's own file. */
static pt_u64 key_of(pt_u64 pid, pt_u64 trace_id)
{
    return pid << 32 | (trace_id & 0xffffffffu);
}

static bool read_head(const char *path, struct pt_file_header *ret_head)
{
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd >= 0 && pread(fd, ret_head, sizeof *ret_head, 0) == (ssize_t)sizeof *ret_head &&
           !memcmp(ret_head->magic, PT_FILE_MAGIC, sizeof ret_head->magic);
}

/* 0 = none. A file that was made for any child that might come is named after the process that made it. */
static pt_u64 key_in_name(const char *path)
{
    const char *name = pt_base_name(path), *id = strrchr(name, '-'), *pid = id ? id - 1 : name;
    while (pid > name && *pid != '-')
        pid--;
    struct pt_file_header head;
    if (pid <= name)
        return 0;
    if (!strncmp(name, PT_SPARE_PREFIX, strlen(PT_SPARE_PREFIX)))
        return read_head(path, &head) ? key_of(head.pid, head.trace_id) : 0;
    return key_of(strtoull(pid + 1, NULL, 10), strtoull(id + 1, NULL, 16));
}

/* Key -> index + 1 of a file. */
static struct pt_map own_files(const struct pt_run_files *run)
{
    struct pt_map own = {0};
    for (size_t i = 0; i < run->files.n; i++) {
        const pt_u64 key = key_in_name(run->files.items[i]);
        if (key)
            *pt_map_at(&own, key) = i + 1;
    }
    return own;
}

/* Does a file hold this very process? It is blank when the process was killed while its head moved. */
static bool holds(const char *path, const struct pt_file_header *head)
{
    struct pt_file_header own;
    return read_head(path, &own) && own.trace_id == head->trace_id;
}

/* The processes in a file of small ones that have no file of their own. */
static void list_heads(const char *path, const struct pt_map *own, struct pt_run_files *run)
{
    struct pt_file_header head;
    pt_u64 page = 0, found;
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || !pt_small_heads_are_readable(fd)) {
        pt_vec_push(&run->files, pt_strdup(path)); /* whoever opens it says why */
        return;
    }
    while (pt_small_heads_next(fd, &page, &found, &head)) {
        const uint64_t *index = pt_map_find(own, key_of(head.pid, head.trace_id));
        if (!index || !holds(run->files.items[*index - 1], &head))
            pt_vec_push(&run->files, pt_asprintf("%s#%llu", path, (unsigned long long)found));
    }
}

static void list_files(DIR *directory, struct pt_run_files *run)
{
    const struct dirent *entry;
    struct {
        PT_VEC(char *);
    } small = {0};
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.' && pt_ends_with(entry->d_name, PT_FILE_SUFFIX))
            pt_vec_push(&run->files, pt_asprintf("%s/%s", run->path, entry->d_name));
        else if (entry->d_name[0] != '.' && pt_ends_with(entry->d_name, PT_SMALL_SUFFIX))
            pt_vec_push(&small, pt_asprintf("%s/%s", run->path, entry->d_name));
    struct pt_map own = own_files(run);
    for (size_t i = 0; i < small.n; i++) {
        list_heads(small.items[i], &own, run);
        free(small.items[i]);
    }
    free(small.items);
    pt_map_fini(&own);
    if (run->files.n)
        qsort(run->files.items, run->files.n, sizeof *run->files.items, by_name);
}

/* Fill run->files from run->path: a file, or a directory. */
static int look_into(struct pt_run_files *run, struct pt_error *err)
{
    struct stat status;
    if (pt_small_head_of(run->path)) {
        pt_vec_push(&run->files, pt_strdup(run->path));
        return 0;
    }
    if (stat(run->path, &status) < 0) {
        const int problem = errno;
        PT_AUTO(pt_freep) char *root = pt_runs_root();
        return pt_fail_code(err, 3, "cannot open %s: %s; runs lie in %s", run->path, strerror(problem), root);
    }
    if (!S_ISDIR(status.st_mode) && pt_ends_with(run->path, PT_SMALL_SUFFIX))
        list_heads(run->path, &(struct pt_map){0}, run);
    if (!S_ISDIR(status.st_mode) && run->files.n)
        return 0;
    if (!S_ISDIR(status.st_mode)) {
        pt_vec_push(&run->files, pt_strdup(run->path));
        return 0;
    }
    run->n_made = pt_files_made(run->path); /* before the list: there, too, a process may have begun since */
    DIR *directory = opendir(run->path);
    if (!directory)
        return pt_fail_code(err, 3, "cannot read %s: %s", run->path, strerror(errno));
    list_files(directory, run);
    closedir(directory);
    return 0;
}

static bool holds_run(const char *folder, const char *name)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/%s", folder, name);
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool is_run = false;
    while (directory && !is_run && (entry = readdir(directory)))
        is_run = !strcmp(entry->d_name, "run.json") || !strcmp(entry->d_name, PT_SESSION_FILE) ||
                 pt_ends_with(entry->d_name, PT_FILE_SUFFIX) || pt_ends_with(entry->d_name, PT_SMALL_SUFFIX);
    if (directory)
        closedir(directory);
    return is_run;
}

/* Names begin with the time. */
static int newest_entry_first(const void *a, const void *b)
{
    return strcmp((*(struct dirent *const *)b)->d_name, (*(struct dirent *const *)a)->d_name);
}

/* What copies folders without links (S3, zip, git) leaves a root without `latest`. */
static int fail_without_latest(const char *root, struct pt_error *err)
{
    enum { SHOWN = 3, MOST_LOOKED_AT = 1000 };
    struct dirent **entries = NULL;
    const int n = scandir(root, &entries, NULL, NULL);
    PT_AUTO(pt_str_fini) struct pt_str names = {0};
    int n_shown = 0;
    if (n > 0)
        qsort(entries, (size_t)n, sizeof *entries, newest_entry_first);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        const bool may_be_one = *name != '.' && entries[i]->d_type != DT_REG;
        if (n_shown < SHOWN && i < MOST_LOOKED_AT && may_be_one && holds_run(root, name))
            pt_str_printf(&names, "%s%s/%s", n_shown++ ? ", " : "", root, name);
        free(entries[i]);
    }
    free(entries);
    if (n_shown)
        return pt_fail_code(err, 3, "no latest run is marked in %s; name one: %s", root, pt_str_text(&names));
    return pt_fail_code(err, 3, "no trace files in %s: record with `proftrace run -- COMMAND`", root);
}

/* <root>/latest as it was made by us, for us: where others may write into the root, too, they could have a trace of
 * theirs read as ours. The caller frees it. Without `err`, nobody looks for other runs. */
static char *latest_of(const char *root, struct pt_error *err)
{
    PT_AUTO(pt_freep) char *link = pt_asprintf("%s/latest", root);
    PT_AUTO(pt_freep) char *target = realpath(link, NULL);
    struct stat at_link, at_target;
    struct pt_error unread = {0};
    if (!target || lstat(link, &at_link) < 0 || stat(target, &at_target) < 0) {
        if (err)
            fail_without_latest(root, err);
        return NULL;
    }
    err = err ? err : &unread;
    if (!S_ISLNK(at_link.st_mode)) {
        pt_fail_code(err, 3, "%s is no link and stands in the way of ours: name a run, or remove it", link);
        return NULL;
    }
    if (at_link.st_uid != geteuid() || at_target.st_uid != geteuid()) {
        pt_fail_code(err, 3, "%s belongs to another user and is not followed: name a run", link);
        return NULL;
    }
    return pt_strdup(target);
}

/* x.ptr.gz; NULL = none. The caller frees it. */
static char *compressed_file(const char *run)
{
    DIR *directory = opendir(run);
    const struct dirent *entry;
    char *found = NULL;
    while (directory && !found && (entry = readdir(directory)))
        if (strstr(entry->d_name, PT_FILE_SUFFIX ".") || strstr(entry->d_name, PT_SMALL_SUFFIX "."))
            found = pt_strdup(entry->d_name);
    if (directory)
        closedir(directory);
    return found;
}

void pt_run_files_gone(const char *run, pt_u64 n_there, struct pt_str *out)
{
    const pt_u64 n_made = pt_files_made(run), n = n_made > n_there ? n_made - n_there : 0;
    PT_AUTO(pt_freep) char *compressed = compressed_file(run);
    if (compressed)
        pt_str_printf(out, "its trace files are compressed: unpack them (%s)", compressed);
    else if (n)
        pt_str_printf(out, "%llu trace file%s made, and %s not here: copy *" PT_FILE_SUFFIX " and *" PT_SMALL_SUFFIX,
                      (unsigned long long)n, n == 1 ? " was" : "s were", n == 1 ? "is" : "are");
}

static int nothing_traced(const char *run, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str why = {0};
    pt_run_files_gone(run, 0, &why);
    if (why.n)
        return pt_fail_code(err, 3, "no trace files in %s: %s", run, pt_str_text(&why));
    pt_refusals_of(run, &why);
    while (why.n && why.text[why.n - 1] == '\n')
        why.n--;
    return pt_fail_code(
        err, 3,
        "no trace files in %s: nothing was traced%s%.*s; `proftrace doctor -- COMMAND` says whether it can "
        "be",
        run, why.n ? ": " : "", (int)why.n, pt_str_text(&why));
}

static int follow_latest(struct pt_run_files *run, struct pt_error *err)
{
    char *target = latest_of(run->path, err);
    if (!target)
        return -1;
    free(run->path);
    run->path = target;
    if (look_into(run, err) < 0)
        return -1;
    if (!run->files.n)
        return nothing_traced(run->path, err);
    return 0;
}

static bool is_run(const char *path)
{
    PT_AUTO(pt_freep) char *page = pt_asprintf("%s/" PT_SESSION_FILE, path);
    struct stat status;
    return lstat(page, &status) == 0;
}

int pt_run_files_find(const char *path, struct pt_run_files *ret_run, struct pt_error *err)
{
    struct pt_run_files run = {.path = pt_without_slashes(path ? pt_run_path(path) : pt_runs_root())};
    struct stat status;
    int result;
    if (!path && stat(run.path, &status) < 0 && errno == ENOENT)
        result =
            pt_fail_code(err, 3, "no run found: %s does not exist; record with `proftrace run -- COMMAND`", run.path);
    else
        result = look_into(&run, err);
    if (result == 0 && !run.files.n)
        result = is_run(run.path) ? nothing_traced(run.path, err) : follow_latest(&run, err);
    if (result < 0)
        pt_run_files_fini(&run);
    else
        *ret_run = run;
    return result;
}

void pt_run_files_fini(struct pt_run_files *run)
{
    for (size_t i = 0; i < run->files.n; i++)
        free(run->files.items[i]);
    free(run->files.items);
    free(run->path);
    *run = (struct pt_run_files){0};
}

char *pt_run_dir_of(const char *path, struct pt_error *err)
{
    char *named = pt_without_slashes(path ? pt_run_path(path) : pt_runs_root());
    const bool is_itself = is_run(named); /* PROFTRACE_DIR may be a run, too */
    char *latest = is_itself ? NULL : latest_of(named, err);
    if (!latest && (path || is_itself))
        return named;
    free(named);
    return latest;
}
