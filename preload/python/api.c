/* SPDX-License-Identifier: MIT
 *
 * api.c - finds CPython's functions by the dynamic symbols of what is loaded.
 *
 * Entered by the constructor, and by any thread of the host that meets a new name. Reads the symbol tables itself:
 * dlsym would find nothing in a libpython that was loaded for its loader only (RTLD_LOCAL), would leave its failures
 * for the host's dlerror, and a handle would have to wait for whoever is loading a library. Never loads anything.
 */
#include "api.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "core/text.h"

struct pt_python_api pt_python_api;

struct symbols {
    pt_u64 bias;
    const ElfW(Sym) * symbols;
    const char *strings;
    const pt_u32 *hash; /* DT_GNU_HASH */
};

/* The loader has made addresses of the offsets of most. */
static pt_u64 address_of(pt_u64 bias, const ElfW(Dyn) * entry)
{
    return entry->d_un.d_ptr >= bias ? entry->d_un.d_ptr : entry->d_un.d_ptr + bias;
}

static int read_dynamic(struct symbols *ret, const struct dl_phdr_info *info)
{
    const ElfW(Dyn) *entry = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    *ret = (struct symbols){.bias = info->dlpi_addr};
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            ret->symbols = (const ElfW(Sym) *)address_of(ret->bias, entry);
        else if (entry->d_tag == DT_STRTAB)
            ret->strings = (const char *)address_of(ret->bias, entry);
        else if (entry->d_tag == DT_GNU_HASH)
            ret->hash = (const pt_u32 *)address_of(ret->bias, entry);
    }
    return ret->symbols && ret->strings && ret->hash ? 0 : -1;
}

static const ElfW(Sym) * find(const struct symbols *in, const char *name)
{
    enum { BLOOM_WORD_BITS = 64 };
    pt_u32 hash = 5381;
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (pt_u8)*at;
    const pt_u32 n_buckets = in->hash[0], first = in->hash[1], n_bloom = in->hash[2], shift = in->hash[3];
    const pt_u64 *bloom = (const pt_u64 *)(const void *)(in->hash + 4);
    const pt_u32 *buckets = (const pt_u32 *)(bloom + n_bloom), *chain = buckets + n_buckets;
    const pt_u64 bits = 1ull << hash % BLOOM_WORD_BITS | 1ull << (hash >> shift) % BLOOM_WORD_BITS;
    if (!n_buckets || !n_bloom || (bloom[hash / BLOOM_WORD_BITS % n_bloom] & bits) != bits)
        return 0;
    for (pt_u32 i = buckets[hash % n_buckets]; i >= first; i++) {
        const pt_u32 entry = chain[i - first];
        const ElfW(Sym) *symbol = &in->symbols[i];
        if ((entry | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            pt_text_equal(in->strings + symbol->st_name, name))
            return symbol;
        if (entry & 1)
            break;
    }
    return 0;
}

struct row {
    const char *name;
    pt_u32 offset;
    pt_u32 is_optional;
};

static const struct row rows[] = {
#define ROW(name, is_optional) {#name, __builtin_offsetof(struct pt_python_api, name), is_optional},
#define FUNCTION(type, name, parameters) ROW(name, 0)
#define OPTIONAL(type, name, parameters) ROW(name, 1)
#define OBJECT(name) ROW(name, 0)
#include "api.def"
#undef FUNCTION
#undef OPTIONAL
#undef OBJECT
};

static enum pt_python_found resolve(const struct symbols *in, const char *library, pt_u64 runtime_bytes)
{
    int is_whole = 1;
    for (pt_u32 i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ElfW(Sym) *symbol = find(in, rows[i].name);
        const pt_u64 address = symbol ? in->bias + symbol->st_value : 0;
        __builtin_memcpy((char *)&pt_python_api + rows[i].offset, &address, sizeof address);
        is_whole &= symbol || rows[i].is_optional;
    }
    pt_python_api.runtime_bytes = runtime_bytes;
    pt_python_api.library = library;
    if (!pt_python_api.Py_IsFinalizing)
        pt_python_api.Py_IsFinalizing = pt_python_api._Py_IsFinalizing;
    is_whole &= pt_python_api.Py_IsFinalizing != 0;
    return is_whole ? PT_PYTHON_FOUND : PT_PYTHON_UNFIT;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *ret)
{
    static pt_u64 last_adds; /* of two threads at once, both look */
    enum pt_python_found *found = ret;
    struct symbols symbols;
    if (*found == PT_PYTHON_UNCHANGED) {
        if (size < sizeof *info || info->dlpi_adds == last_adds)
            return 1;
        last_adds = info->dlpi_adds;
        *found = PT_PYTHON_ABSENT;
    }
    const ElfW(Sym) *runtime = read_dynamic(&symbols, info) == 0 ? find(&symbols, "_PyRuntime") : 0;
    if (!runtime)
        return 0;
    *found = resolve(&symbols, info->dlpi_name, runtime->st_size);
    return 1;
}

enum pt_python_found pt_python_api_find(void)
{
    enum pt_python_found found = PT_PYTHON_UNCHANGED;
    dl_iterate_phdr(look_into, &found);
    return found;
}

/* Python, too, loads libraries while it holds the GIL: no order of locks is new. */
void pt_python_api_pin(void)
{
    if (pt_python_api.library && *pt_python_api.library)
        dlopen(pt_python_api.library, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
