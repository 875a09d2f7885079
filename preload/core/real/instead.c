/* SPDX-License-Identifier: MIT
 *
 * instead.c - functions of a newer libc that are one system call.
 *
 * Entered by any thread, signal handler or vfork child, in the place of libc's function. Its calls are the program's
 * own: it makes them whatever our switches say.
 */
#include "instead.h"

#include <errno.h>
#include <limits.h>
#include <sys/resource.h>

#include "core/sys.h"
#include "core/text.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif

#define MOST_DESCRIPTORS (1u << 20) /* of a process, unless root has raised fs.nr_open */

/* Distances from the row itself: pointers would be relocated when each process starts. */
struct row {
    pt_i32 name;
    pt_i32 function;
};
extern const struct row __start_pt_instead[] __attribute__((visibility("hidden")));
extern const struct row __stop_pt_instead[] __attribute__((visibility("hidden")));

static int in_errno(long result)
{
    if (result < 0)
        errno = (int)-result;
    return result < 0 ? -1 : (int)result;
}

/* Before Linux 5.9 one by one, as far as the limit lets descriptors be. */
static long close_from(int first)
{
    const unsigned from = first > 0 ? (unsigned)first : 0;
    struct rlimit limit;
    if (pt_syscall3(SYS_close_range, from, UINT_MAX, 0) >= 0 ||
        pt_syscall4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &limit) < 0)
        return 0;
    for (unsigned fd = from; fd < limit.rlim_cur && fd < MOST_DESCRIPTORS; fd++)
        pt_syscall1(SYS_close, fd);
    return 0;
}

/* Each parameter is passed on as it came: the kernel looks at as much of a register as its call's type says. */
#define INSTEAD(name, parameters, result)                                                                              \
    __attribute__((used)) static int instead_of_##name parameters                                                      \
    {                                                                                                                  \
        return in_errno(result);                                                                                       \
    }                                                                                                                  \
    __asm__(".pushsection pt_instead, \"a\", @progbits\n.balign 4\n"                                                   \
            ".long 771f - ., instead_of_" #name " - .\n.popsection\n"                                                  \
            ".pushsection .rodata.pt_instead, \"a\", @progbits\n771: .asciz \"" #name "\"\n.popsection");

#include "instead.def"
#undef INSTEAD

static const void *at(const pt_i32 *distance)
{
    return (const char *)distance + *distance;
}

void *pt_instead_of(const char *name)
{
    for (const struct row *row = __start_pt_instead; row < __stop_pt_instead; row++)
        if (pt_text_equal(at(&row->name), name))
            return (void *)(pt_u64)at(&row->function);
    return 0;
}
