/* SPDX-License-Identifier: MIT
 *
 * process_stat.h - one process, or one of its threads, as its file "stat" in /proc shows it at one instant.
 */
#ifndef PT_UTIL_PROCESS_STAT_H
#define PT_UTIL_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PT_UNKNOWN_CPU UINT32_MAX

struct pt_process_stat {
    char name[32]; /* the kernel keeps 15 bytes of a program's */
    char state;    /* R S D T Z ... */
    pid_t ppid, session;
    uint64_t own_ticks;                  /* CPU time of its threads, the ended ones too, in clock ticks */
    uint64_t children_ticks;             /* CPU time of the children it has waited for, and of theirs */
    uint64_t own_major_faults;           /* without those of children */
    uint64_t minor_faults, major_faults; /* its own and those of the children it has waited for, and of theirs */
    uint64_t start_ticks;                /* since boot; distinguishes two processes with the same pid */
    uint64_t rss_bytes;
    uint32_t threads;  /* living ones */
    uint32_t last_cpu; /* or PT_UNKNOWN_CPU */
    int exit_code;     /* as wait() gives it; 0 where it may not be seen */
};

/* False for one that has ended and waits to be waited for. */
static inline bool pt_process_is_living(const struct pt_process_stat *stat)
{
    return stat->state != 'X' && stat->state != 'Z';
}

/* False, and all zero, for a text that is cut or of another form. */
bool pt_process_stat_parse(const char *text, struct pt_process_stat *ret_stat);
/* As the kernel shows it: a process whose main thread has ended is a zombie without memory, though others may run. */
bool pt_process_stat_of(pid_t pid, struct pt_process_stat *ret_stat);
/* The times and faults are the thread's own. */
bool pt_process_stat_of_thread(pid_t pid, pid_t tid, struct pt_process_stat *ret_stat);

/* A descriptor of /proc/PID/stat; it stays valid and answers ESRCH once the process is gone. -1 = no such process. */
int pt_process_stat_open(pid_t pid);
/* Of a process whose main thread has ended, the state and the memory are those of another thread. */
bool pt_process_stat_read(int fd, struct pt_process_stat *ret_stat);

/* The process itself; where only its main thread has ended, another one of its threads, whose number is good for
 * /proc/<number> as well. The kernel shows a process by its main thread, which has no memory and no files any more. */
uint32_t pt_living_thread(uint32_t pid);

/* Of the text of /proc/PID/status, "NSpid:  4711  12": its number in its own namespace, the innermost; the number of
 * namespaces that are seen, 0 = the kernel does not say. */
uint32_t pt_inner_pid(const char *status, uint32_t *ret_pid);

/* Where a thread is blocked. */
struct pt_syscall {
    long call; /* -1 = in none */
    uint64_t arguments[6], sp, pc;
};
/* Of the text of /proc/PID/task/TID/syscall: "230 0x0 ... (six arguments) SP PC", or "-1 SP PC"; false for "running".
 */
bool pt_syscall_parse(const char *text, struct pt_syscall *ret_syscall);

/* Proportional share of memory. Walks the page tables: costs the more, the more memory there is. */
bool pt_process_pss_bytes(pid_t pid, uint64_t *ret_bytes);

#endif
