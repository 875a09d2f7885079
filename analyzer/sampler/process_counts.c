/* SPDX-License-Identifier: MIT
 *
 * process_counts.c - Owns: the text of /proc/PID/io and of /proc/PID/task. Threads: any. Never: counts a thread twice
 * when it ends between two readings.
 */
#include "process_counts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/small_file.h"

enum pt_io_answer pt_process_io_read(pid_t pid, struct pt_process_io *ret_io)
{
    char text[512];
    if (pt_small_file_peek(text, sizeof text, "/proc/%d/io", pid) <= 0)
        return errno == EACCES || errno == EPERM ? PT_IO_DENIED : PT_IO_GONE;
    if (!pt_small_file_number(text, "read_bytes: ", &ret_io->read_bytes) ||
        !pt_small_file_number(text, "write_bytes: ", &ret_io->write_bytes))
        return PT_IO_GONE;
    return PT_IO_READ;
}

/* "on the CPU (ns), in the run queue (ns), times it was put on a CPU" */
static bool parse_schedstat(const char *text, pt_u64 *ret_ns, pt_u64 *ret_runs)
{
    char *at;
    strtoull(text, &at, 10);
    *ret_ns = strtoull(at, &at, 10);
    char *end;
    *ret_runs = strtoull(at, &end, 10);
    return end != at;
}

bool pt_task_run_queue_read(pid_t pid, pt_u64 *ret_ns, pt_u64 *ret_runs)
{
    char text[96];
    return pt_small_file_peek(text, sizeof text, "/proc/%d/schedstat", pid) > 0 &&
           parse_schedstat(text, ret_ns, ret_runs);
}

/* status costs five times as much as schedstat: it is left alone while the thread did not run. */
static bool read_task(struct pt_task *task, pid_t pid)
{
    char text[4096];
    pt_u64 run_queue_ns = 0, runs = 0;
    const bool has_runs = pt_small_file_peek(text, sizeof text, "/proc/%d/task/%d/schedstat", pid, task->tid) > 0 &&
                          parse_schedstat(text, &run_queue_ns, &runs);
    if (has_runs && runs && runs == task->runs)
        return true;
    if (pt_small_file_peek(text, sizeof text, "/proc/%d/task/%d/status", pid, task->tid) <= 0)
        return false;
    task->run_queue_ns = run_queue_ns;
    task->runs = runs;
    return pt_small_file_number(text, "voluntary_ctxt_switches:", &task->voluntary) &&
           pt_small_file_number(text, "nonvoluntary_ctxt_switches:", &task->involuntary);
}

static int compare_tids(const void *a, const void *b)
{
    const struct pt_task *x = a, *y = b;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static void add(struct pt_task *sum, const struct pt_task *task)
{
    sum->run_queue_ns += task->run_queue_ns;
    sum->voluntary += task->voluntary;
    sum->involuntary += task->involuntary;
}

/* The present tids, each with what is known of it; the others have ended. NULL = the process has ended. */
static struct pt_task *list_tasks(struct pt_tasks *tasks, pid_t pid, pt_u32 n_threads, size_t *ret_n)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *folder = opendir(path);
    if (!folder)
        return NULL;
    size_t room = n_threads + 16, n = 0;
    struct pt_task *list = pt_calloc(room, sizeof *list);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        if (n == room)
            list = pt_realloc(list, (room *= 2) * sizeof *list);
        list[n++] = (struct pt_task){.tid = atoi(entry->d_name)};
    }
    closedir(folder);
    qsort(list, n, sizeof *list, compare_tids);
    size_t at = 0;
    for (size_t i = 0; i < tasks->n; i++) {
        for (; at < n && list[at].tid < tasks->living[i].tid; at++)
            ;
        if (at < n && list[at].tid == tasks->living[i].tid)
            list[at] = tasks->living[i];
        else
            add(&tasks->ended, &tasks->living[i]);
    }
    *ret_n = n;
    return list;
}

void pt_tasks_read(struct pt_tasks *tasks, pid_t pid, pt_u32 n_threads)
{
    const bool is_same_single = n_threads == 1 && tasks->n == 1 && tasks->living[0].tid == pid;
    if (!is_same_single) {
        size_t n = 0;
        struct pt_task *list;
        if (n_threads == 1 && !tasks->n) {
            list = pt_calloc(n = 1, sizeof *list);
            list[0].tid = pid;
        } else {
            list = list_tasks(tasks, pid, n_threads, &n);
        }
        if (!list)
            return;
        free(tasks->living);
        tasks->living = list;
        tasks->n = n;
    }
    for (size_t i = 0; i < tasks->n; i++)
        read_task(&tasks->living[i], pid);
}

struct pt_task pt_tasks_sum(const struct pt_tasks *tasks)
{
    struct pt_task sum = tasks->ended;
    for (size_t i = 0; i < tasks->n; i++)
        add(&sum, &tasks->living[i]);
    return sum;
}

void pt_tasks_free(struct pt_tasks *tasks)
{
    free(tasks->living);
    *tasks = (struct pt_tasks){0};
}
