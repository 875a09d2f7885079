/* SPDX-License-Identifier: MIT
 *
 * session_page.h - what all processes of the session share: the budget, and how many were not recorded.
 */
#ifndef PT_CORE_SESSION_PAGE_H
#define PT_CORE_SESSION_PAGE_H

#include "proftrace/format.h"

/* What does not change; read once. */
struct pt_session_facts {
    pt_u64 budget_bytes;      /* 0 = none is known */
    char boot_id[40];         /* "" = unknown */
    pt_u64 boot_realtime_ns;  /* wall time minus CLOCK_MONOTONIC when the session was made */
    pt_u64 time_namespace;    /* of who made it; 0 = unknown */
    pt_u8 is_of_another_boot; /* another machine, or a later boot, made session.bin */
};
extern struct pt_session_facts pt_session_facts __attribute__((visibility("hidden")));

#pragma GCC visibility push(hidden)
/* Write session.bin of the run directory that was just made; without space for it there is none. Constructor. */
void pt_session_page_make(const char *directory, pt_u64 budget_bytes);

/* Map session.bin of the run directory. Constructor. */
void pt_session_page_open(const char *directory);

/* Somebody set the clock since the session was made, or the machine slept: CLOCK_MONOTONIC is still the same one. */
int pt_session_clock_was_set(pt_u64 realtime_ns, pt_u64 monotonic_ns);

void pt_session_count_process(void);
void pt_session_refuse(enum pt_refusal why);
/* The same without a system call, where one may be the end of the host: by a store, for which the page must be there.
 */
void pt_session_refuse_in_sandbox(void);
/* The same where the page was not opened and nothing else of ours will run. Constructor. */
void pt_session_refuse_at_start(const char *directory);

/* Take whole pages out of the budget: -1 when it has not as many. Never fails where no budget is known. */
int pt_session_take(pt_u64 bytes);
void pt_session_give_back(pt_u64 bytes);
/* Room for totals by minute, which has a limit of its own; says how much of it is used, this included. */
int pt_session_take_minutes(pt_u64 bytes, pt_u64 limit_bytes, pt_u64 *ret_used_bytes);
void pt_session_give_back_minutes(pt_u64 bytes);
/* Room for a process's ring, which then has own_bytes: -1 when the rings of the session have no more, or when the
 * others would get too little. */
int pt_session_take_ring(pt_u64 bytes, pt_u64 own_bytes);
void pt_session_give_back_ring(pt_u64 bytes);
/* How large all rings together may be. */
pt_u64 pt_session_ring_limit(void);
#pragma GCC visibility pop

#endif
