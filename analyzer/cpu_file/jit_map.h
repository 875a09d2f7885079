/* SPDX-License-Identifier: MIT
 *
 * cpu_file/jit_map.h - names of code that a process made while it ran, by address: jit-<stage>-<thread>.map.
 *
 * Each line of it is "start size name", in hex, as `perf` defined it; a later line covers an earlier one, for code
 * moves. The file is what the program wrote: nothing in it is believed.
 */
#ifndef PT_CPU_FILE_JIT_MAP_H
#define PT_CPU_FILE_JIT_MAP_H

#include "proftrace/types.h"
#include "util/arena.h"
#include "util/vec.h"

#define PT_JIT_MAP_MOST_BYTES (64u << 20) /* of one process: a million functions */

struct pt_jit_function {
    pt_u64 start, end;
    const char *name;
    const char *file; /* NULL = it does not say */
    pt_u32 line;      /* 0 = it does not say */
    pt_u32 order;     /* of its line among all */
};

struct pt_jit_map {
    PT_VEC(struct pt_jit_function); /* by start, one of each */
    struct pt_arena texts;
};

/* NULL = there is none, or nothing in it can be used. `thread`: number of the process's main thread. */
struct pt_jit_map *pt_jit_map_read(const char *directory, pt_u32 stage, pt_u32 thread);
/* Of its text alone. */
struct pt_jit_map *pt_jit_map_of_text(const char *text, size_t n_bytes);
/* NULL = no code that has a name. */
const struct pt_jit_function *pt_jit_map_find(const struct pt_jit_map *map, pt_u64 address);
void pt_jit_map_free(struct pt_jit_map *map);

#endif
