/* SPDX-License-Identifier: MIT
 *
 * block.c - Owns: checksum and decompression of blocks; the only file of the analyzer that reads zstd. Threads: one per
 * loader. Never: allocates more than a full buffer needs, whatever a header or a zstd frame claims.
 */
#include "block.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proftrace/codec.h"

enum { MAX_WINDOW_LOG = 20 };

struct pt_block_loader *pt_block_loader_new(void)
{
    struct pt_block_loader *loader = pt_calloc(1, sizeof *loader);
    loader->stored = pt_malloc(sizeof(struct pt_block) + PT_BLOCK_MAX_BYTES + PT_CODEC_SLACK);
    loader->encoded = pt_malloc(PT_BLOCK_MAX_BYTES + PT_CODEC_SLACK);
    return loader;
}

void pt_block_loader_free(struct pt_block_loader *loader)
{
    if (!loader)
        return;
    ZSTD_freeDCtx(loader->zstd);
    free(loader->stored);
    free(loader->encoded);
    free(loader);
}

/* A small process has no compressed block, and to make a context costs more than to read all that it recorded. */
static bool is_ready(struct pt_block_loader *loader)
{
    if (loader->zstd)
        return true;
    loader->zstd = ZSTD_createDCtx();
    if (loader->zstd)
        ZSTD_DCtx_setParameter(loader->zstd, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
    return loader->zstd != NULL;
}

static int checksum_holds(const struct pt_block *block, const pt_u8 *payload)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)block, (void)payload; /* a fuzzer cannot guess checksums: without the check it reaches the decoders */
    return 1;
#else
    return pt_block_crc(block, payload) == block->crc;
#endif
}

bool pt_block_is_sane(const struct pt_block *block, pt_u64 left)
{
    return block->commit == PT_BLOCK_MAGIC && block->stored_bytes <= left &&
           block->stored_bytes <= PT_BLOCK_MAX_BYTES && block->encoded_bytes <= PT_BLOCK_MAX_BYTES &&
           block->buffer < PT_BUFFER__COUNT && block->coding <= PT_CODING_ZSTD &&
           block->events <= PT_BLOCK_MAX_EVENTS && block->sequence <= ~0ull >> PT_GENERATION_BITS &&
           (block->coding == PT_CODING_ZSTD || block->stored_bytes == block->encoded_bytes);
}

/* A process that still runs may have written another block there since. */
static bool is_as_indexed(const struct pt_slot_blocks *blocks, size_t item, const struct pt_block *block)
{
    const struct pt_block_ref *ref = &blocks->items[item];
    const struct pt_block_run *run = pt_slot_blocks_run(blocks, item);
    return block->slot == blocks->slot && block->buffer == blocks->buffer && block->life == run->life &&
           block->tid == run->tid && block->sequence == run->sequence + (item - run->first) &&
           block->events == pt_block_ref_events(ref) && block->first_ticks == ref->first_ticks;
}

/* Reads header and payload, mostly in one read; returns the payload. */
static pt_u8 *read_block(struct pt_block_loader *loader, const struct pt_trace_file *file,
                         const struct pt_slot_blocks *blocks, size_t item, struct pt_block *ret_header)
{
    enum { FIRST_READ = 8192 };
    const pt_u64 offset = pt_block_ref_offset(&blocks->items[item]);
    pt_u64 got = pt_trace_file_read(file, offset, loader->stored, FIRST_READ);
    if (got < sizeof *ret_header)
        return NULL;
    memcpy(ret_header, loader->stored, sizeof *ret_header);
    if (!pt_block_is_sane(ret_header, PT_BLOCK_MAX_BYTES) || !is_as_indexed(blocks, item, ret_header))
        return NULL;
    const pt_u64 all = sizeof *ret_header + ret_header->stored_bytes;
    if (got < all)
        got += pt_trace_file_read(file, offset + got, loader->stored + got, all - got);
    pt_u8 *payload = loader->stored + sizeof *ret_header;
    return got >= all && checksum_holds(ret_header, payload) ? payload : NULL;
}

static pt_u8 *read_raw_buffer(struct pt_block_loader *loader, const struct pt_trace_file *file,
                              const struct pt_raw_run *raw, struct pt_block *ret_header)
{
    *ret_header = raw->header;
    const pt_u64 got = pt_trace_file_read(file, raw->offset, loader->stored, raw->header.stored_bytes);
    return got == raw->header.stored_bytes ? loader->stored : NULL;
}

const pt_u8 *pt_block_load(struct pt_block_loader *loader, const struct pt_trace_file *file,
                           const struct pt_slot_blocks *blocks, size_t item, struct pt_block *ret_header)
{
    const bool is_raw_buffer = blocks->raw && item + 1 == blocks->n;
    pt_u8 *payload = is_raw_buffer ? read_raw_buffer(loader, file, blocks->raw, ret_header)
                                   : read_block(loader, file, blocks, item, ret_header);
    if (!payload)
        return NULL;
    if (ret_header->coding != PT_CODING_ZSTD) {
        memset(payload + ret_header->stored_bytes, 0, PT_CODEC_SLACK);
        return payload;
    }
    if (!is_ready(loader))
        return NULL;
    const size_t got = ZSTD_decompressDCtx(loader->zstd, loader->encoded, ret_header->encoded_bytes, payload,
                                           ret_header->stored_bytes);
    if (ZSTD_isError(got) || got != ret_header->encoded_bytes)
        return NULL;
    memset(loader->encoded + got, 0, PT_CODEC_SLACK);
    return loader->encoded;
}
