/* SPDX-License-Identifier: MIT
 *
 * python/trace_files.c - Owns: which trace file is whose. Threads: main only. Never: follows a link, waits for a file,
 * maps what its owner may cut short; lists a directory more often than is cheap.
 */
#include "trace_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proftrace/format.h"
#include "util/auto.h"
#include "util/clock.h"

#define SCAN_NS 10000000u
#define COST_FACTOR 100 /* listing takes 1 % of the time at most */

struct known_file {
    const char *name;
    struct known_file *earlier;
};

/* "<comm>-<pid>-<id>.ptr"; 0 = it is none. */
static pt_u32 pid_of(const char *name)
{
    const size_t n = strlen(name), suffix = sizeof PT_FILE_SUFFIX - 1;
    if (n <= suffix || strcmp(name + n - suffix, PT_FILE_SUFFIX) != 0)
        return 0;
    const char *id = name + n - suffix, *pid;
    while (id > name && id[-1] != '-')
        id--;
    for (pid = id - (id > name); pid > name && pid[-1] != '-';)
        pid--;
    return pid > name ? (pt_u32)strtoul(pid, NULL, 10) : 0;
}

static void scan(struct pt_trace_files *files)
{
    const int fd = openat(files->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    if (!directory) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(directory))) {
        const pt_u32 pid = pid_of(entry->d_name);
        if (!pid)
            continue;
        const char *name = pt_intern_text(&files->names, entry->d_name);
        pt_u64 *is_known = pt_map_at(&files->is_known, (uintptr_t)name);
        if (*is_known)
            continue;
        *is_known = 1;
        pt_u64 *newest = pt_map_at(&files->newest, pid);
        struct known_file *file = pt_arena_alloc(&files->memory, sizeof *file);
        *file = (struct known_file){name, (struct known_file *)(uintptr_t)*newest};
        *newest = (uintptr_t)file;
    }
    closedir(directory);
}

static bool read_header(const struct pt_trace_files *files, const struct known_file *file, pt_u32 pid,
                        struct pt_file_header *ret_header)
{
    PT_AUTO(pt_closep)
    int fd = openat(files->directory_fd, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 && pread(fd, ret_header, sizeof *ret_header, 0) == (ssize_t)sizeof *ret_header &&
           !memcmp(ret_header->magic, PT_FILE_MAGIC, sizeof ret_header->magic) && ret_header->pid == pid &&
           ret_header->state == PT_PROCESS_LIVE;
}

bool pt_trace_files_python(struct pt_trace_files *files, pt_u32 pid, pt_u64 now_ns, struct pt_python_header *ret_header)
{
    struct pt_file_header header;
    if (now_ns >= files->next_scan_ns) {
        const pt_u64 begin_ns = pt_monotonic_ns(); /* now_ns may be that of a record which is long over */
        scan(files);
        const pt_u64 took_ns = pt_monotonic_ns() - begin_ns;
        files->next_scan_ns = now_ns + (took_ns * COST_FACTOR > SCAN_NS ? took_ns * COST_FACTOR : SCAN_NS);
    }
    for (const struct known_file *file = pt_map_pointer(&files->newest, pid); file; file = file->earlier)
        if (read_header(files, file, pid, &header)) {
            *ret_header = header.python;
            return header.python.state == PT_PYTHON_READY;
        }
    return false;
}

void pt_trace_files_fini(struct pt_trace_files *files)
{
    pt_intern_fini(&files->names);
    pt_map_fini(&files->newest);
    pt_map_fini(&files->is_known);
    pt_arena_fini(&files->memory);
}
