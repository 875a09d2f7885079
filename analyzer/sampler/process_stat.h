/* SPDX-License-Identifier: MIT
 *
 * process_stat.h - one process as /proc shows it at one instant.
 */
#ifndef PT_LAUNCHER_PROCESS_STAT_H
#define PT_LAUNCHER_PROCESS_STAT_H

#include <stdbool.h>
#include <sys/types.h>

#include "proftrace/types.h"

struct pt_process_stat {
    pid_t ppid;
    char state;                        /* R S D T Z ...; of one whose main thread has ended, that of another thread */
    pt_u64 own_ticks;                  /* CPU time of its threads, the ended ones too, in clock ticks */
    pt_u64 children_ticks;             /* CPU time of the children it has waited for, and of theirs */
    pt_u64 minor_faults, major_faults; /* its own and those of the children it has waited for, and of theirs */
    pt_u64 start_ticks;                /* since boot; distinguishes two processes with the same pid */
    pt_u64 rss_bytes;
    pt_u32 threads; /* living ones */
};

/* False for one that has ended and waits to be waited for. */
static inline bool pt_process_is_living(const struct pt_process_stat *stat)
{
    return stat->state != 'X' && stat->state != 'Z';
}

/* A descriptor of /proc/PID/stat; it stays valid and answers ESRCH once the process is gone. -1 = no such process. */
int pt_process_stat_open(pid_t pid);
bool pt_process_stat_read(int fd, struct pt_process_stat *ret_stat);

/* Proportional share of memory. Walks the page tables: costs the more, the more memory there is. */
bool pt_process_pss_bytes(pid_t pid, pt_u64 *ret_bytes);

#endif
