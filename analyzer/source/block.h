/* SPDX-License-Identifier: MIT
 *
 * block.h - one block or raw buffer, from the file to plain columns or units in memory.
 */
#ifndef PT_SOURCE_BLOCK_H
#define PT_SOURCE_BLOCK_H

#include "proftrace/codec.h"
#include "trace_file.h"

/* A block holds at most what fits a buffer: whatever its header or its zstd frame claims, no more is ever allocated. */
#define PT_BLOCK_MAX_BYTES (128u * 1024u)
#define PT_BLOCK_MAX_EVENTS 4096u

/* Buffers of one worker, reused from block to block. */
struct pt_block_loader {
    struct ZSTD_DCtx_s *zstd;
    pt_u8 *stored;  /* a header, PT_BLOCK_MAX_BYTES, PT_CODEC_SLACK */
    pt_u8 *encoded; /* PT_BLOCK_MAX_BYTES, PT_CODEC_SLACK */
};

struct pt_block_loader *pt_block_loader_new(void);
void pt_block_loader_free(struct pt_block_loader *loader);

/* True for a header that a block of at most `left` stored bytes can have. */
bool pt_block_is_sane(const struct pt_block *block, pt_u64 left);

/* The header and the columns (or raw units, ret_header->encoded_bytes of them) of an item, followed by
 * PT_CODEC_SLACK readable bytes; valid until the next load. NULL when the block is damaged: short, wrong checksum, not
 * what its header says, not the one that was indexed. */
const pt_u8 *pt_block_load(struct pt_block_loader *loader, const struct pt_trace_file *file,
                           const struct pt_slot_blocks *blocks, size_t item, struct pt_block *ret_header);

#endif
