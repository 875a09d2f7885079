/* SPDX-License-Identifier: MIT
 *
 * kernel_names.c - watches modules register their kernels, so that launches have names without CUPTI.
 *
 * Entered by constructors of modules that hold CUDA code: 100 000 registrations are not rare, so a name is not copied
 * at registration: it becomes an id at its first launch. The table is lock-free and only grows; a module that is loaded
 * where another was overwrites its entries. Never reads a name in a module that was unloaded.
 */
#include "kernel_names.h"

#include "core/emit.h"
#include "core/names/intern_name.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "runtime.h"

#define LEVELS 3u
#define PROBES 16u
#define IS_ID (1ull << 63)

struct entry {
    pt_u64 function; /* address or handle; 0 = free */
    pt_u64 name;     /* address of the text, or IS_ID | id */
};

static const pt_u32 level_slots[LEVELS] = {1024, 1u << 17, 1u << 21};
static struct entry first_level[1024];
static struct entry *levels[LEVELS] = {first_level};

static struct entry *level_at(pt_u32 level, int is_to_write)
{
    struct entry *table = __atomic_load_n(&levels[level], __ATOMIC_ACQUIRE);
    if (table || !is_to_write || !pt_may_call())
        return table;
    const pt_u64 bytes = level_slots[level] * sizeof *table;
    table = pt_sys_memory(bytes);
    struct entry *none = 0;
    if (table && !__atomic_compare_exchange_n(&levels[level], &none, table, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        pt_syscall2(SYS_munmap, table, bytes);
        table = none;
    }
    return table;
}

static struct entry *entry_of(const void *function, int is_to_write)
{
    const pt_u64 key = (pt_u64)function, hash = key * 0x9e3779b97f4a7c15ull;
    for (pt_u32 level = 0; key && level < LEVELS; level++) {
        struct entry *table = level_at(level, is_to_write);
        if (!table)
            return 0;
        for (pt_u32 probe = 0; probe < PROBES; probe++) {
            struct entry *entry = &table[(pt_u32)((hash >> 40) + probe) & (level_slots[level] - 1)];
            pt_u64 found = __atomic_load_n(&entry->function, __ATOMIC_ACQUIRE);
            if (!found && !is_to_write)
                return 0;
            if (!found)
                __atomic_compare_exchange_n(&entry->function, &found, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
            if (!found || found == key)
                return entry;
        }
    }
    return 0;
}

static void set_name(const void *function, pt_u64 name)
{
    struct entry *entry = name ? entry_of(function, 1) : 0;
    if (entry)
        __atomic_store_n(&entry->name, name, __ATOMIC_RELEASE);
}

static pt_u64 name_of(const void *function)
{
    const struct entry *entry = entry_of(function, 0);
    return entry ? __atomic_load_n(&entry->name, __ATOMIC_ACQUIRE) : 0;
}

pt_u32 pt_kernel_name(const void *function)
{
    const pt_u64 name = name_of(function);
    if (!name || name & IS_ID)
        return (pt_u32)name;
    if (!pt_is_in_module(name)) /* it was unloaded and the handle belongs to another module now: reading there would
                                   crash the program */
        return 0;
    const pt_u32 id = pt_intern_name(0, (const char *)name);
    if (id)
        set_name(function, IS_ID | id);
    return id;
}

static int is_watching(void)
{
    return pt_switches.cuda && !pt_switches.off;
}

PT_EXPORT void __cudaRegisterFunction(void **module, const char *function, char *device_function, const char *name,
                                      int thread_limit, void *tid, void *bid, void *block, void *grid, int *warp_size);
PT_EXPORT void __cudaRegisterFunction(void **module, const char *function, char *device_function, const char *name,
                                      int thread_limit, void *tid, void *bid, void *block, void *grid, int *warp_size)
{
    const struct pt_cudart *cudart = pt_cudart_of(__builtin_return_address(0));
    void (*const real)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *) =
        (void (*)(void **, const char *, char *, const char *, int, void *, void *, void *, void *,
                  int *))cudart->functions[PT_CUDART___cudaRegisterFunction];
    real(module, function, device_function, name, thread_limit, tid, bid, block, grid, warp_size);
    if (is_watching())
        set_name(function, (pt_u64)name);
}

#define GET_KERNEL(symbol)                                                                                             \
    PT_EXPORT int symbol(void **kernel, const void *function);                                                         \
    PT_EXPORT int symbol(void **kernel, const void *function)                                                          \
    {                                                                                                                  \
        const struct pt_cudart *cudart = pt_cudart_of(__builtin_return_address(0));                                    \
        int (*const real)(void **, const void *) =                                                                     \
            (int (*)(void **, const void *))cudart->functions[PT_CUDART_##symbol];                                     \
        const int result = real(kernel, function);                                                                     \
        if (result == 0 && is_watching())                                                                              \
            set_name(*kernel, name_of(function));                                                                      \
        return result;                                                                                                 \
    }

/* nvcc 13 asks for the handle once and launches by it. */
GET_KERNEL(__cudaGetKernel)
GET_KERNEL(cudaGetKernel)
