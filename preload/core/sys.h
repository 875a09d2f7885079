/* SPDX-License-Identifier: MIT
 *
 * sys.h - system calls of our own: not through libc, so they are never hooked, never touch errno and need no symbol.
 *
 * Each returns what the kernel returned: a value, or minus errno.
 */
#ifndef PT_CORE_SYS_H
#define PT_CORE_SYS_H

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "compiler.h"
#include "valgrind.h"

PT_ALWAYS_INLINE long pt_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#define pt_syscall4(number, a, b, c, d) pt_syscall6((number), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define pt_syscall3(number, a, b, c) pt_syscall6((number), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define pt_syscall2(number, a, b) pt_syscall6((number), (long)(a), (long)(b), 0, 0, 0, 0)
#define pt_syscall1(number, a) pt_syscall6((number), (long)(a), 0, 0, 0, 0, 0)
#define pt_syscall0(number) pt_syscall6((number), 0, 0, 0, 0, 0, 0)

PT_ALWAYS_INLINE void *pt_sys_map(pt_u64 bytes, int protection, int flags, int fd, pt_u64 offset)
{
    const long result = pt_syscall6(SYS_mmap, 0, (long)bytes, protection, flags, fd, (long)offset);
    return result < 0 && result > -4096 ? 0 : (void *)result;
}

/* Zeros of our own; only touched pages cost memory, and none is in the host's core file. NULL when the kernel refuses.
 */
static inline void *pt_sys_memory(pt_u64 bytes)
{
    void *memory = pt_sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory)
        pt_syscall3(SYS_madvise, memory, (bytes + 4095) & ~4095ul, MADV_DONTDUMP);
    return memory;
}

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* Such memory, made zeros again in a forked child. NULL also before Linux 4.14. */
static inline void *pt_sys_wiped(void *memory, pt_u64 bytes)
{
    if (memory && pt_syscall3(SYS_madvise, memory, (bytes + 4095) & ~4095ul, MADV_WIPEONFORK) != 0) {
        pt_syscall2(SYS_munmap, memory, bytes);
        memory = 0;
    }
    return memory;
}

static inline void *pt_sys_memory_wiped(pt_u64 bytes)
{
    return pt_sys_wiped(pt_sys_memory(bytes), bytes);
}

static inline pt_u64 pt_sys_clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    pt_syscall2(SYS_clock_gettime, clock, &now);
    return (pt_u64)now.tv_sec * 1000000000u + (pt_u64)now.tv_nsec;
}

/* What the kernel says when it is to read the eight bytes around an address: 0, -EFAULT, or that it does not know (or a
 * filter does not allow) the question. It reads a set before it looks at what is to be done with it: EFAULT, or EINVAL
 * for what it does not know. valgrind would print a line for each, and memcheck an error where the bytes were never
 * written: there the kernel is asked for the page (Linux 5.14). */
static inline long pt_sys_read_at(pt_u64 address)
{
    enum { NO_SUCH_HOW = -1, POPULATE_READ = 22 };
    if (pt_is_below_valgrind)
        return pt_syscall3(SYS_madvise, address & ~4095ull, 4096, POPULATE_READ);
    const long error = pt_syscall4(SYS_rt_sigprocmask, NO_SUCH_HOW, address & ~7ull, 0, 8);
    return error == -EINVAL ? 0 : error ? error : -EFAULT; /* NULL is no set: nothing was read */
}

static inline int pt_sys_is_readable(pt_u64 address)
{
    return pt_sys_read_at(address) == 0;
}

/* A mask that the kernel never has, with SIGKILL in it: nothing was blocked. A filter may refuse SIG_BLOCK and allow
 * SIG_SETMASK; restoring what was never read would open the host's mask. */
#define PT_SIGNALS_AS_THEY_WERE (1ull << (SIGKILL - 1))

/* Block all 64 signals (glibc's wrapper leaves 32 and 33, its cancel and setxid signals, open). */
PT_ALWAYS_INLINE pt_u64 pt_signals_block(void)
{
    const pt_u64 all = ~0ull;
    pt_u64 before = 0;
    return pt_syscall4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &before, 8) == 0 ? before : PT_SIGNALS_AS_THEY_WERE;
}

PT_ALWAYS_INLINE void pt_signals_restore(pt_u64 before)
{
    if (before != PT_SIGNALS_AS_THEY_WERE)
        pt_syscall4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &before, 0, 8);
}

#endif
