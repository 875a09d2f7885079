/* SPDX-License-Identifier: MIT
 *
 * space.c - growth of the trace file.
 *
 * Entered with signals blocked, from any thread. Never keeps a descriptor; never lets one appear among the host's:
 * another thread's dup2 onto it would send our bytes into the user's file. Never writes a page that was not allocated:
 * a full disk would be a SIGBUS in the host.
 */
#include "space.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include "core/kill_point.h"
#include "core/private.h"
#include "core/real/next.h"
#include "core/session.h"
#include "core/session_page.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/valgrind.h"
#include "image_state.h"
#include "reserve.h"

/* clone() that shares memory but not descriptors; the child runs fn on a stack of its own and exits. rcx and r11 belong
 * to the kernel, so fn and argument wait in callee-saved registers. */
long pt_clone_private_files(long flags, void *stack_top, void (*fn)(void *), void *argument);
__asm__(".pushsection .text.pt_clone_private_files,\"ax\",@progbits\n"
        ".globl pt_clone_private_files\n"
        ".hidden pt_clone_private_files\n"
        ".type pt_clone_private_files, @function\n"
        "pt_clone_private_files:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %r12\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r13\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    movq %rdx, %r12\n"
        "    movq %rcx, %r13\n"
        "    xorl %edx, %edx\n"
        "    xorl %r10d, %r10d\n"
        "    xorl %r8d, %r8d\n"
        "    movl $56, %eax\n"
        "    syscall\n"
        "    testq %rax, %rax\n"
        "    jnz 1f\n"
        "    .cfi_undefined %rip\n"
        "    xorl %ebp, %ebp\n"
        "    movq %r13, %rdi\n"
        "    call *%r12\n"
        "    xorl %edi, %edi\n"
        "    movl $60, %eax\n"
        "    syscall\n"
        "    hlt\n"
        "1:  popq %r13\n"
        "    popq %r12\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size pt_clone_private_files, .-pt_clone_private_files\n"
        ".popsection\n");

/* A debugger is not to see our child: it would report it, stop at "catch vfork", and follow it where it follows
 * children. But a tracer may be what finds our files (proot translates paths): a child that does not is seen again. */
enum view { VIEW_UNKNOWN, VIEW_UNTRACED, VIEW_OF_TRACER };
static enum view view;
static const char *witness; /* NULL: the run directory */

struct errand {
    void (*fn)(void *);
    void *argument;
};

static void run_untraced(void *argument)
{
    const struct errand *errand = argument;
    const char *known = witness ? witness : pt_session_path;
    if (view == VIEW_UNKNOWN)
        view = pt_syscall3(SYS_open, known, O_PATH | O_CLOEXEC, 0) < 0 ? VIEW_OF_TRACER : VIEW_UNTRACED;
    if (view == VIEW_UNTRACED)
        errand->fn(errand->argument);
}

/* A child, not a thread: that would be one more in /proc/self/task, a debugger that attaches meanwhile would stop it
 * while its maker cannot be stopped, and a breakpoint that it meets would end the program. The price: who asks for
 * RUSAGE_CHILDREN sees the program's own peak of memory, which is also the child's. */
static long run_once(long flags, void *top, void (*fn)(void *), void *argument)
{
    const long pid = pt_clone_private_files(CLONE_VM | CLONE_VFORK | flags, top, fn, argument);
    /* No exit signal: waitpid(-1) of the host never sees this child; only __WALL does. */
    if (pid > 0)
        pt_syscall4(SYS_wait4, pid, 0, 0x40000000 /* __WALL */, 0);
    return pid;
}

static long run_in_child(void *top, void (*fn)(void *), void *argument)
{
    struct errand errand = {fn, argument};
    const long pid = view == VIEW_OF_TRACER ? 0 : run_once(CLONE_UNTRACED, top, run_untraced, &errand);
    return view == VIEW_OF_TRACER ? run_once(0, top, fn, argument) : pid;
}

void pt_private_files_without_run(const char *known_file)
{
    witness = known_file;
}

static int has_locks;

void pt_private_files_for_locks(void)
{
    has_locks = 1;
}

/* Without PROFTRACE_IO nobody sees a lock. */
static int may_hold_locks(void)
{
    return has_locks || !pt_switches.io;
}

int pt_private_files(void (*fn)(void *), void *argument)
{
    return pt_private_files_on(0, fn, argument);
}

int pt_private_files_on(char *spare_top, void (*fn)(void *), void *argument)
{
    if (*pt_single_threaded && !(spare_top && may_hold_locks())) {
        fn(argument);
        return 0;
    }
    struct pt_tracer_thread *t = pt_self;
    const int is_ours = t->priv && pt_is_on_private_stack(t), is_claimed = t->priv && !is_ours && pt_claim(t);
    char *top = is_ours || is_claimed ? t->priv->inner_stack + sizeof t->priv->inner_stack : spare_top;
    const long error = top && !pt_switches.frozen ? run_in_child(top, fn, argument) : -1;
    if (is_claimed)
        pt_unclaim(t);
    return error < 0 ? -1 : 0;
}

struct growth {
    const char *path;
    pt_u64 offset;
    pt_u64 bytes;
    int is_new; /* allocate; else only map */
    void *map;
    long error;
};

/* File systems without fallocate (NFS, some overlays): write the zeros. */
static long write_zeros(int fd, pt_u64 offset, pt_u64 bytes)
{
    static const char zeros[4096];
    for (pt_u64 done = 0; done < bytes; done += sizeof zeros) {
        const long wrote = pt_syscall4(SYS_pwrite64, fd, zeros, sizeof zeros, offset + done);
        if (wrote != (long)sizeof zeros)
            return wrote < 0 ? wrote : -ENOSPC;
    }
    return 0;
}

