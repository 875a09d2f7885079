/* SPDX-License-Identifier: MIT
 *
 * real.c - resolves all real functions in one pass.
 *
 * Entered by the constructor, or earlier by the first hooked call of another library's constructor. dlsym may itself
 * allocate: the heap family then answers from its boot arena. RTLD_NEXT, never a fixed libc name: the next malloc may
 * be jemalloc's.
 */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>

#pragma weak dlvsym /* musl has no versions; there we only stay out of the way */

extern const struct pt_real __start_pt_reals[] __attribute__((visibility("hidden")));
extern const struct pt_real __stop_pt_reals[] __attribute__((visibility("hidden")));

/* A function that this libc does not have: a program linked against it could not have started, but dlsym may have found
 * our hook of it.
 */
static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

static void *find(const struct pt_real *real)
{
    return real->version && dlvsym ? dlvsym(RTLD_NEXT, real->name, real->version) : dlsym(RTLD_NEXT, real->name);
}

void pt_reals_resolve(void)
{
    static pt_u32 done;
    if (__atomic_load_n(&done, __ATOMIC_ACQUIRE))
        return;
    for (const struct pt_real *real = __start_pt_reals; real < __stop_pt_reals; real++) {
        void *found = find(real);
        __atomic_store_n(real->slot, found ? found : (void *)missing, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
}
