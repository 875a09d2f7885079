/* SPDX-License-Identifier: MIT
 *
 * cupti/library.c - finds the one libcupti that fits this program, and its functions.
 *
 * Called inside InitializeInjection, where the driver itself loads libraries, and by the stand-ins of arbiter.c. The
 * order matters: two libcuptis in one process refuse each other, so one that is mapped already comes first, then the
 * one beside the CUDA runtime that the program uses. Never linked, so that a program without CUDA loads nothing.
 */
#include "library.h"

#include <link.h>
#include <unistd.h>

#include "proftrace/cuda.h"
#include "core/real/may_be_missing.h"
#include "core/text.h"

struct major {
    int number;
    const char *cupti;
    const char *runtime;
};
#define ROW(number, cupti, runtime) {number, cupti, runtime},
static const struct major majors[] = {PT_CUPTI_MAJORS(ROW)};
#undef ROW
#define N_MAJORS (int)(sizeof majors / sizeof *majors)

static const char *const beside[] = {PT_CUPTI_BESIDE};
static const char *const homes[] = {PT_CUPTI_HOMES};
static const char *const below_home[] = {PT_CUPTI_BELOW_HOME};

/* The host may call dlerror after its own calls: the error that ours left is cleared. */
static void *open_quietly(const char *path, int flags)
{
    void *library = dlopen ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | flags) : 0;
    if (!library && dlerror)
        dlerror();
    return library;
}

static void *open_in(struct pt_cupti *c, const char *folder, pt_u64 length, const char *below, const char *name)
{
    struct pt_text path = {c->path, 0, sizeof c->path};
    for (pt_u64 i = 0; i < length; i++)
        pt_text_byte(&path, folder[i]);
    pt_text_add(&path, below);
    pt_text_add(&path, name);
    return path.length + 1 < path.room ? open_quietly(c->path, 0) : 0;
}

/* Look around the file from which `soname` was loaded. */
static void *open_beside(struct pt_cupti *c, const char *soname, const char *name)
{
    void *mapped = open_quietly(soname, RTLD_NOLOAD);
    struct link_map *map = 0;
    if (!mapped || dlinfo(mapped, RTLD_DI_LINKMAP, &map) != 0 || !map)
        return 0;
    pt_u64 length = pt_text_length(map->l_name);
    while (length && map->l_name[length - 1] != '/')
        length--;
    void *found = 0;
    for (pt_u64 i = 0; length && !found && i < sizeof beside / sizeof *beside; i++)
        found = open_in(c, map->l_name, length - 1, beside[i], name);
    dlclose(mapped);
    return found;
}

static void *open_at_home(struct pt_cupti *c, const char *variable, const char *name)
{
    const char *home = pt_text_value(environ, variable);
    void *found = 0;
    for (pt_u64 i = 0; home && *home && !found && i < sizeof below_home / sizeof *below_home; i++)
        found = open_in(c, home, pt_text_length(home), below_home[i], name);
    return found;
}

/* Behind the rows of the same runtime: until CUDA 11 each minor version of libcupti has one. */
static int end_of_major(int first)
{
    int end = first;
    while (end < N_MAJORS && majors[end].number == majors[first].number)
        end++;
    return end;
}

/* All rows at one place before the next place: what lies beside the runtime fits it, a newer minor version elsewhere
 * may not. */
static void *open_major(struct pt_cupti *c, int first)
{
    const int end = end_of_major(first);
    void *found = 0;
    for (int i = first; i < end && !found; i++)
        found = open_beside(c, majors[i].runtime, majors[i].cupti);
    for (int i = first; i < end && !found; i++)
        found = open_beside(c, PT_CUPTI_TORCH, majors[i].cupti);
    for (int i = first; i < end && !found; i++)
        found = open_quietly(majors[i].cupti, 0);
    for (pt_u64 j = 0; !found && j < sizeof homes / sizeof *homes; j++)
        for (int i = first; i < end && !found; i++)
            found = open_at_home(c, homes[j], majors[i].cupti);
    return found;
}

/* The CUDA version that the driver supports: a newer libcupti would not work with it. 0 = not known. */
static int driver_major(void)
{
    void *driver = open_quietly("libcuda.so.1", RTLD_NOLOAD);
    int (*get_version)(int *) = driver ? (int (*)(int *))dlsym(driver, "cuDriverGetVersion") : 0;
    int version = 0;
    if (!get_version || get_version(&version) != 0)
        version = 0;
    if (driver && !get_version)
        dlerror();
    return version / 1000;
}

static void *find_library(struct pt_cupti *c)
{
    void *found = 0;
    for (int i = 0; i < N_MAJORS && !found; i++)
        found = open_quietly(majors[i].cupti, RTLD_NOLOAD);
    for (int i = 0; i < N_MAJORS && !found; i = end_of_major(i)) {
        void *runtime = open_quietly(majors[i].runtime, RTLD_NOLOAD);
        if (runtime) {
            found = open_major(c, i);
            dlclose(runtime);
        }
    }
    const int driver = found ? 0 : driver_major();
    for (int i = 0; i < N_MAJORS && !found; i = end_of_major(i))
        if (!driver || majors[i].number <= driver)
            found = open_major(c, i);
    return found;
}

/* Where it was loaded from, for the report: there may be several on a machine. */
static void note_path(struct pt_cupti *c)
{
    struct link_map *map = 0;
    struct pt_text path = {c->path, 0, sizeof c->path};
    c->path[0] = 0;
    if (dlinfo(c->library, RTLD_DI_LINKMAP, &map) == 0 && map)
        pt_text_add(&path, map->l_name);
}

const char *pt_cupti_load(struct pt_cupti *c)
{
    c->library = find_library(c);
    if (!c->library)
        return "no libcupti was found: neither beside the CUDA runtime, nor by its name, nor below CUDA_HOME";
    note_path(c);
    const char *missing = 0;
#define FIND(name) c->api.name = (__typeof__(c->api.name))dlsym(c->library, #name)
#define REQUIRED(name, parameters)                                                                                     \
    if (!(FIND(name)))                                                                                                 \
        missing = "this libcupti has no " #name;
#define OPTIONAL(name, parameters) FIND(name);
#include "api.def"
#undef REQUIRED
#undef OPTIONAL
    dlerror();
    if (missing)
        return missing;
    if (c->api.cuptiGetVersion(&c->version) != PT_CUPTI_SUCCESS)
        return "this libcupti does not tell its version: cuptiGetVersion failed";
    if (c->version < PT_CUPTI_OLDEST)
        return "this libcupti is older than CUDA 11.0";
    return 0;
}

void *pt_cupti_function(const char *name)
{
    if (pt_cupti && pt_cupti->library)
        return dlsym(pt_cupti->library, name);
    void *function = dlsym ? dlsym(RTLD_NEXT, name) : 0;
    for (int i = 0; i < N_MAJORS && !function; i++) {
        void *library = open_quietly(majors[i].cupti, RTLD_NOLOAD);
        function = library ? dlsym(library, name) : 0;
    }
    if (!function && dlerror)
        dlerror();
    return function;
}
