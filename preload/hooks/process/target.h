/* SPDX-License-Identifier: MIT
 *
 * target.h - can the program that is about to be started be traced?
 */
#ifndef PT_HOOKS_PROCESS_TARGET_H
#define PT_HOOKS_PROCESS_TARGET_H

#include "elf_check.h"
#include "environment.h"

struct pt_target {
    enum pt_verdict verdict;
    pt_u32 path; /* string id of the program found; 0 = the path cannot be read */
};

#pragma GCC visibility push(hidden)
/* Look at the program that execveat(dir, path, ..., flags) would run. Safe with any pointer: the kernel reads it first.
 */
struct pt_target pt_target_at(int dir, const char *path, int flags);
/* The same for execvp(name): searches PATH like libc does. */
struct pt_target pt_target_search(const char *name);
/* Add the target to the list of untraced programs if it cannot be traced, because of its kind or its environment. */
void pt_target_report(const struct pt_target *target, enum pt_loading loading);
#pragma GCC visibility pop

static inline int pt_target_needs_clean_environment(const struct pt_target *target)
{
    return target->verdict >= PT_VERDICT_32BIT;
}

#endif
