/* SPDX-License-Identifier: MIT
 *
 * replay.c - delivers the raw buffers of a file, captured on a GPU, through the callbacks that a client has registered.
 *
 * The file that FAKECUDA_REPLAY names is a row of blocks, little-endian:
 *
 *     PFCB <u64 bytes> <bytes>                    a buffer as CUPTI completed it
 *     RLEN <u32 kind> <u32 bytes>                 how long records of a kind are
 *     NAME <u64 pointer> <u32 bytes> <bytes>      what a pointer in a record pointed to
 *
 * Pointers in records are replaced by pointers to the names; one without a name becomes NULL. Flushing delivers.
 */
#include "machine.h"
#include <stdio.h>
#include <stdlib.h>

enum { KINDS_MAX = 256, NAMES_MAX = 65536, BUFFERS_MAX = 4096 };

struct block {
    uint8_t *data;
    uint32_t bytes;
};
static uint32_t lengths[KINDS_MAX];
static struct {
    uint64_t pointer;
    char *text;
} names[NAMES_MAX];
static struct block buffers[BUFFERS_MAX];
static size_t n_names, n_buffers, next_buffer;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Noreturn void refuse(const char *path, const char *why)
{
    fprintf(stderr, "fakecuda: cannot replay %s: %s\n", path, why);
    abort();
}

static void take(FILE *file, const char *path, void *data, size_t bytes)
{
    if (fread(data, 1, bytes, file) != bytes)
        refuse(path, "the file ends within a block");
}

static uint8_t *take_bytes(FILE *file, const char *path, uint32_t bytes)
{
    uint8_t *data = aligned_alloc(8, (bytes + 16u) / 8 * 8);
    take(file, path, data, bytes);
    data[bytes] = 0;
    return data;
}

static const char *name_of(uint64_t pointer)
{
    for (size_t i = 0; i < n_names; i++)
        if (names[i].pointer == pointer)
            return names[i].text;
    return NULL;
}

static void read_block(FILE *file, const char *path, const char *tag)
{
    uint32_t two[2];
    uint64_t bytes, pointer;
    if (!memcmp(tag, "PFCB", 4) && n_buffers < BUFFERS_MAX) {
        take(file, path, &bytes, 8);
        if (bytes > UINT32_MAX / 2)
            refuse(path, "a buffer of more than 2 GB");
        buffers[n_buffers].data = take_bytes(file, path, (uint32_t)bytes);
        buffers[n_buffers++].bytes = (uint32_t)bytes;
    } else if (!memcmp(tag, "RLEN", 4)) {
        take(file, path, two, 8);
        if (two[0] >= KINDS_MAX)
            refuse(path, "a kind beyond 255");
        lengths[two[0]] = two[1];
    } else if (!memcmp(tag, "NAME", 4) && n_names < NAMES_MAX) {
        take(file, path, &pointer, 8);
        take(file, path, two, 4);
        char *text = (char *)take_bytes(file, path, two[0]);
        if (name_of(pointer)) { /* captures repeat a name with each record */
            free(text);
            return;
        }
        names[n_names].pointer = pointer;
        names[n_names++].text = text;
    } else {
        refuse(path, "no PFCB, RLEN or NAME block, or too many of them");
    }
}

/* Where records of a kind hold a pointer to text; 0: nowhere. */
static uint32_t name_offset(uint32_t kind)
{
    switch (kind) {
    case FG_KIND_KERNEL:
    case FG_KIND_CONCURRENT_KERNEL:
        return 104;
    case FG_KIND_DEVICE:
        return 136;
    case FG_KIND_MEMORY2:
        return 64;
    default:
        return 0;
    }
}

static void resolve_names(struct block *buffer)
{
    for (uint32_t at = 0, kind; at + sizeof kind <= buffer->bytes; at += lengths[kind]) {
        memcpy(&kind, buffer->data + at, sizeof kind);
        if (kind >= KINDS_MAX || !lengths[kind])
            return;
        uint64_t pointer;
        const uint32_t offset = name_offset(kind);
        if (!offset || at + offset + sizeof pointer > buffer->bytes)
            continue;
        memcpy(&pointer, buffer->data + at + offset, sizeof pointer);
        const char *text = name_of(pointer);
        if (text && kind == FG_KIND_DEVICE)
            text = strdup(text); /* the client frees it */
        pointer = (uintptr_t)text;
        memcpy(buffer->data + at + offset, &pointer, sizeof pointer);
    }
}

static void read_file(void)
{
    const char *path = getenv("FAKECUDA_REPLAY");
    char tag[4];
    if (!path || !*path)
        return;
    FILE *file = fopen(path, "rb");
    if (!file)
        refuse(path, "cannot open it");
    while (fread(tag, 1, sizeof tag, file) == sizeof tag)
        read_block(file, path, tag);
    fclose(file);
    for (size_t i = 0; i < n_buffers; i++)
        resolve_names(&buffers[i]);
}

uint32_t fg_replayed_length(uint32_t kind)
{
    pthread_once(&once, read_file);
    return kind < KINDS_MAX ? lengths[kind] : 0;
}

void fg_replay(void)
{
    pthread_once(&once, read_file);
    for (;;) {
        uint8_t *data = NULL;
        size_t bytes = 0;
        pthread_mutex_lock(&lock);
        struct block *block = next_buffer < n_buffers ? &buffers[next_buffer] : NULL;
        if (block)
            next_buffer++;
        pthread_mutex_unlock(&lock);
        if (!block)
            return;
        fg_call_request(&data, &bytes);
        if (!data || bytes < block->bytes)
            refuse("a buffer", data ? "the client's is too small" : "the client gives none");
        memcpy(data, block->data, block->bytes);
        fg_call_complete(data, bytes, block->bytes);
    }
}
