/* SPDX-License-Identifier: MIT
 *
 * Owns: whether report.json still says what the run's files say. Threads: one. Never: trusts one of another owner, of
 * another version, or older than what it was made from.
 */
#include "kept_report.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/fd.h"
#include "util/text/path.h"

enum { MOST_BYTES = 64 << 20 };

static bool is_made_from(const char *name)
{
    static const char *const ends[] = {".ptr", ".pts", ".pcp", "run.json"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (pt_ends_with(name, ends[i]))
            return true;
    return false;
}

static bool is_after(struct timespec time, const struct stat *report)
{
    const struct timespec made = report->st_mtim;
    return time.tv_sec != made.tv_sec ? time.tv_sec > made.tv_sec : time.tv_nsec > made.tv_nsec;
}

/* By the time at which our file came here: packages keep that at which it was built, and a report of the build before
 * would be taken for ours. */
static bool is_of_this_build(const struct stat *report)
{
    struct stat own;
    return stat("/proc/self/exe", &own) == 0 && !is_after(own.st_ctim, report);
}

static bool is_newest(int folder_fd, const struct stat *report)
{
    struct stat other;
    const int copy_fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy_fd >= 0 ? fdopendir(copy_fd) : NULL;
    const struct dirent *entry;
    bool is_newest = folder && is_of_this_build(report);
    while (is_newest && (entry = readdir(folder)))
        if (is_made_from(entry->d_name) &&
            (fstatat(folder_fd, entry->d_name, &other, AT_SYMLINK_NOFOLLOW) < 0 || is_after(other.st_mtim, report)))
            is_newest = false;
    if (folder)
        closedir(folder);
    else if (copy_fd >= 0)
        close(copy_fd);
    return is_newest;
}

/* The report's file, if it is one that we would have written. */
static int open_report(int folder_fd)
{
    struct stat file, folder;
    PT_AUTO(pt_closep)
    int fd = openat(folder_fd, "report.json", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &file) < 0 || fstat(folder_fd, &folder) < 0 || !S_ISREG(file.st_mode) ||
        file.st_uid != folder.st_uid || !is_newest(folder_fd, &file))
        return -1;
    const int result = fd;
    fd = -1;
    return result;
}

cJSON *pt_kept_report(const char *path)
{
    PT_AUTO(pt_closep) int folder_fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    PT_AUTO(pt_closep) int fd = folder_fd >= 0 ? open_report(folder_fd) : -1;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (fd < 0 || pt_fd_read_all(fd, MOST_BYTES, &text) < 0)
        return NULL;
    cJSON *document = cJSON_ParseWithLength(pt_str_text(&text), text.n);
    const char *tool = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(document, "tool"));
    if (tool && !strcmp(tool, "proftrace " PROFTRACE_VERSION))
        return document;
    cJSON_Delete(document);
    return NULL;
}
