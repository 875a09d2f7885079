/* SPDX-License-Identifier: MIT
 *
 * module.c - which ELF file an address belongs to, with its build-id, so that the analyzer can name functions later.
 *
 * Entered on the private stack. Uses glibc's _dl_find_object: lock-free and signal-safe. dl_iterate_phdr would take the
 * loader's lock and hang behind a dlopen. Keeps no pointer into the loader.
 */
#include "module.h"

#include <elf.h>
#include <link.h>

#include "core/file/area.h"
#include "core/file/image_state.h"
#include "core/real/may_be_missing.h"
#include "core/real/next.h"
#include "core/state.h"
#include "core/text.h"
#include "define.h"
#include "intern.h"

static int (*find_object)(void *, struct dl_find_object *);

/* CPython's state, the GIL included. A weak reference costs no lookup, and leaves nothing for the host's dlerror. */
extern char _PyRuntime[] __attribute__((weak));

/* operator new(size_t). No hook of ours: C++ libraries that are loaded later without ours among their names
 * (RTLD_LOCAL) would find it before their own, which we could not find. */
extern char _Znwm[] __attribute__((weak));

void pt_modules_init(void)
{
    void *found = pt_next_prepare() == 0 ? pt_next_find("_dl_find_object", 0)
                  : dlsym                ? dlsym(RTLD_DEFAULT, "_dl_find_object")
                                         : 0;
    find_object = (int (*)(void *, struct dl_find_object *))found;
    if (!find_object)
        pt_switches.stacks = 0; /* glibc before 2.35, or no glibc */
}

int pt_module_find(void *address, struct dl_find_object *ret)
{
    return find_object ? find_object(address, ret) : -1;
}

/* The latest that was here decides: a library may lie where another one was unloaded. */
static int is_known(const struct pt_known_module *one)
{
    const pt_u32 n = __atomic_load_n(&pt_image->n_modules, __ATOMIC_ACQUIRE);
    for (pt_u32 i = n < PT_MAX_MODULES ? n : PT_MAX_MODULES; i-- > 0;) {
        const struct pt_known_module *m = &pt_image->modules[i];
        const pt_u64 end = __atomic_load_n(&m->end, __ATOMIC_ACQUIRE);
        if (one->start < end && one->end > m->start)
            return one->start == m->start && one->end == end && one->path_hash == m->path_hash;
    }
    return 0;
}

static void remember(const struct pt_known_module *one)
{
    const pt_u32 i = __atomic_fetch_add(&pt_image->n_modules, 1, __ATOMIC_ACQ_REL);
    if (i >= PT_MAX_MODULES) {
        __atomic_store_n(&pt_image->n_modules, PT_MAX_MODULES, __ATOMIC_RELEASE);
        return;
    }
    pt_image->modules[i].start = one->start;
    pt_image->modules[i].path_hash = one->path_hash;
    __atomic_store_n(&pt_image->modules[i].end, one->end, __ATOMIC_RELEASE);
}

/* The build-id note, if the program headers and notes lie within the mapped range. */
static const pt_u8 *find_build_id(pt_u64 start, pt_u64 end, pt_u64 bias, pt_u32 *ret_bytes)
{
    const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)start;
    *ret_bytes = 0;
    if (end - start < sizeof *elf || __builtin_memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->e_phoff + (pt_u64)elf->e_phnum * sizeof(ElfW(Phdr)) > end - start)
        return 0;
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)(start + elf->e_phoff);
    for (int i = 0; i < elf->e_phnum; i++) {
        pt_u64 at = bias + headers[i].p_vaddr;
        const pt_u64 stop = at + headers[i].p_memsz;
        if (headers[i].p_type != PT_NOTE || at < start || stop > end)
            continue;
        while (at + sizeof(ElfW(Nhdr)) <= stop) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
            const pt_u64 name = at + sizeof *note, description = name + ((note->n_namesz + 3u) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && description + note->n_descsz <= stop) {
                *ret_bytes = note->n_descsz < 64 ? note->n_descsz : 64;
                return (const pt_u8 *)description;
            }
            at = description + ((note->n_descsz + 3u) & ~3u);
        }
    }
    return 0;
}

static const char *path_of(const struct link_map *map)
{
    if (map && map->l_name && map->l_name[0])
        return map->l_name;
    return pt_first_text(); /* the first text: the executable */
}

void pt_define_module_of(pt_u64 address, struct pt_known_module *last)
{
    struct dl_find_object object;
    if ((address >= last->start && address < last->end) || pt_module_find((void *)address, &object) != 0)
        return;
    const pt_u64 start = (pt_u64)object.dlfo_map_start, end = (pt_u64)object.dlfo_map_end;
    const pt_u64 bias = object.dlfo_link_map ? object.dlfo_link_map->l_addr : start;
    const char *path = path_of(object.dlfo_link_map);
    const pt_u32 path_bytes = (pt_u32)pt_text_length(path);
    *last = (struct pt_known_module){start, pt_hash_bytes(path, path_bytes, PT_DEF_MODULE), end};
    if (is_known(last))
        return;
    struct pt_def_module module = {.start = start, .end = end, .load_bias = bias, .path_bytes = path_bytes};
    const pt_u8 *build_id = find_build_id(start, end, bias, &module.build_id_bytes);
    struct pt_tracer_thread *t;
    char *payload = pt_define_begin(sizeof module + module.build_id_bytes + path_bytes, &t);
    if (!payload)
        return;
    __builtin_memcpy(payload, &module, sizeof module);
    if (build_id)
        __builtin_memcpy(payload + sizeof module, build_id, module.build_id_bytes);
    __builtin_memcpy(payload + sizeof module + module.build_id_bytes, path, path_bytes);
    pt_define_commit(t, payload, PT_DEF_MODULE, __atomic_add_fetch(&pt_image->n_module_ids, 1, __ATOMIC_RELAXED));
    remember(last);
}

void pt_define_python(void)
{
    if (_PyRuntime)
        pt_define_module_of((pt_u64)_PyRuntime, &(struct pt_known_module){0});
}

void pt_define_allocator(void)
{
    if (pt_switches.malloc == PT_MALLOC_OF_ANOTHER || pt_switches.malloc == PT_MALLOC_OF_PROGRAM)
        pt_define_module_of((pt_u64)pt_next_find_of_libc("malloc"), &(struct pt_known_module){0});
    else if (_Znwm && pt_next_prepare() == 0 && pt_next_are_together("malloc", "_Znwm"))
        pt_define_module_of((pt_u64)pt_next_find("malloc", 0), &(struct pt_known_module){0});
}
