/* SPDX-License-Identifier: MIT
 *
 * gzip.c - parallel gzip.
 *
 * Owns: a ring of blocks and the worker threads. Each block is deflated on its own, with the 32 KiB before it as
 * dictionary and a sync flush at its end, so that the pieces join to one deflate stream (some viewers read only the
 * first gzip member). Threads: the caller's (buffer, submit, close) and the workers. Never: reorders blocks, holds more
 * than two of them for each worker. */
#include "gzip.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCKS_OF_WORKER 2u
#define GZIP_WINDOW_BYTES 32768u

enum block_state { BLOCK_FREE, BLOCK_READY, BLOCK_TAKEN, BLOCK_DONE };

struct block {
    enum block_state state;
    bool last;
    pt_u32 bytes, packed_bytes, window_bytes;
    uLong crc;
    char *plain;
    pt_u8 *packed;
    pt_u8 *window; /* what preceded the block */
};

struct pt_gzip {
    bool (*write)(void *context, const void *bytes, pt_u64 n);
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t ready, done;
    struct worker {
        struct pt_gzip *gzip;
        pthread_t thread;
        z_stream z;
    } workers[PT_GZIP_MOST_THREADS];
    pt_u32 n_workers, n_blocks;
    bool stop;
    pt_u32 fill, take; /* ring positions of the producer and of the next block to compress */
    struct block blocks[BLOCKS_OF_WORKER * PT_GZIP_MOST_THREADS];
    size_t packed_room;
    uLong crc;
    pt_u64 total_bytes;
    bool failed, header_written;
};

static void block_deflate(struct block *block, z_stream *z, size_t packed_room)
{
    deflateReset(z);
    if (block->window_bytes)
        deflateSetDictionary(z, block->window, block->window_bytes);
    z->next_in = (Bytef *)block->plain;
    z->avail_in = block->bytes;
    z->next_out = block->packed;
    z->avail_out = (uInt)packed_room;
    deflate(z, block->last ? Z_FINISH : Z_SYNC_FLUSH);
    block->packed_bytes = (pt_u32)(packed_room - z->avail_out);
    block->crc = crc32(crc32(0, NULL, 0), (const Bytef *)block->plain, block->bytes);
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct pt_gzip *gzip = worker->gzip;
    pthread_mutex_lock(&gzip->lock);
    for (;;) {
        struct block *block = &gzip->blocks[gzip->take];
        if (block->state == BLOCK_READY) {
            block->state = BLOCK_TAKEN;
            gzip->take = (gzip->take + 1) % gzip->n_blocks;
            pthread_mutex_unlock(&gzip->lock);
            block_deflate(block, &worker->z, gzip->packed_room);
            pthread_mutex_lock(&gzip->lock);
            block->state = BLOCK_DONE;
            pthread_cond_signal(&gzip->done);
        } else if (gzip->stop) {
            break;
        } else {
            pthread_cond_wait(&gzip->ready, &gzip->lock);
        }
    }
    pthread_mutex_unlock(&gzip->lock);
    return NULL;
}

