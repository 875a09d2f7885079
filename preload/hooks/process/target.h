/* SPDX-License-Identifier: MIT
 *
 * target.h - can the program that is about to be started be traced, and what must its environment not contain if it
 * cannot?
 */
#ifndef PT_HOOKS_PROCESS_TARGET_H
#define PT_HOOKS_PROCESS_TARGET_H

#include "core/compiler.h"

enum pt_verdict {
    PT_VERDICT_UNKNOWN = 1, /* could not look, or looks odd: change nothing */
    PT_VERDICT_TRACED,
    PT_VERDICT_STATIC, /* never meets ld.so: our variables do no harm, and reach its children */
    PT_VERDICT_32BIT,  /* from here on the dynamic loader would print an error, or the program would not start */
    PT_VERDICT_MACHINE,
    PT_VERDICT_LIBC,
    PT_VERDICT_PRIVILEGED,
    PT_VERDICT_SANITIZER,
};

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
/* Put the target on the list of untraced programs if it belongs there, for what it is or for its environment. */
void pt_target_report(const struct pt_target *target, char *const *envp);
#pragma GCC visibility pop

static inline int pt_target_needs_clean_environment(const struct pt_target *target)
{
    return target->verdict >= PT_VERDICT_32BIT;
}

/* A copy of an environment, in a mapping of its own. */
struct pt_environment {
    char *const *vector;
    pt_u64 bytes; /* 0 = not a copy */
};

/* Whether a program with this environment meets us; true where it cannot be read, and the kernel will refuse it. */
int pt_environment_starts_us(char *const *vector) __attribute__((visibility("hidden")));
/* `vector` without our library in LD_PRELOAD and without our variables; `vector` itself when there is no memory. */
struct pt_environment pt_environment_without_us(char *const *vector) __attribute__((visibility("hidden")));
void pt_environment_release(const struct pt_environment *environment) __attribute__((visibility("hidden")));

#endif
