/* SPDX-License-Identifier: MIT
 *
 * process_stat.c - Owns: the text formats of /proc/PID. Threads: any. Never: allocates.
 */
#include "process_stat.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/living_thread.h"
#include "util/small_file.h"

int pt_process_stat_open(pid_t pid)
{
    return pt_small_file_open("/proc/%d/stat", pid);
}

/* Field numbers of proc(5), counted from 1. */
enum { FIELD_STATE = 3, FIELD_PPID = 4, FIELD_MINFLT = 10, FIELD_CMINFLT, FIELD_MAJFLT, FIELD_CMAJFLT };
enum { FIELD_UTIME = 14, FIELD_STIME, FIELD_CUTIME, FIELD_CSTIME };
enum { FIELD_THREADS = 20, FIELD_START = 22, FIELD_RSS = 24, FIELD__COUNT };

static bool read_stat(int fd, pid_t *ret_pid, struct pt_process_stat *ret_stat)
{
    char text[1024];
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return false;
    text[n] = 0;
    *ret_pid = (pid_t)strtol(text, NULL, 10);
    /* The name in parentheses may itself contain spaces and parentheses: the last one closes it. */
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || !at[2])
        return false;
    ret_stat->state = at[2];
    at += 3;
    pt_u64 fields[FIELD__COUNT] = {0};
    for (int field = FIELD_PPID; field < FIELD__COUNT; field++) {
        char *end;
        fields[field] = (pt_u64)strtoll(at, &end, 10);
        if (end == at)
            return false;
        at = end;
    }
    ret_stat->ppid = (pid_t)fields[FIELD_PPID];
    ret_stat->own_ticks = fields[FIELD_UTIME] + fields[FIELD_STIME];
    ret_stat->children_ticks = fields[FIELD_CUTIME] + fields[FIELD_CSTIME];
    ret_stat->minor_faults = fields[FIELD_MINFLT] + fields[FIELD_CMINFLT];
    ret_stat->major_faults = fields[FIELD_MAJFLT] + fields[FIELD_CMAJFLT];
    ret_stat->start_ticks = fields[FIELD_START];
    ret_stat->rss_bytes = fields[FIELD_RSS] * (pt_u64)sysconf(_SC_PAGESIZE);
    ret_stat->threads = (pt_u32)fields[FIELD_THREADS];
    return true;
}

/* Where only its main thread has ended, the kernel calls all of it a zombie without memory. */
static void see_by_another(pid_t pid, struct pt_process_stat *stat)
{
    struct pt_process_stat other;
    const pid_t tid = (pid_t)pt_living_thread((pt_u32)pid);
    PT_AUTO(pt_closep) int fd = tid == pid ? -1 : pt_process_stat_open(tid);
    pid_t same;
    if (fd < 0 || !read_stat(fd, &same, &other))
        return;
    stat->state = other.state;
    stat->rss_bytes = other.rss_bytes;
    stat->threads--;
}

bool pt_process_stat_read(int fd, struct pt_process_stat *ret_stat)
{
    pid_t pid;
    if (!read_stat(fd, &pid, ret_stat))
        return false;
    if (ret_stat->state == 'Z' && ret_stat->threads > 1)
        see_by_another(pid, ret_stat);
    return true;
}

bool pt_process_pss_bytes(pid_t pid, pt_u64 *ret_bytes)
{
    char text[1024];
    pt_small_file_peek(text, sizeof text, "/proc/%u/smaps_rollup", pt_living_thread((pt_u32)pid));
    const char *line = strstr(text, "\nPss:");
    if (!line)
        return false;
    *ret_bytes = strtoull(line + strlen("\nPss:"), NULL, 10) * 1024;
    return true;
}