/* Never below 5 % free. */
static long check_free_space(int fd)
{
    struct statfs fs;
    if (pt_syscall2(SYS_fstatfs, fd, &fs) == 0 && fs.f_blocks && fs.f_bavail < fs.f_blocks / 20)
        return -ENOSPC;
    return 0;
}

long pt_check_file_limit(pt_u64 end)
{
    struct rlimit limit;
    if (pt_syscall4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < end)
        return -EFBIG;
    return 0;
}

long pt_allocate(int fd, pt_u64 offset, pt_u64 bytes)
{
    long error = check_free_space(fd);
    if (!error)
        error = pt_syscall4(SYS_fallocate, fd, 0, offset, bytes);
    if (error == -EOPNOTSUPP || error == -ENOSYS)
        error = write_zeros(fd, offset, bytes);
    return pt_error_of_disk(error);
}

static void grow_file(void *argument)
{
    struct growth *g = argument;
    g->error = pt_check_file_limit(g->is_new ? g->offset + g->bytes : 0);
    if (g->error < 0)
        return;
    const long fd = pt_syscall3(SYS_open, g->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0) {
        g->error = fd;
        return;
    }
    if (g->is_new)
        g->error = pt_allocate((int)fd, g->offset, g->bytes);
    if (!g->error) {
        g->map = pt_sys_map(g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, g->offset);
        g->error = g->map ? 0 : -ENOMEM;
    }
    pt_syscall1(SYS_close, fd);
    if (g->map)
        pt_syscall3(SYS_madvise, g->map, g->bytes, MADV_DONTDUMP);
}

static void note_failure(long error)
{
    __atomic_fetch_add(&pt_image->header->growth_failures, 1, __ATOMIC_RELAXED);
    pt_image->header->growth_errno = (pt_i32)-error;
}

static void *map_range(pt_u64 offset, pt_u64 bytes, int is_new)
{
    struct growth g = {.path = pt_image->path, .offset = offset, .bytes = bytes, .is_new = is_new};
    g.map = is_new ? pt_reserve_grow(offset, bytes, &g.error) : pt_reserve_at(offset, bytes);
    if (!g.map && !g.error && pt_private_files(grow_file, &g) < 0)
        g.error = -EAGAIN;
    if (!g.map)
        note_failure(g.error);
    return g.map;
}

int pt_take_budget(pt_u64 bytes)
{
    return pt_session_take(bytes);
}

void pt_return_budget(pt_u64 bytes)
{
    pt_session_give_back(bytes);
}

/* A full disk is asked again after about a second, not at every event. But for less than it has refused it may have
 * room: a new thread's area is a fraction of a segment of the ring. */
#define RETRY_TICKS (1ull << 31)

int pt_space_is_refused(pt_u64 bytes)
{
    const pt_u64 refused_at = pt_image->refused_at;
    return pt_switches.frozen || pt_image->is_gone ||
           (refused_at && pt_clock() - refused_at < RETRY_TICKS && bytes >= pt_image->refused_bytes);
}

static void note_refusal(pt_u64 bytes)
{
    pt_image->refused_bytes = bytes;
    pt_image->refused_at = pt_clock();
}

void pt_space_note_refusal(pt_u64 bytes, long error)
{
    note_failure(error);
    note_refusal(bytes);
}

/* After the growth: what a kill or a full disk prevented, readers would take for the lost end of an intact file. */
static void note_grown(pt_u64 end)
{
    pt_u64 *grown = &pt_image->header->grown_bytes;
    pt_u64 known = __atomic_load_n(grown, __ATOMIC_RELAXED);
    while (known < end && !__atomic_compare_exchange_n(grown, &known, end, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static struct pt_space grow_by(pt_u64 bytes)
{
    struct pt_space space = {.bytes = bytes};
    if (pt_take_budget(bytes) < 0) {
        pt_image->header->growth_errno = EDQUOT;
        return space;
    }
    space.offset = __atomic_fetch_add(&pt_image->header->file_bytes, bytes, __ATOMIC_RELAXED);
    pt_kill_point("growth");
    space.map = map_range(space.offset, bytes, 1);
    if (space.map) {
        note_grown(space.offset + bytes);
    } else {
        pt_u64 end = space.offset +
                     bytes; /* only if no other thread has grown it since: a long time of a full disk leaves no hole */
        __atomic_compare_exchange_n(&pt_image->header->file_bytes, &end, space.offset, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
        pt_return_budget(bytes);
    }
    return space;
}

struct pt_space pt_space_grow(pt_u64 bytes, pt_u64 least)
{
    struct pt_space space = {0};
    if (pt_space_is_refused(least))
        return space;
    /* Whole pages: behind half a page nothing could be mapped any more. */
    for (; !space.map && bytes >= least; bytes = bytes / 2 & ~4095ull)
        space = grow_by(bytes);
    if (!space.map) /* not earlier: a smaller request of another thread would be refused because of this larger one */
        note_refusal(least);
    return space;
}

void *pt_space_map(pt_u64 offset, pt_u64 bytes)
{
    return map_range(offset, bytes, 0);
}

void pt_space_leave_to_none(void *map, pt_u64 bytes)
{
    if (!pt_is_below_valgrind) /* in the child it would not know */
        pt_syscall3(SYS_madvise, map, bytes, MADV_DONTFORK);
}
