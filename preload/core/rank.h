/* SPDX-License-Identifier: MIT
 *
 * rank.h - which process of a distributed program this is, as its launcher, or the program itself, says in the
 * environment or to torch.distributed.
 */
#ifndef PT_CORE_RANK_H
#define PT_CORE_RANK_H

#include "compiler.h"

struct pt_rank { /* 0 = not said */
    pt_u32 rank_plus_1, local_rank_plus_1, world_size;
};

extern struct pt_rank pt_rank __attribute__((visibility("hidden")));

/* Forked children keep what was read. */
void pt_rank_read(char **environment) __attribute__((visibility("hidden")));
/* The environment has got `name=value`, unless it has the name already and this one does not replace it; or has lost
 * `name`. */
void pt_rank_note(const char *entry, int replaces) __attribute__((visibility("hidden")));
/* The program has joined a group of so many as its number `rank`. */
void pt_rank_note_group(pt_u32 rank, pt_u32 size) __attribute__((visibility("hidden")));
/* The program has emptied its environment. A rank that it had stays known. */
void pt_rank_note_none(void) __attribute__((visibility("hidden")));

#endif
