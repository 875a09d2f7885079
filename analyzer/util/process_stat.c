/* SPDX-License-Identifier: MIT
 *
 * process_stat.c - Owns: the text formats of /proc/PID. Threads: any. Never: allocates more than opendir does.
 */
#include "process_stat.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auto.h"
#include "small_file.h"

/* Field numbers of proc(5), counted from 1. */
enum { FIELD_PPID = 4, FIELD_SESSION = 6, FIELD_MINFLT = 10, FIELD_CMINFLT, FIELD_MAJFLT, FIELD_CMAJFLT };
enum { FIELD_UTIME = 14, FIELD_STIME, FIELD_CUTIME, FIELD_CSTIME };
enum { FIELD_THREADS = 20, FIELD_START = 22, FIELD_RSS = 24, FIELD_CPU = 39, FIELD_EXIT_CODE = 52, FIELD__COUNT };

/* How many fields there are, from the fourth on; those that are missing stay as they are. */
static int read_fields(const char *at, int64_t *fields)
{
    int field = FIELD_PPID;
    for (; field < FIELD__COUNT; field++) {
        char *end;
        const int64_t value = strtoll(at, &end, 10);
        if (end == at)
            break;
        fields[field] = value;
        at = end;
    }
    return field;
}

bool pt_process_stat_parse(const char *text, struct pt_process_stat *ret_stat)
{
    int64_t fields[FIELD__COUNT] = {[FIELD_CPU] = PT_UNKNOWN_CPU};
    /* The name in parentheses may itself contain spaces and parentheses: the last one closes it. */
    const char *name = strchr(text, '('), *end = strrchr(text, ')');
    *ret_stat = (struct pt_process_stat){0};
    if (!name || !end || end < name || end[1] != ' ' || !end[2] || read_fields(end + 3, fields) <= FIELD_RSS)
        return false;
    snprintf(ret_stat->name, sizeof ret_stat->name, "%.*s", (int)(end - name - 1), name + 1);
    ret_stat->state = end[2];
    ret_stat->ppid = (pid_t)fields[FIELD_PPID];
    ret_stat->session = (pid_t)fields[FIELD_SESSION];
    ret_stat->own_ticks = (uint64_t)(fields[FIELD_UTIME] + fields[FIELD_STIME]);
    ret_stat->children_ticks = (uint64_t)(fields[FIELD_CUTIME] + fields[FIELD_CSTIME]);
    ret_stat->own_major_faults = (uint64_t)fields[FIELD_MAJFLT];
    ret_stat->minor_faults = (uint64_t)(fields[FIELD_MINFLT] + fields[FIELD_CMINFLT]);
    ret_stat->major_faults = (uint64_t)(fields[FIELD_MAJFLT] + fields[FIELD_CMAJFLT]);
    ret_stat->start_ticks = (uint64_t)fields[FIELD_START];
    ret_stat->rss_bytes = (uint64_t)fields[FIELD_RSS] * (uint64_t)sysconf(_SC_PAGESIZE);
    ret_stat->threads = (uint32_t)fields[FIELD_THREADS];
    ret_stat->last_cpu = (uint32_t)fields[FIELD_CPU];
    ret_stat->exit_code = (int)fields[FIELD_EXIT_CODE];
    return true;
}

bool pt_process_stat_of(pid_t pid, struct pt_process_stat *ret_stat)
{
    char text[1024];
    pt_small_file_peek(text, sizeof text, "/proc/%d/stat", pid);
    return pt_process_stat_parse(text, ret_stat);
}

bool pt_process_stat_of_thread(pid_t pid, pid_t tid, struct pt_process_stat *ret_stat)
{
    char text[1024];
    pt_small_file_peek(text, sizeof text, "/proc/%d/task/%d/stat", pid, tid);
    return pt_process_stat_parse(text, ret_stat);
}

int pt_process_stat_open(pid_t pid)
{
    return pt_small_file_open("/proc/%d/stat", pid);
}

/* Where only its main thread has ended, the kernel calls all of it a zombie without memory. */
static void see_by_another(pid_t pid, struct pt_process_stat *stat)
{
    struct pt_process_stat other;
    const pid_t tid = (pid_t)pt_living_thread((uint32_t)pid);
    if (tid == pid || !pt_process_stat_of(tid, &other))
        return;
    stat->state = other.state;
    stat->rss_bytes = other.rss_bytes;
    stat->threads--;
}

bool pt_process_stat_read(int fd, struct pt_process_stat *ret_stat)
{
    char text[1024];
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    if (!pt_process_stat_parse(text, ret_stat))
        return false;
    if (ret_stat->state == 'Z' && ret_stat->threads > 1)
        see_by_another((pid_t)strtol(text, NULL, 10), ret_stat);
    return true;
}

static bool has_ended(pid_t pid, pid_t tid)
{
    struct pt_process_stat stat;
    return !pt_process_stat_of_thread(pid, tid, &stat) || !pt_process_is_living(&stat);
}

uint32_t pt_living_thread(uint32_t pid)
{
    char path[32];
    uint32_t living = pid;
    if (!has_ended((pid_t)pid, (pid_t)pid))
        return pid;
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory && living == pid && (entry = readdir(directory))) {
        const uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        living = tid && !has_ended((pid_t)pid, (pid_t)tid) ? tid : pid;
    }
    if (directory)
        closedir(directory);
    return living;
}

bool pt_process_pss_bytes(pid_t pid, uint64_t *ret_bytes)
{
    char text[1024];
    pt_small_file_peek(text, sizeof text, "/proc/%u/smaps_rollup", pt_living_thread((uint32_t)pid));
    const char *line = strstr(text, "\nPss:");
    if (!line)
        return false;
    *ret_bytes = strtoull(line + strlen("\nPss:"), NULL, 10) * 1024;
    return true;
}

uint32_t pt_inner_pid(const char *status, uint32_t *ret_pid)
{
    static const char key[] = "\nNSpid:";
    const char *number = strstr(status, key);
    uint32_t n = 0;
    for (number = number ? number + sizeof key - 1 : ""; *number == '\t'; n++) {
        char *end;
        *ret_pid = (uint32_t)strtoul(number + 1, &end, 10);
        number = end;
    }
    return n;
}

bool pt_syscall_parse(const char *text, struct pt_syscall *ret_syscall)
{
    unsigned long long a[6] = {0}, sp, pc;
    long call = 0;
    /* Kernels before 5.8 show a thread that was stopped in an interrupt with another negative number. */
    if (sscanf(text, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &call, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5],
               &sp, &pc) != 9 &&
        (call >= 0 || sscanf(text, "%*d %llx %llx", &sp, &pc) != 2))
        return false;
    call = call < 0 ? -1 : call;
    *ret_syscall = (struct pt_syscall){.call = call, .sp = sp, .pc = pc};
    for (int i = 0; call != -1 && i < 6; i++)
        ret_syscall->arguments[i] = a[i];
    return true;
}
