/* SPDX-License-Identifier: MIT
 *
 * spawn_place.h - the program that posix_spawn will start, where its file actions change the directory first.
 */
#ifndef PT_HOOKS_PROCESS_SPAWN_PLACE_H
#define PT_HOOKS_PROCESS_SPAWN_PLACE_H

#include "target.h"

#pragma GCC visibility push(hidden)
/* Look at the program as the child will find it. Safe with any pointer. */
struct pt_target pt_target_of_spawn(const char *path, const void *actions);
/* The same for posix_spawnp. */
struct pt_target pt_target_of_spawn_search(const char *name, const void *actions);
#pragma GCC visibility pop

#endif
