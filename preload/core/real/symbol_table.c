/* SPDX-License-Identifier: MIT
 *
 * symbol_table.c - finds a symbol through an object's hash table, as glibc's elf/dl-lookup.c does.
 *
 * Entered from anywhere, at any time. Never calls the loader, never writes.
 */
#include "symbol_table.h"

#include <elf.h>

#include "core/text.h"

#define HIDDEN_VERSION 0x8000u
#define LEAST_VERSION 2u /* 0 = local, 1 = of the object itself */
#define BLOOM_WORD_BITS 64

/* The loader has made addresses of the offsets of most. */
static const void *address_of(pt_u64 base, const ElfW(Dyn) * row)
{
    return (const void *)(row->d_un.d_ptr >= base ? row->d_un.d_ptr : row->d_un.d_ptr + base);
}

int pt_symbol_table_read(struct pt_symbol_table *ret, pt_u64 base, const ElfW(Dyn) * dynamic)
{
    *ret = (struct pt_symbol_table){.base = base};
    for (const ElfW(Dyn) *row = dynamic; row && row->d_tag != DT_NULL; row++) {
        if (row->d_tag == DT_SYMTAB)
            ret->symbols = address_of(base, row);
        else if (row->d_tag == DT_STRTAB)
            ret->strings = address_of(base, row);
        else if (row->d_tag == DT_GNU_HASH)
            ret->hash = address_of(base, row);
        else if (row->d_tag == DT_VERSYM)
            ret->versions = address_of(base, row);
        else if (row->d_tag == DT_VERDEF)
            ret->definitions = address_of(base, row);
    }
    return ret->symbols && ret->strings && ret->hash ? 0 : -1;
}

/* The name of a version that an object defines. */
static const char *version_name(const struct pt_symbol_table *table, pt_u32 index)
{
    const char *at = table->definitions;
    while (at) {
        const ElfW(Verdef) *definition = (const ElfW(Verdef) *)(const void *)at;
        if (definition->vd_ndx == index)
            return table->strings + ((const ElfW(Verdaux) *)(const void *)(at + definition->vd_aux))->vda_name;
        at = definition->vd_next ? at + definition->vd_next : 0;
    }
    return 0;
}

/* Without a wish, the one that is not hidden behind a newer one. An object without versions has the right one; of
 * others a symbol without one is not what dlvsym finds. */
static int is_right_version(const struct pt_symbol_table *table, pt_u32 symbol, const char *version)
{
    const pt_u32 index = table->versions ? table->versions[symbol] : 0, number = index & ~HIDDEN_VERSION;
    if (!version || !table->versions)
        return !(index & HIDDEN_VERSION);
    const char *name = number >= LEAST_VERSION ? version_name(table, number) : 0;
    return name && pt_text_equal(name, version);
}

static pt_u32 hash_of(const char *name)
{
    pt_u32 hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (pt_u8)*name;
    return hash;
}

const pt_symbol *pt_symbol_find(const struct pt_symbol_table *table, const char *name, const char *version)
{
    const pt_u32 hash = hash_of(name);
    const pt_u32 n_buckets = table->hash[0], first = table->hash[1], n_bloom = table->hash[2], shift = table->hash[3];
    const pt_u64 *bloom = (const pt_u64 *)(const void *)(table->hash + 4);
    const pt_u32 *buckets = (const pt_u32 *)(bloom + n_bloom), *chain = buckets + n_buckets;
    const pt_u64 bits = 1ull << hash % BLOOM_WORD_BITS | 1ull << (hash >> shift) % BLOOM_WORD_BITS;
    if (!n_buckets || !n_bloom || (bloom[hash / BLOOM_WORD_BITS % n_bloom] & bits) != bits)
        return 0;
    for (pt_u32 i = buckets[hash % n_buckets]; i >= first; i++) {
        const pt_u32 entry = chain[i - first];
        const pt_symbol *symbol = &table->symbols[i];
        if ((entry | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            pt_text_equal(table->strings + symbol->st_name, name) && is_right_version(table, i, version))
            return symbol;
        if (entry & 1)
            break;
    }
    return 0;
}
