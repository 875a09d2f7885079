/* SPDX-License-Identifier: MIT
 *
 * next.h - what dlsym(RTLD_NEXT, name) finds, without dlsym: the symbol tables of the objects that the program started
 * with, read in place.
 *
 * dlsym takes locks, may allocate, and costs 120 ns for each of 400 functions: a third of what a short process paid for
 * us. These tables never change and never go away, so reading them is safe at any time: in a signal handler, in the
 * child of a vfork, while another thread loads a library.
 */
#ifndef PT_CORE_REAL_NEXT_H
#define PT_CORE_REAL_NEXT_H

#include <link.h>

#include "core/compiler.h"

/* The loader's entry of our own library; 0 = not in its list of the program's: another namespace, or musl. */
const struct link_map *pt_next_own_map(void);

/* Notes the objects behind ours, once; to be called while the process starts. -1 = they cannot be used: ours was loaded
 * later than libc, or one of them has no hash table of the GNU form; then ask dlsym. */
int pt_next_prepare(void);

/* What a reference of libc's own to this name is bound to, a function or a variable: of the program, where that has one
 * (linkers copy variables into it), else of libc. NULL = there is none, or we are in another namespace. Constructor. */
const void *pt_next_find_of_libc(const char *name);

/* The first object before ours that has this function, or 0: its calls do not reach our hook. Constructor. */
const struct link_map *pt_next_before_us(const char *name);

/* libc's own flag: true = no other thread exists. Before glibc 2.32, and until the process starts, a 0. */
extern const char *pt_single_threaded __attribute__((visibility("hidden")));

/* The address of a function, or NULL where none of these objects has it. version: NULL = the default one. */
void *pt_next_find(const char *name, const char *version);

/* Do the first ones of these two names come from one object? */
int pt_next_are_together(const char *a, const char *b);

#endif
