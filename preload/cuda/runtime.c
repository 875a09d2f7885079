/* SPDX-License-Identifier: MIT
 *
 * runtime.c - finds the libcudart behind a call, and all its functions at once.
 *
 * Entered by the first call of each module that uses the CUDA runtime, mostly from its constructor, with no lock of
 * ours held. Loads nothing: whoever calls a function of libcudart was linked with it, so it is there, but maybe not in
 * the scope that RTLD_NEXT sees, and maybe beside another version. What a version does not have answers "unknown
 * error", as nobody who was linked with that version calls it.
 */
#include "runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>

#define CUDARTS 4u
#define CUDA_ERROR_UNKNOWN 999
#define SONAME "libcudart.so"

static struct pt_cudart cudarts[CUDARTS];
struct pt_cudart_caller pt_cudart_callers[PT_CUDART_CALLERS];
pt_u32 pt_cudart_n_callers;

#define NAME_TWIN_none(name)
#define NAME_TWIN_ptsz(name) #name "_ptsz",
#define NAME_TWIN_ptds(name) #name "_ptds",
static const char *const names[PT_CUDART_COUNT] = {
#define WRAP(name, twin, parameters, arguments, record) #name, NAME_TWIN_##twin(name)
#define WRAP_WAIT WRAP
#define OBSERVE(name) #name,
#include "wrappers.def"
#undef WRAP
#undef WRAP_WAIT
#undef OBSERVE
};

static int missing(void)
{
    return CUDA_ERROR_UNKNOWN;
}

static int starts_with(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix)
        text++, prefix++;
    return !*prefix;
}

/* The name is one of ours when it ends in libcudart.so and a version; a cudart with a hash in its name, as bundlers of
 * wheels make them, does, too: libcudart-9335f6a2.so.12. */
static int is_cudart(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return starts_with(name, SONAME) || starts_with(name, "libcudart-");
}

/* ---- which library ---- */

/* What a module says that it needs. */
static const char *needed_cudart(const struct link_map *map)
{
    const char *strings = 0;
    for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB) /* ld.so has made it an address */
            strings = (const char *)d->d_un.d_ptr;
    for (const ElfW(Dyn) *d = map->l_ld; strings && (pt_u64)strings >= map->l_addr && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && is_cudart(strings + d->d_un.d_val))
            return strings + d->d_un.d_val;
    return 0;
}

static int take_cudart(struct dl_phdr_info *info, size_t size, void *ret)
{
    (void)size;
    if (!info->dlpi_name || !is_cudart(info->dlpi_name))
        return 0;
    *(const char **)ret = info->dlpi_name;
    return 1;
}

/* A handle of a library that is loaded; it stays loaded then, as its functions are remembered. */
static void *loaded(const char *name)
{
    return name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : 0;
}

static void *library_for(const struct link_map *map)
{
    void *library = map ? loaded(needed_cudart(map)) : 0;
    Dl_info info;
    void *next = library ? 0 : dlsym(RTLD_NEXT, "cudaRuntimeGetVersion");
    if (next && dladdr(next, &info))
        library = loaded(info.dli_fname);
    if (!library) {
        const char *any = 0;
        dl_iterate_phdr(take_cudart, &any);
        library = loaded(any);
    }
    return library;
}

/* ---- its functions ---- */

static void fill(struct pt_cudart *cudart)
{
    for (pt_u32 i = 0; i < PT_CUDART_COUNT; i++) {
        void *found = cudart->library ? dlsym(cudart->library, names[i]) : 0;
        __atomic_store_n(&cudart->functions[i], found ? found : (void *)missing, __ATOMIC_RELAXED);
    }
    dlerror(); /* what this version does not have is no news for the program */
    __atomic_store_n(&cudart->ready, 1, __ATOMIC_RELEASE);
}

static const struct pt_cudart *cudart_of(void *library)
{
    static struct pt_cudart none;
    for (pt_u32 i = 0; library && i < CUDARTS; i++) {
        void *holder = 0;
        if (!__atomic_compare_exchange_n(&cudarts[i].library, &holder, library, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE) &&
            holder != library)
            continue;
        if (!__atomic_load_n(&cudarts[i].ready, __ATOMIC_ACQUIRE))
            fill(&cudarts[i]); /* by two threads at once, too: they find the same */
        return &cudarts[i];
    }
    if (!none.ready)
        fill(&none);
    return &none;
}

/* ---- callers ---- */

struct module {
    const struct link_map *map;
    pt_u64 start, end;
};

/* glibc before 2.35 does not know a module's end: then a page at a time. */
static struct module module_at(const void *address)
{
    struct module module = {0, (pt_u64)address & ~4095ull, ((pt_u64)address & ~4095ull) + 4096};
    struct dl_find_object object;
    if (_dl_find_object((void *)(pt_u64)address, &object) == 0) {
        module.map = object.dlfo_link_map;
        module.start = (pt_u64)object.dlfo_map_start;
        module.end = (pt_u64)object.dlfo_map_end;
        return module;
    }
    Dl_info info;
    struct link_map *map = 0;
    if (dladdr1(address, &info, (void **)(void *)&map, RTLD_DL_LINKMAP))
        module.map = map;
    return module;
}

static void remember(const struct module *module, const struct pt_cudart *cudart)
{
    static pt_u32 taken;
    const pt_u32 i = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
    if (i >= PT_CUDART_CALLERS) {
        __atomic_store_n(&taken, PT_CUDART_CALLERS, __ATOMIC_RELAXED);
        return; /* looked up at each call */
    }
    pt_cudart_callers[i].cudart = cudart;
    pt_cudart_callers[i].start = module->start;
    __atomic_store_n(&pt_cudart_callers[i].bytes, module->end - module->start, __ATOMIC_RELEASE);
    __atomic_fetch_add(&pt_cudart_n_callers, 1, __ATOMIC_RELEASE);
}

const struct pt_cudart *pt_cudart_look_up(const void *caller)
{
    const int error = errno; /* the loader's business is not the program's */
    const struct module module = module_at(caller);
    void *library = library_for(module.map);
    const struct pt_cudart *cudart = cudart_of(library);
    if (module.map && library)
        remember(&module, cudart);
    errno = error;
    return cudart;
}
