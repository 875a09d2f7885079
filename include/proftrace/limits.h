/* SPDX-License-Identifier: MIT
 *
 * limits.h - limits that both halves keep: if one of them cut a name and the other did not, it would become two names.
 */
#ifndef PROFTRACE_LIMITS_H
#define PROFTRACE_LIMITS_H

#include "types.h"

#define PT_LIBRARY_NAME "libproftrace.so"

/* The ELF note of the program `proftrace`: the library knows it by that, whatever it is called and wherever it lies. */
#define PT_COMMAND_NOTE_OWNER "proftrace"
#define PT_COMMAND_NOTE_TYPE 1
#define PT_COMMAND_NOTE_ALIGN_BYTES 4

/* Names of stages. A longer one has no effect. */
#define PT_STAGE_MAX_BYTES 127

/* The path of a run directory, and of the root in which one is made: <root>/<stamp>-<command>-<id>, whose command has
 * at most 40 bytes. The library has fixed room for it. */
#define PT_RUN_PATH_MAX_BYTES 510
#define PT_RUN_NAME_MAX_BYTES 63
#define PT_ROOT_MAX_BYTES (PT_RUN_PATH_MAX_BYTES - 1 - PT_RUN_NAME_MAX_BYTES)

/* Rings have this share of a budget when the user sets no limit of theirs, so that new processes, definitions and rows
 * find room. */
#define PT_RINGS_OF_BUDGET(bytes) ((bytes) / 4 * 3)

/* A ring is at most as large as this many times what is left for others: a process alone has four fifths of it all, two
 * have four ninths each, and one that comes later still finds something. */
#define PT_RING_OWN_PER_LEFT 4u

/* The most that one process has of the rings of a session. */
#define PT_RING_OF_SESSION(bytes) ((bytes) / (PT_RING_OWN_PER_LEFT + 1) * PT_RING_OWN_PER_LEFT)

/* The budget of a session when the user sets none: this much, or a fraction of the free space if that is less; but as
 * much as rings need that the user has asked for: they would be refused what they may have. */
#define PT_BUDGET_MAX_BYTES (4ull << 30)

static inline pt_u64 pt_default_budget_bytes(pt_u64 free_bytes, pt_u64 wanted_rings_bytes)
{
    const pt_u64 share = free_bytes / 10, least = wanted_rings_bytes / 3 * 4;
    const pt_u64 usual = share < PT_BUDGET_MAX_BYTES ? share : PT_BUDGET_MAX_BYTES;
    return usual > least ? usual : least;
}

/* A limit in a message. */
#define PT_LIMIT_TEXT(limit) PT_LIMIT_TEXT_(limit)
#define PT_LIMIT_TEXT_(limit) #limit

#endif
