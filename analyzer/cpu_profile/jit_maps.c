/* SPDX-License-Identifier: MIT
 *
 * Owns: which processes ran code that is in no file, and the copies of its names. Threads: main only. Never: follows a
 * link, waits for a pipe, copies a file of another user or of an earlier process of that number, fills the disk.
 */
#include "jit_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu_file/jit_map.h"
#include "util/auto.h"

#define MOST_BYTES_ALL (256u << 20) /* of a stage */

void pt_jit_maps_note(struct pt_jit_maps *maps, const struct pt_code_modules *modules, pt_u32 pid,
                      const struct pt_unwound *stack)
{
    for (pt_u32 i = 0; i < stack->n; i++) {
        const pt_u32 number = stack->frames[i].module;
        if (number >= PT_CPU_MODULE__FIRST && !*modules->used.items[number - PT_CPU_MODULE__FIRST]->path) {
            *pt_map_at(&maps->pids, pid) = 1;
            return;
        }
    }
}

/* Anybody may put a file of that name into /tmp. */
static int open_map(pt_u32 pid, pt_u64 not_before_ns)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        status.st_nlink != 1)
        return -1;
    const pt_u64 written_ns = (pt_u64)status.st_mtim.tv_sec * 1000000000u + (pt_u64)status.st_mtim.tv_nsec;
    if (written_ns < not_before_ns)
        return -1;
    const int result = fd;
    fd = -1;
    return result;
}

static void copy_bytes(struct pt_jit_maps *maps, int from, int to)
{
    char bytes[65536];
    ssize_t n;
    for (pt_u64 copied = 0; copied < PT_JIT_MAP_MOST_BYTES && maps->n_bytes < MOST_BYTES_ALL; copied += (pt_u64)n) {
        while ((n = read(from, bytes, sizeof bytes)) < 0 && errno == EINTR)
            ;
        if (n <= 0 || write(to, bytes, (size_t)n) != n)
            break;
        maps->n_bytes += (pt_u64)n;
    }
}

void pt_jit_maps_copy(struct pt_jit_maps *maps, const struct pt_jit_maps_to *to,
                      const struct pt_live_thread *main_thread)
{
    enum { COARSE_NS = 20000000 }; /* the file system's clock ticks */
    pt_u64 *is_made = main_thread ? pt_map_find(&maps->pids, main_thread->shown.pid) : NULL;
    if (!is_made || !*is_made)
        return;
    *is_made = 0;
    char name[64];
    const pt_u64 start_ns = to->begin_realtime_ns + main_thread->shown.start_ns;
    PT_AUTO(pt_closep) int from = open_map(main_thread->shown.pid, start_ns - COARSE_NS);
    if (from < 0)
        return;
    snprintf(name, sizeof name, PT_CPU_JIT_FORMAT, to->stage, main_thread->shown.number);
    PT_AUTO(pt_closep)
    int copy = openat(to->directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (copy >= 0)
        copy_bytes(maps, from, copy);
}

void pt_jit_maps_end(struct pt_jit_maps *maps, const struct pt_jit_maps_to *to, const struct pt_threads *threads)
{
    for (size_t i = 0; i < maps->pids.n; i++)
        if (maps->pids.entries[i].value)
            pt_jit_maps_copy(maps, to, pt_threads_find(threads, (pt_u32)maps->pids.entries[i].key));
    pt_map_fini(&maps->pids);
}
