/* SPDX-License-Identifier: MIT
 *
 * schedstat.c - Owns: what /proc/PID/task/TID/schedstat says of a thread: all its time on CPUs and in run queues.
 * Threads: main only. State: none. Never: fails; a thread that is gone keeps what was last seen of it.
 */
#include "schedstat.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/small_file.h"

/* Tids that are gone stay in the map. */
#define LOOK_MOST_ENTRIES 4096u

static bool read_schedstat(pt_u32 pid, pt_u32 tid, pt_u64 *ret_on_ns, pt_u64 *ret_delay_ns)
{
    char text[96];
    unsigned long long on_ns, delay_ns;
    if (pt_small_file_peek(text, sizeof text, "/proc/%u/task/%u/schedstat", pid, tid) <= 0 ||
        sscanf(text, "%llu %llu", &on_ns, &delay_ns) != 2)
        return false;
    *ret_on_ns = on_ns;
    *ret_delay_ns = delay_ns;
    return true;
}

/* Without records, the whole of it comes from here. Returns its time on CPUs; 0 = it is gone, or unseen. */
static pt_u64 update_thread(struct pt_live_thread *thread, pt_u64 t_ns, bool *ret_is_there)
{
    pt_u64 on_ns, delay_ns;
    *ret_is_there = read_schedstat(thread->shown.pid, thread->shown.tid, &on_ns, &delay_ns);
    if (!*ret_is_there)
        return 0;
    struct pt_cpu_times *times = &thread->times;
    times->run_delay_ns = delay_ns;
    times->delay_seen_ns = t_ns;
    times->flags |= PT_CPU_THREAD_HAS_DELAY;
    thread->is_dirty = true;
    if (thread->state != PT_THREAD_UNSEEN) {
        const pt_u64 since_ns = thread->state == PT_THREAD_ON && t_ns > thread->since_ns ? t_ns - thread->since_ns : 0;
        thread->kernel = (struct pt_cpu_kernel){thread->shown.number, 0, on_ns, times->on_cpu_ns + since_ns};
        return on_ns;
    }
    const pt_u64 lived_ns = t_ns - thread->shown.start_ns, ran_ns = on_ns + delay_ns;
    times->on_cpu_ns = on_ns;
    times->waiting_ns = lived_ns > ran_ns ? lived_ns - ran_ns : 0;
    times->end_ns = t_ns;
    return 0;
}

void pt_threads_read_schedstat(struct pt_threads *threads, pt_u64 t_ns, size_t most)
{
    const struct pt_map *map = &threads->by_tid;
    size_t left = map->n < LOOK_MOST_ENTRIES ? map->n : LOOK_MOST_ENTRIES;
    while (left-- && most) {
        if (threads->next_looked >= map->n)
            threads->next_looked = 0;
        struct pt_live_thread *thread = (struct pt_live_thread *)(uintptr_t)map->entries[threads->next_looked++].value;
        if (!thread)
            continue;
        bool is_there;
        update_thread(thread, t_ns, &is_there);
        most--;
    }
}

void pt_threads_add_process(struct pt_threads *threads, pt_u32 pid, pt_u64 t_ns)
{
    char path[64], comm[PT_CPU_COMM_BYTES];
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *tasks = opendir(path);
    const struct dirent *entry;
    while (tasks && (entry = readdir(tasks))) {
        const pt_u32 tid = (pt_u32)strtoul(entry->d_name, NULL, 10);
        struct pt_live_thread *thread = tid ? pt_threads_find(threads, tid) : NULL;
        if (tid && !thread && (thread = pt_threads_add(threads, pid, tid, 0, t_ns))) {
            const ssize_t n = pt_small_file_peek(comm, sizeof comm, "/proc/%u/task/%u/comm", pid, tid);
            pt_threads_rename(thread, comm, n > 0 ? (size_t)n - (comm[n - 1] == '\n') : 0);
        }
        bool is_there;
        if (thread)
            update_thread(thread, t_ns, &is_there);
    }
    if (tasks)
        closedir(tasks);
}

bool pt_thread_read_schedstat(struct pt_live_thread *thread, pt_u64 t_ns)
{
    bool is_there;
    update_thread(thread, t_ns, &is_there);
    return is_there;
}

void pt_threads_ending(struct pt_threads *threads, pt_u32 pid, pt_u64 t_ns)
{
    struct pt_live_thread *thread = pt_threads_find(threads, pid);
    bool is_there;
    if (thread)
        thread->kernel_on_ns = update_thread(thread, t_ns, &is_there);
}
