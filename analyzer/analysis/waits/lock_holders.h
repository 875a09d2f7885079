/* SPDX-License-Identifier: MIT
 *
 * lock_holders.h - where in the code the holders of a lock were while others waited for it, from the CPU profile. For
 * locks.c only.
 */
#ifndef PT_ANALYSIS_WAITS_LOCK_HOLDERS_H
#define PT_ANALYSIS_WAITS_LOCK_HOLDERS_H

#include "facts/lock_handoffs.h"
#include "profile/profile.h"

struct pt_lock_holders {
    struct pt_map ns; /* lock and node -> ns of waits during which the holder was there */
};

/* A stretch of a wait for a lock, with its holder. `lock`: its number, from 1. */
void pt_lock_holders_note(struct pt_lock_holders *holders, const struct pt_profile *profile, pt_u32 lock,
                          const struct pt_lock_share *share);
/* The function of the program in which the holders of a lock were mostly: "load (loader.c:12) 80 %". */
struct pt_value pt_lock_holders_place(const struct pt_lock_holders *holders, struct pt_profile *profile, pt_u32 stage,
                                      pt_u32 lock);
void pt_lock_holders_fini(struct pt_lock_holders *holders);

#endif
