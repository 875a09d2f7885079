/* SPDX-License-Identifier: MIT
 *
 * real.c - finds the real functions: each at its first call, by reading; or all at once by dlsym, where that cannot be.
 *
 * pt_reals_prepare is entered by the constructor, or earlier by the first hooked call of another library's constructor;
 * pt_real_resolve by any thread, signal handler or vfork child. dlsym may itself allocate: the heap family then answers
 * from its boot arena. RTLD_NEXT, never a fixed libc name: the next malloc may be jemalloc's.
 */
#include "real.h"

#include <errno.h>

#include "instead.h"
#include "may_be_missing.h"
#include "next.h"

extern const struct pt_real __start_pt_reals[] __attribute__((visibility("hidden")));
extern const struct pt_real __stop_pt_reals[] __attribute__((visibility("hidden")));

/* A function that this libc does not have, and that is more than a system call: a program linked against it could not
 * have started, but dlsym may have found our hook of it.
 */
static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

int pt_real_is_missing(const void *function)
{
    return function == (const void *)missing;
}

static const void *at(const pt_i32 *distance)
{
    return (const char *)distance + *distance;
}

static const char *version_of(const struct pt_real *real)
{
    const char *version = at(&real->version);
    return *version ? version : 0;
}

static void *ask_loader(const struct pt_real *real)
{
    const char *version = version_of(real);
    return version && dlvsym ? dlvsym(RTLD_NEXT, at(&real->name), version)
           : dlsym           ? dlsym(RTLD_NEXT, at(&real->name))
                             : 0;
}

static void set(const struct pt_real *real, void *found)
{
    if (!found)
        found = pt_instead_of(at(&real->name));
    __atomic_store_n((void **)(pt_u64)at(&real->slot), found ? found : (void *)missing, __ATOMIC_RELEASE);
}

void pt_reals_prepare(void)
{
    static pt_u32 is_to_be_done = 1; /* in a page that is written to anyway */
    if (!__atomic_load_n(&is_to_be_done, __ATOMIC_ACQUIRE))
        return;
    if (pt_next_prepare() < 0)
        for (const struct pt_real *real = __start_pt_reals; real < __stop_pt_reals; real++)
            set(real, ask_loader(real));
    __atomic_store_n(&is_to_be_done, 0, __ATOMIC_RELEASE);
}

void pt_real_resolve(const struct pt_real *real)
{
    pt_reals_prepare();
    set(real, pt_next_prepare() == 0 ? pt_next_find(at(&real->name), version_of(real)) : ask_loader(real));
}
