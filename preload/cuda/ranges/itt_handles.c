/* SPDX-License-Identifier: MIT
 *
 * itt_handles.c - ITT's domains, strings and counters by name.
 *
 * Since 2025 ITT leaves them to the tool, and libtorch asks for the string of every range that it opens, on any thread:
 * so a hash table without a lock, whose chains only grow. Never frees a handle, because programs keep them; they lie in
 * mappings of our own, which a forked child inherits.
 */
#include "itt_handles.h"

#include "core/state.h"
#include "core/sandbox.h"
#include "core/sys.h"

#define BUCKETS 4096u
#define CHUNK_BYTES (64u << 10)
#define CHUNKS_MOST 512u /* 32 MiB: a program that makes more names gets NULL */
#define NAME_MOST 1000u

enum kind { DOMAIN = 1, STRING = 2, COUNTER = 3 };

struct node {
    struct node *next;
    pt_u64 hash;
    union {
        struct pt_itt_domain domain;
        struct pt_itt_string string;
        struct pt_itt_counter counter;
    } handle;
};

struct chunk {
    pt_u64 used;
    char bytes[CHUNK_BYTES - sizeof(pt_u64)];
};

static struct node *buckets[BUCKETS];
static struct chunk *current;
static pt_u32 n_chunks;

static struct chunk *next_chunk(struct chunk *full)
{
    if (!pt_may_call() || __atomic_add_fetch(&n_chunks, 1, __ATOMIC_RELAXED) > CHUNKS_MOST)
        return 0;
    struct chunk *chunk = pt_sys_memory(sizeof *chunk);
    if (chunk && !__atomic_compare_exchange_n(&current, &full, chunk, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        pt_syscall2(SYS_munmap, chunk, sizeof *chunk);
        chunk = full; /* another thread's */
    }
    return chunk;
}

static void *allocate(pt_u64 bytes)
{
    struct chunk *chunk = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    bytes = (bytes + 15) & ~15ull;
    for (;;) {
        if (chunk) {
            const pt_u64 at = __atomic_fetch_add(&chunk->used, bytes, __ATOMIC_RELAXED);
            if (at + bytes <= sizeof chunk->bytes)
                return chunk->bytes + at;
        }
        if (!(chunk = next_chunk(chunk)))
            return 0;
    }
}

static pt_u64 length_of(const char *text)
{
    pt_u64 length = 0;
    while (text && length < NAME_MOST && text[length])
        length++;
    return length;
}

static pt_u64 mix(pt_u64 hash, const char *text, pt_u64 length)
{
    for (pt_u64 i = 0; i < length; i++)
        hash = (hash ^ (pt_u8)text[i]) * 0x100000001b3ull;
    return (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
}

static char *copy(char *at, const char *text, pt_u64 length)
{
    __builtin_memcpy(at, text, length);
    at[length] = 0;
    return at;
}

static struct node *make(enum kind kind, pt_u64 hash, const char *name, const char *domain, int type)
{
    const pt_u64 name_bytes = length_of(name), domain_bytes = length_of(domain);
    struct node *node = allocate(sizeof *node + name_bytes + domain_bytes + 2);
    if (!node)
        return 0;
    char *text = copy((char *)(node + 1), name, name_bytes);
    node->hash = hash;
    if (kind == DOMAIN) {
        node->handle.domain = (struct pt_itt_domain){.flags = 1, .name = text};
    } else if (kind == STRING) {
        node->handle.string = (struct pt_itt_string){.text = text};
    } else {
        node->handle.counter = (struct pt_itt_counter){.name = text, .type = type};
        if (domain)
            node->handle.counter.domain = copy(text + name_bytes + 1, domain, domain_bytes);
    }
    return node;
}

static struct node *find_or_make(enum kind kind, const char *name, const char *domain, int type)
{
    if (!name)
        return 0;
    pt_u64 hash = mix(0xcbf29ce484222325ull + kind * 64u + (pt_u32)type, name, length_of(name));
    hash = domain ? mix(hash, domain, length_of(domain)) : hash;
    struct node **bucket = &buckets[hash >> 40 & (BUCKETS - 1)];
    struct node *first = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    for (struct node *node = first; node; node = node->next)
        if (node->hash == hash)
            return node;
    struct node *node = make(kind, hash, name, domain, type);
    if (!node)
        return 0;
    /* Two threads that make the same name at once leave two handles of it, which does no harm. */
    do
        node->next = first;
    while (!__atomic_compare_exchange_n(bucket, &first, node, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return node;
}

struct pt_itt_domain *pt_itt_domain_create(const char *name)
{
    struct node *node = find_or_make(DOMAIN, name, 0, 0);
    return node ? &node->handle.domain : 0;
}

struct pt_itt_string *pt_itt_string_handle_create(const char *text)
{
    struct node *node = find_or_make(STRING, text, 0, 0);
    return node ? &node->handle.string : 0;
}

struct pt_itt_counter *pt_itt_counter_create(const char *name, const char *domain)
{
    return pt_itt_counter_create_typed(name, domain, PT_ITT_U64);
}

struct pt_itt_counter *pt_itt_counter_create_typed(const char *name, const char *domain, int type)
{
    struct node *node = find_or_make(COUNTER, name, domain, type);
    return node ? &node->handle.counter : 0;
}
