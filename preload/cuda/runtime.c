/* SPDX-License-Identifier: MIT
 *
 * runtime.c - finds the libcudart behind a call, and all its functions at once.
 *
 * Entered by the first call of each module that uses the CUDA runtime, mostly from its constructor, with no lock of
 * ours held. Never loads a library: a module that calls a function of libcudart was linked with it, so it is loaded,
 * but maybe not in the scope that RTLD_NEXT sees, and maybe together with another version. A function that a version
 * lacks returns "unknown error"; no module that was linked with that version calls it. Where no libcudart is loaded, a
 * module asks by a weak reference whether there is CUDA: the answer is "no device".
 */
#include "runtime.h"

#include <elf.h>
#include <errno.h>
#include <link.h>

#include "core/real/may_be_missing.h"
#include "core/text.h"

#define CUDARTS 4u
#define CUDA_ERROR_NO_DEVICE 100
#define CUDA_ERROR_UNKNOWN 999
#define SONAME "libcudart.so"

static struct pt_cudart cudarts[CUDARTS];

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

static int no_device(void)
{
    return CUDA_ERROR_NO_DEVICE;
}

/* Is it a libcudart? Its name is libcudart.so and a version, or, as tools that bundle wheels write it, with a hash:
 * libcudart-9335f6a2.so.12. */
static int is_cudart(const char *path)
{
    const char *name = pt_text_base_name(path);
    return pt_text_starts(name, SONAME) || pt_text_starts(name, "libcudart-");
}

/* ---- which library ---- */

/* The libcudart that a module names as needed. */
static const char *needed_cudart(const struct link_map *map)
{
    const char *strings = 0;
    for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB) /* ld.so has replaced the offset by an address */
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

/* A handle of a library that is loaded already. The handle keeps it loaded, because we remember its functions. */
static void *loaded(const char *name)
{
    return dlopen && name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : 0;
}

static void *library_for(const char *needed)
{
    void *library = loaded(needed);
    Dl_info info;
    void *next = library || !dlsym ? 0 : dlsym(RTLD_NEXT, "cudaRuntimeGetVersion");
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
        void *found = cudart->library ? dlsym(cudart->library, names[i]) : (void *)no_device;
        __atomic_store_n(&cudart->functions[i], found ? found : (void *)missing, __ATOMIC_RELAXED);
    }
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

/* A module that calls, and the libcudart that it was linked with. The loader's answer is asked for at each call,
 * because a module may be unloaded and another one loaded in its place, with all its addresses: then the name of the
 * libcudart that it needs shows that it is another one. */
struct caller {
    const struct link_map *map;
    const void *dynamic;   /* map->l_ld */
    const char *needed;    /* where its strings name the libcudart; 0 = they do not */
    pt_u64 needed_text[2]; /* that name after "libcudart", where versions differ */
    const struct pt_cudart *cudart;
};
#define CALLERS 64u
static struct caller callers[CALLERS];
static pt_u32 n_callers;

static void read_needed(pt_u64 ret_text[2], const char *needed)
{
    __builtin_memcpy(ret_text, needed + sizeof "libcudart" - 1, 16);
}

static int is_caller(const struct caller *caller, const struct dl_find_object *object)
{
    if (__atomic_load_n(&caller->map, __ATOMIC_ACQUIRE) != object->dlfo_link_map ||
        caller->dynamic != object->dlfo_link_map->l_ld)
        return 0;
    if (!caller->needed)
        return 1;
    if (caller->needed < (const char *)object->dlfo_map_start ||
        caller->needed + 32 > (const char *)object->dlfo_map_end)
        return 0;
    pt_u64 text[2];
    read_needed(text, caller->needed);
    return text[0] == caller->needed_text[0] && text[1] == caller->needed_text[1];
}

static PT_NOINLINE const struct pt_cudart *look_up(const struct link_map *map)
{
    const int error = errno; /* the program must not see the loader's errno */
    const char *needed = map ? needed_cudart(map) : 0;
    void *library = library_for(needed);
    const struct pt_cudart *cudart = cudart_of(library);
    const pt_u32 i = library && map ? __atomic_fetch_add(&n_callers, 1, __ATOMIC_RELAXED) : CALLERS;
    if (i < CALLERS) {
        callers[i].dynamic = map->l_ld;
        callers[i].cudart = cudart;
        callers[i].needed = needed;
        if (needed)
            read_needed(callers[i].needed_text, needed);
        __atomic_store_n(&callers[i].map, map, __ATOMIC_RELEASE);
    } else if (library && map)
        __atomic_store_n(&n_callers, CALLERS, __ATOMIC_RELAXED); /* looked up at each call */
    if (dlerror)
        dlerror(); /* nor our failed lookups */
    errno = error;
    return cudart;
}

/* Code in no module, and all code with glibc before 2.35, which cannot find a module without a lock: one libcudart
 * for all of them. */
static PT_NOINLINE const struct pt_cudart *of_unknown_caller(void)
{
    static const struct pt_cudart *any;
    const struct pt_cudart *cudart = __atomic_load_n(&any, __ATOMIC_ACQUIRE);
    if (!cudart && (cudart = look_up(0))->library)
        __atomic_store_n(&any, cudart, __ATOMIC_RELEASE);
    return cudart;
}

int pt_is_in_module(pt_u64 address)
{
    struct dl_find_object object;
    return _dl_find_object((void *)address, &object) == 0;
}

const struct pt_cudart *pt_cudart_of(const void *address)
{
    struct dl_find_object object;
    if (_dl_find_object((void *)(pt_u64)address, &object) != 0 || !object.dlfo_link_map)
        return of_unknown_caller();
    const pt_u32 n = __atomic_load_n(&n_callers, __ATOMIC_RELAXED);
    for (pt_u32 i = 0; i < n && i < CALLERS; i++)
        if (is_caller(&callers[i], &object))
            return callers[i].cudart;
    return look_up(object.dlfo_link_map);
}