static bool worker_start(struct pt_gzip *gzip, struct worker *worker)
{
    worker->gzip = gzip;
    if (deflateInit2(&worker->z, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    if (!pthread_create(&worker->thread, NULL, worker_main, worker))
        return true;
    deflateEnd(&worker->z);
    return false;
}

static bool gzip_start(struct pt_gzip *gzip, pt_u32 most_threads)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const pt_u32 most = most_threads < PT_GZIP_MOST_THREADS ? most_threads : PT_GZIP_MOST_THREADS;
    const pt_u32 wanted = cpus < 1 ? 1 : cpus > (long)most ? most : (pt_u32)cpus;
    gzip->n_blocks = BLOCKS_OF_WORKER * wanted;
    gzip->packed_room = compressBound(PT_GZIP_BLOCK_BYTES) + 64;
    for (pt_u32 i = 0; i < gzip->n_blocks; i++) {
        struct block *block = &gzip->blocks[i];
        block->plain = malloc(PT_GZIP_BLOCK_BYTES);
        block->packed = malloc(gzip->packed_room);
        block->window = malloc(GZIP_WINDOW_BYTES);
        if (!block->plain || !block->packed || !block->window)
            return false;
    }
    while (gzip->n_workers < wanted && worker_start(gzip, &gzip->workers[gzip->n_workers]))
        gzip->n_workers++;
    return gzip->n_workers > 0;
}

struct pt_gzip *pt_gzip_open(bool (*write)(void *context, const void *bytes, pt_u64 n), void *context,
                             pt_u32 most_threads)
{
    struct pt_gzip *gzip = calloc(1, sizeof *gzip);
    if (!gzip)
        return NULL;
    gzip->write = write;
    gzip->context = context;
    pthread_mutex_init(&gzip->lock, NULL);
    pthread_cond_init(&gzip->ready, NULL);
    pthread_cond_init(&gzip->done, NULL);
    if (gzip_start(gzip, most_threads))
        return gzip;
    pt_gzip_close(gzip);
    return NULL;
}

char *pt_gzip_buffer(struct pt_gzip *gzip)
{
    return gzip->blocks[gzip->fill].plain;
}

/* Wait for a block that was submitted and write it out; afterwards it is free. */
static void block_collect(struct pt_gzip *gzip, struct block *block)
{
    static const pt_u8 header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3};
    pthread_mutex_lock(&gzip->lock);
    while (block->state == BLOCK_READY || block->state == BLOCK_TAKEN)
        pthread_cond_wait(&gzip->done, &gzip->lock);
    const bool is_output = block->state == BLOCK_DONE;
    pthread_mutex_unlock(&gzip->lock);
    if (!is_output)
        return;
    if (!gzip->header_written)
        gzip->failed |= !gzip->write(gzip->context, header, sizeof header);
    gzip->header_written = true;
    if (!gzip->failed)
        gzip->failed |= !gzip->write(gzip->context, block->packed, block->packed_bytes);
    gzip->crc = crc32_combine(gzip->crc, block->crc, (z_off_t)block->bytes);
    gzip->total_bytes += block->bytes;
    pthread_mutex_lock(&gzip->lock); /* a worker may be looking */
    block->state = BLOCK_FREE;
    pthread_mutex_unlock(&gzip->lock);
}

static void gzip_finish(struct pt_gzip *gzip)
{
    for (pt_u32 i = 0; i < gzip->n_blocks; i++)
        block_collect(gzip, &gzip->blocks[(gzip->fill + i) % gzip->n_blocks]);
    pt_u8 trailer[8];
    for (int i = 0; i < 4; i++) {
        trailer[i] = (pt_u8)(gzip->crc >> (8 * i));
        trailer[4 + i] = (pt_u8)(gzip->total_bytes >> (8 * i));
    }
    if (!gzip->failed)
        gzip->failed |= !gzip->write(gzip->context, trailer, sizeof trailer);
}

bool pt_gzip_submit(struct pt_gzip *gzip, pt_u32 bytes, bool last)
{
    struct block *block = &gzip->blocks[gzip->fill];
    gzip->fill = (gzip->fill + 1) % gzip->n_blocks;
    struct block *next = &gzip->blocks[gzip->fill];
    block->bytes = bytes;
    block->last = last;
    pthread_mutex_lock(&gzip->lock);
    block->state = BLOCK_READY;
    pthread_cond_signal(&gzip->ready);
    pthread_mutex_unlock(&gzip->lock);
    if (last) {
        gzip_finish(gzip);
        return !gzip->failed;
    }
    block_collect(gzip, next);
    next->window_bytes = bytes < GZIP_WINDOW_BYTES ? bytes : GZIP_WINDOW_BYTES;
    memcpy(next->window, block->plain + bytes - next->window_bytes, next->window_bytes);
    return !gzip->failed;
}

void pt_gzip_close(struct pt_gzip *gzip)
{
    pthread_mutex_lock(&gzip->lock);
    gzip->stop = true;
    pthread_cond_broadcast(&gzip->ready);
    pthread_mutex_unlock(&gzip->lock);
    for (pt_u32 i = 0; i < gzip->n_workers; i++) {
        pthread_join(gzip->workers[i].thread, NULL);
        deflateEnd(&gzip->workers[i].z);
    }
    for (pt_u32 i = 0; i < gzip->n_blocks; i++) {
        free(gzip->blocks[i].plain);
        free(gzip->blocks[i].packed);
        free(gzip->blocks[i].window);
    }
    pthread_mutex_destroy(&gzip->lock);
    pthread_cond_destroy(&gzip->ready);
    pthread_cond_destroy(&gzip->done);
    free(gzip);
}
