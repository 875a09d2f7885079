/* SPDX-License-Identifier: MIT
 *
 * next.c - finds the functions behind ours in the objects that the program started with.
 *
 * pt_next_prepare is entered by the constructor, or earlier by the first hooked call of another library's constructor;
 * pt_next_find from anywhere, at any time: it only reads. The order is that of dlsym: the one in which the loader
 * mapped the objects. Those that are loaded later are not looked at, for they may go away, and all functions of a
 * family must come from one; but for the parts of an older libc.
 */
#include "next.h"

#include <elf.h>
#include <sys/auxv.h>

#include "core/text.h"
#include "symbol_table.h"

#define MOST_OBJECTS 64u

enum { USABLE, UNUSABLE, NOT_PREPARED };
static pt_u32 state = NOT_PREPARED;
static pt_u32 n_objects;
static struct pt_symbol_table objects[MOST_OBJECTS];

static const char threads_may_exist;
const char *pt_single_threaded = &threads_may_exist;

/* ld.so's list of what it has loaded; musl has none. Not dl_iterate_phdr, which the host may have a version of its own
 * of, and which waits for other threads. */
#pragma weak _r_debug

const struct link_map *pt_next_own_map(void)
{
    const struct link_map *map = &_r_debug ? _r_debug.r_map : 0;
    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map;
}

const void *pt_next_find_of_libc(const char *name)
{
    const pt_symbol *found = 0;
    struct pt_symbol_table table = {0};
    for (const struct link_map *map = pt_next_own_map() ? _r_debug.r_map : 0; map && !found; map = map->l_next)
        if (pt_symbol_table_read(&table, map->l_addr, map->l_ld) == 0)
            found = pt_symbol_find(&table, name, 0);
    return found && found->st_value ? (const void *)(table.base + found->st_value) : 0;
}

const struct link_map *pt_next_before_us(const char *name)
{
    const struct link_map *ours = pt_next_own_map();
    struct pt_symbol_table table = {0};
    for (const struct link_map *map = ours ? _r_debug.r_map : 0; map != ours; map = map->l_next)
        if (pt_symbol_table_read(&table, map->l_addr, map->l_ld) == 0 && pt_symbol_find(&table, name, 0))
            return map;
    return 0;
}

/* How many objects there are; 0 = not all can be read. */
static pt_u32 read_objects(void)
{
    const pt_u64 of_kernel = getauxval(AT_SYSINFO_EHDR);
    const struct link_map *map = pt_next_own_map();
    pt_u32 n = 0;
    for (map = map ? map->l_next : 0; map; map = map->l_next)
        if (map->l_addr != of_kernel &&
            (n == MOST_OBJECTS || pt_symbol_table_read(&objects[n++], map->l_addr, map->l_ld) < 0))
            return 0;
    return n;
}

int pt_next_prepare(void)
{
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == NOT_PREPARED) {
        const char *flag = pt_next_find_of_libc("__libc_single_threaded");
        if (flag)
            __atomic_store_n(&pt_single_threaded, flag, __ATOMIC_RELAXED);
        __atomic_store_n(&n_objects, read_objects(), __ATOMIC_RELEASE);
        __atomic_store_n(&state, pt_next_find("__libc_start_main", 0) ? USABLE : UNUSABLE, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&state, __ATOMIC_RELAXED) == USABLE ? 0 : -1;
}

/* NULL = it is no function. One with several forms (IFUNC) chooses when it is asked. */
static void *function_of(const struct pt_symbol_table *table, const pt_symbol *symbol)
{
    const pt_u32 type = ELF64_ST_TYPE(symbol->st_info);
    void *const address = (void *)(table->base + symbol->st_value);
    if (!symbol->st_value)
        return 0;
    if (type == STT_GNU_IFUNC)
        return ((void *(*)(void))address)();
    return type == STT_FUNC || type == STT_NOTYPE ? address : 0;
}

static void *find_in(const struct pt_symbol_table *table, const char *name, const char *version)
{
    const pt_symbol *symbol = pt_symbol_find(table, name, version);
    return symbol ? function_of(table, symbol) : 0;
}

/* Before glibc 2.34 threads and terminals are in libraries of their own, which a plugin may bring along: whoever calls
 * a function of theirs has them loaded, and they are never unloaded. */
static void *find_in_late_part(const char *name, const char *version)
{
    static const char parts[][16] = {"libpthread.so.0", "librt.so.1", "libutil.so.1"};
    void *found = 0;
    for (const struct link_map *map = pt_next_own_map(); map && !found; map = map->l_next)
        for (pt_u32 i = 0; i < sizeof parts / sizeof *parts && !found; i++) {
            struct pt_symbol_table table;
            if (pt_text_equal(pt_text_base_name(map->l_name), parts[i]) &&
                pt_symbol_table_read(&table, map->l_addr, map->l_ld) == 0)
                found = find_in(&table, name, version);
        }
    return found;
}

void *pt_next_find(const char *name, const char *version)
{
    void *found = 0;
    for (pt_u32 i = 0; i < n_objects && !found; i++)
        found = find_in(&objects[i], name, version);
    return found ? found : find_in_late_part(name, version);
}

static pt_u32 first_with(const char *name)
{
    pt_u32 i = 0;
    while (i < n_objects && !find_in(&objects[i], name, 0))
        i++;
    return i;
}

int pt_next_are_together(const char *a, const char *b)
{
    return first_with(a) == first_with(b);
}
