/* SPDX-License-Identifier: MIT
 *
 * block.c - Owns: checksum and decompression of blocks; the only file of the analyzer that reads zstd. Threads: one per
 * loader.
 */
#include "block.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { MAX_WINDOW_LOG = 20 };

struct pt_block_loader *pt_block_loader_new(void)
{
    struct pt_block_loader *loader = pt_calloc(1, sizeof *loader);
    loader->stored = pt_calloc(1, PT_BLOCK_MAX_BYTES + PT_CODEC_SLACK);
    loader->encoded = pt_calloc(1, PT_BLOCK_MAX_BYTES + PT_CODEC_SLACK);
    loader->zstd = ZSTD_createDCtx();
    if (loader->zstd)
        ZSTD_DCtx_setParameter(loader->zstd, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
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

static int checksum_holds(const struct pt_block *block, const pt_u8 *payload)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)block, (void)payload; /* a fuzzer does not find checksums: let it reach the decoders */
    return 1;
#else
    return pt_block_crc(block, payload) == block->crc;
#endif
}

const pt_u8 *pt_block_load(struct pt_block_loader *loader, const struct pt_trace_file *file,
                           const struct pt_block_ref *ref, pt_u32 *ret_bytes)
{
    const struct pt_block *h = &ref->header;
    if (h->stored_bytes > PT_BLOCK_MAX_BYTES || h->encoded_bytes > PT_BLOCK_MAX_BYTES)
        return NULL;
    if (pt_trace_file_read(file, ref->offset, loader->stored, h->stored_bytes) < h->stored_bytes)
        return NULL;
    if (!ref->is_raw_buffer && !checksum_holds(h, loader->stored))
        return NULL;
    *ret_bytes = h->encoded_bytes;
    if (h->coding != PT_CODING_ZSTD) {
        memset(loader->stored + h->stored_bytes, 0, PT_CODEC_SLACK);
        return loader->stored;
    }
    if (!loader->zstd)
        return NULL;
    const size_t got =
        ZSTD_decompressDCtx(loader->zstd, loader->encoded, h->encoded_bytes, loader->stored, h->stored_bytes);
    if (ZSTD_isError(got) || got != h->encoded_bytes)
        return NULL;
    memset(loader->encoded + got, 0, PT_CODEC_SLACK);
    return loader->encoded;
}
