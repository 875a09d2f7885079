/* SPDX-License-Identifier: MIT
 *
 * intern.c - the table of hashes behind all ids, and the strings among them.
 *
 * Entered from any hook. Lock-free: a slot goes from 0 to a hash once and never changes again; its index is the id. The
 * table is ordinary memory: a forked child inherits the ids, and the reader finds their definitions in the parent's
 * file (format.h rule 6).
 */
#include "intern.h"

#include "proftrace/redact.h"
#include "proftrace/redact_file.h"
#include "core/file/attach.h"
#include "core/file/image_state.h"
#include "core/private.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "core/text.h"
#include "define.h"

#define LEVELS 5u
#define STRING_MOST 4096u /* PATH_MAX */

/* The first level is for short processes: a few names anywhere in a larger table are a page each. */
static const pt_u32 level_slots[LEVELS] = {64, 4096, 65536, 1u << 20, 1u << 24};
static const pt_u32 level_probes[LEVELS] = {4, 16, 16, 16, 16};
static struct {
    pt_u64 slots[64];
} first_level; /* no array, which would lie in a page of its own */
static pt_u64 second_level[4096];
static pt_u64 *levels[LEVELS] = {first_level.slots, second_level};

/* Levels are mapped when they are first needed; a lost race unmaps. */
static pt_u64 *level_at(pt_u32 level)
{
    pt_u64 *table = __atomic_load_n(&levels[level], __ATOMIC_ACQUIRE);
    if (table || !pt_may_call())
        return table;
    const pt_u64 bytes = (pt_u64)level_slots[level] * sizeof *table;
    table = pt_sys_memory(bytes);
    pt_u64 *none = 0;
    if (table && !__atomic_compare_exchange_n(&levels[level], &none, table, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        pt_syscall2(SYS_munmap, table, bytes);
        table = none;
    }
    return table;
}

pt_u32 pt_intern_hash(pt_u64 hash, int *ret_is_new)
{
    pt_u32 before = 1;
    hash += !hash;
    *ret_is_new = 0;
    for (pt_u32 level = 0; level < LEVELS; level++) {
        pt_u64 *table = level_at(level);
        if (!table)
            return 0;
        for (pt_u32 probe = 0; probe < level_probes[level]; probe++) {
            const pt_u32 slot = (pt_u32)(hash >> 20 ^ hash) + probe;
            const pt_u32 index = slot & (level_slots[level] - 1);
            pt_u64 found = __atomic_load_n(&table[index], __ATOMIC_ACQUIRE);
            if (!found &&
                __atomic_compare_exchange_n(&table[index], &found, hash, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
                *ret_is_new = 1;
                return before + index;
            }
            if (found == hash)
                return before + index;
        }
        before += level_slots[level];
    }
    return 0;
}

/* Eight bytes at a time, multiply and fold: names are short, this is one of the costs of an open. */
pt_u64 pt_hash_bytes(const void *data, pt_u64 length, pt_u64 seed)
{
    const pt_u8 *p = data;
    pt_u64 hash = seed ^ length * 0x9e3779b97f4a7c15ull;
    for (; length >= 8; length -= 8, p += 8) {
        pt_u64 word;
        __builtin_memcpy(&word, p, 8);
        const unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0xd6e8feb86659fd93ull;
        hash = (pt_u64)product ^ (pt_u64)(product >> 64);
    }
    pt_u64 tail = 0;
    __builtin_memcpy(&tail, p, length);
    const unsigned __int128 product = (unsigned __int128)(hash ^ tail ^ 0xa0761d6478bd642full) * 0xe7037ed1a0b428dbull;
    return (pt_u64)product ^ (pt_u64)(product >> 64);
}

pt_u32 pt_intern_bytes(const char *bytes, pt_u64 length)
{
    if (!pt_image || pt_switches.off || !pt_local_is_ours()) /* whose definition nobody would write */
        return 0;
    length = length < STRING_MOST ? length : STRING_MOST;
    int is_new;
    const pt_u32 id = pt_intern_hash(pt_hash_bytes(bytes, length, PT_DEF_STRING), &is_new);
    if (is_new) {
        struct pt_tracer_thread *t;
        void *payload = pt_define_begin(length, &t);
        if (payload) {
            __builtin_memcpy(payload, bytes, length);
            pt_redact_file(payload, length);
            pt_define_commit(t, payload, PT_DEF_STRING, id);
        }
        if (pt_unlikely(pt_image->on_new_name))
            pt_image->on_new_name(bytes, length);
    }
    return id;
}

pt_u32 pt_intern_string(const char *string)
{
    /* A path that is too long was read by the kernel up to PATH_MAX: behind that there may be no memory. */
    return string ? pt_intern_bytes(string, pt_text_length_most(string, STRING_MOST)) : 0;
}

pt_u32 pt_intern_redacted(const char *string)
{
    struct pt_tracer_thread *t = string ? pt_thread_attached() : 0;
    if (!t)
        return 0;
    const pt_u64 mask =
        pt_may_call() ? pt_signals_block() : PT_SIGNALS_AS_THEY_WERE; /* the text buffer is the thread's */
    struct pt_redact_out text = {t->priv->text, 0, sizeof t->priv->text};
    pt_redact_command(&text, string);
    const pt_u32 id = pt_intern_bytes(text.bytes, text.length);
    pt_signals_restore(mask);
    return id;
}
