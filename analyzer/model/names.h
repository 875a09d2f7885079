/* SPDX-License-Identifier: MIT
 *
 * names.h - the strings, stacks, modules and absolute paths behind the ids of a process.
 */
#ifndef PT_MODEL_NAMES_H
#define PT_MODEL_NAMES_H

#include <stddef.h>

#include "session_types.h"

struct pt_process_data;

/* The bytes of a string id, NUL-terminated, lossy for embedded NULs; "" for 0 and NULL when unknown. Follows parent
 * files. */
const char *pt_process_string(const struct pt_process *process, pt_u32 id);

/* The next string that the process defined itself, and when, from `*at` on, which begins with 0; NULL = there are no
 * more. They stay where events that name them are overwritten. */
const char *pt_process_next_string(const struct pt_process *process, size_t *at, pt_i64 *ret_ns);

/* What is at the other end of a descriptor, by its name; id 0 and unknown ids count as files. */
enum pt_channel { PT_CHANNEL_FILE, PT_CHANNEL_LOCAL /* pipe, socketpair, unix socket */, PT_CHANNEL_NETWORK };
enum pt_channel pt_channel_of_path(const char *path);
/* Whether a descriptor is a socket that waits for clients, by its name: "tcp bound 127.0.0.1:80". */
bool pt_is_listening(const char *path);
enum pt_channel pt_process_channel(const struct pt_process *process, pt_u32 id);
/* Frames of a stack id, innermost first (return addresses); returns the count, 0 when unknown. */
pt_u32 pt_process_stack(const struct pt_process *process, pt_u32 id, const pt_u64 **ret_frames);
/* The name of the file of jemalloc, tcmalloc or mimalloc that it loaded; NULL = of none. */
const char *pt_process_allocator(const struct pt_process *process);
/* The module that was mapped at an address at a time; NULL when unknown. */
const struct pt_module *pt_process_module(const struct pt_process *process, pt_u64 address, pt_i64 at_ns);

/* A path as the process meant it: joined with the directory or the working directory and normalised textually. Interned
 * in the session: equal paths give equal pointers. */
const char *pt_process_absolute_path(struct pt_process *process, pt_u32 path, pt_u32 dir_path);

/* While the session is opened: definitions by id and modules; later, once parents are known, untraced programs, which a
 * forked child names by an id of its parent's file. */
void pt_process_fill_names(struct pt_process_data *data);
void pt_process_fill_untraced(struct pt_process_data *data);

#endif
