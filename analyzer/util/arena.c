/* SPDX-License-Identifier: MIT
 *
 * arena.c - Owns: the chunks. Threads: one per arena. Never: frees a single block.
 */
#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

/* The first chunks are small: there may be a hundred thousand arenas with a few texts in each. */
enum { FIRST_BYTES = 1024 - 64, CHUNK_BYTES = 64 * 1024, ALIGN = 16 };

struct pt_arena_chunk {
    struct pt_arena_chunk *next;
    _Alignas(ALIGN) char bytes[];
};

void *pt_arena_alloc(struct pt_arena *arena, size_t bytes)
{
    const size_t rounded = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!arena->chunks || arena->capacity - arena->used < rounded) {
        const size_t wanted = !arena->chunks ? FIRST_BYTES : 2 * arena->capacity;
        const size_t usual = wanted < CHUNK_BYTES ? wanted : CHUNK_BYTES;
        const size_t capacity = rounded > usual ? rounded : usual;
        struct pt_arena_chunk *chunk = pt_malloc(sizeof *chunk + capacity);
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->used = 0;
        arena->capacity = capacity;
    }
    void *block = arena->chunks->bytes + arena->used;
    arena->used += rounded;
    return block;
}

char *pt_arena_text(struct pt_arena *arena, const void *bytes, size_t n)
{
    char *text = pt_arena_alloc(arena, n + 1);
    if (n)
        memcpy(text, bytes, n);
    text[n] = 0;
    return text;
}

const char *pt_arena_vformat(struct pt_arena *arena, const char *format, va_list arguments)
{
    char *text = NULL;
    const int length = vasprintf(&text, format, arguments);
    const char *copy = pt_arena_text(arena, length < 0 ? "" : text, length < 0 ? 0 : (size_t)length);
    if (length >= 0)
        free(text);
    return copy;
}

void pt_arena_fini(struct pt_arena *arena)
{
    struct pt_arena_chunk *chunk = arena->chunks;
    while (chunk) {
        struct pt_arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    *arena = (struct pt_arena){0};
}
