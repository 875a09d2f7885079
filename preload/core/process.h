/* SPDX-License-Identifier: MIT
 *
 * process.h - what the file header says about the process itself, and who is asking.
 */
#ifndef PT_CORE_PROCESS_H
#define PT_CORE_PROCESS_H

#include "proftrace/format.h"
#include "compiler.h"

/* The process is about to exit or to become another image. */
void pt_process_note_end(enum pt_process_state state, int status);
/* Call it at normal ends: whoever comes first is called last. -1 = it cannot be (musl has no on_exit). */
int pt_process_at_exit(void (*call)(int status, void *unused));
/* The same by itself at normal ends, exit() and return from main. For the constructor. */
void pt_process_watch_exit(void);
/* exit() is called: nothing is noted where it will come to that by itself, and maybe it will not come to an end. */
void pt_process_note_exit(int status);
/* It did not: the exec failed. */
void pt_process_note_alive(void);
/* The program has put `name=value` into its environment, unless it is there already and this one does not replace it;
 * or has taken `name` from it: that may say which rank it has. */
void pt_process_note_variable(const char *entry, int replaces);
/* The program has joined a group of `size` processes that train together, as its number `rank`. */
void pt_process_note_group(pt_u32 rank, pt_u32 size);
/* 1 in a vfork child: it runs in the parent's memory and must not speak for it. */
int pt_process_is_vfork_child(void);
/* 1 in a vfork child, or a forked one, of a process that records nothing. */
int pt_process_may_be_vfork_child(void);

#endif
