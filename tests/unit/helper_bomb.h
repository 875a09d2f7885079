/* SPDX-License-Identifier: MIT
 *
 * helper_bomb.h - run directories with valid checksums that want to eat the machine, and the commands that must survive
 * them.
 */
#ifndef PT_TESTS_HELPER_BOMB_H
#define PT_TESTS_HELPER_BOMB_H

#include <sys/types.h>

#include "helper_trace.h"
#include "proftrace/codec.h"
#include "util/str.h"

/* A run directory in /tmp with one trace file in it. */
struct bomb {
    char folder[64];
    struct pt_str bytes; /* of the trace file */
};

/* A small valid trace; what the test appends makes it a bomb. */
void bomb_begin(struct bomb *bomb);
struct pt_file_header *bomb_header(struct bomb *bomb);
/* A segment whose header says `claimed` bytes (0 = as many as it has), padded to whole pages. */
void bomb_segment(struct bomb *bomb, pt_u16 type, pt_u32 slot, pt_u64 claimed, const struct pt_str *content);
/* A block with a right checksum at the end of `content`; sizes that are 0 are filled in. */
void bomb_block(struct pt_str *content, struct pt_block head, const void *payload, pt_u32 bytes);
/* A definition with a right checksum; `claimed` != 0 is written in place of its true length. */
void bomb_definition(struct pt_str *content, pt_u16 type, pt_u32 id, const void *payload, pt_u32 bytes, pt_u32 claimed);
/* A zstd frame that expands to `expanded` zeros. Free it. */
struct pt_str bomb_frame(pt_u64 expanded, int window_log, int tells_size);
/* Columns of `n` records of one kind, all words zero. Free it. */
struct pt_str bomb_columns(pt_u32 n, pt_u8 kind);
/* Write another file of the run directory; its descriptor. */
int bomb_file(struct bomb *bomb, const char *name, const void *bytes, size_t n);
/* Write the trace file, grown to `bytes` with a hole when that is more. */
void bomb_write(struct bomb *bomb, pt_u64 bytes);

enum bomb_outcome { BOMB_REFUSED, BOMB_SALVAGED, BOMB_EITHER };
/* Every reading command within its bounds of memory and CPU time; fails the test when one goes beyond, dies, or ends
 * without a cause. Removes the directory. */
void bomb_survive(struct bomb *bomb, enum bomb_outcome expected);

#endif
