/* SPDX-License-Identifier: MIT
 *
 * space.c - growth of the trace file and the ring of block segments.
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

#include "core/session.h"
#include "core/sys.h"
#include "slow.h"

#define FIRST_CHUNK_BYTES (256u << 10)
#define CHUNK_BYTES (1u << 20)
#define LEAST_CHUNK_BYTES (128u << 10) /* the worst block must fit */

/* Public in glibc 2.32 and later; 0 = maybe more than one thread. */
extern char __libc_single_threaded __attribute__((weak));

/* clone() that shares memory but not descriptors; the child runs fn on a stack of its own and exits. rcx and r11 belong
 * to the kernel, so fn and argument wait in callee-saved registers. */
long pt_clone_private_files(long flags, void *stack_top, void (*fn)(void *), void *argument);
__asm__(".pushsection .text\n"
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

int pt_private_files(void (*fn)(void *), void *argument)
{
    if (&__libc_single_threaded && __libc_single_threaded) {
        fn(argument);
        return 0;
    }
    struct pt_tracer_thread *t = pt_self;
    if (!t->priv || pt_switches.frozen)
        return -1;
    const int is_ours = pt_is_on_private_stack(t);
    if (!is_ours && !pt_claim(t))
        return -1;
    char *top = t->priv->helper_stack + sizeof t->priv->helper_stack;
    const long pid = pt_clone_private_files(CLONE_VM | CLONE_VFORK, top, fn, argument);
    if (!is_ours)
        pt_unclaim(t);
    if (pid < 0)
        return -1;
    /* No exit signal: waitpid(-1) of the host never sees this child; only __WALL does. */
    pt_syscall4(SYS_wait4, pid, 0, 0x40000000 /* __WALL */, 0);
    return 0;
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
            return wrote < 0 ? wrote : -28 /* ENOSPC */;
    }
    return 0;
}

/* Never below 5 % free. */
long pt_check_free_space(int fd)
{
    struct statfs fs;
    if (pt_syscall2(SYS_fstatfs, fd, &fs) == 0 && fs.f_blocks && fs.f_bavail < fs.f_blocks / 20)
        return -28 /* ENOSPC */;
    return 0;
}

/* Past RLIMIT_FSIZE fallocate raises SIGXFSZ, which would stay pending for the host: look first. */
static long check_file_limit(pt_u64 end)
{
    struct rlimit limit;
    if (pt_syscall4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < end)
        return -27 /* EFBIG */;
    return 0;
}

static void grow_file(void *argument)
{
    struct growth *g = argument;
    g->error = check_file_limit(g->is_new ? g->offset + g->bytes : 0);
    if (g->error < 0)
        return;
    const long fd = pt_syscall3(SYS_open, g->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0) {
        g->error = fd;
        return;
    }
    if (g->is_new) {
        g->error = pt_check_free_space((int)fd);
        if (!g->error) {
            g->error = pt_syscall4(SYS_fallocate, fd, 0, g->offset, g->bytes);
            if (g->error == -95 /* EOPNOTSUPP */ || g->error == -38 /* ENOSYS */)
                g->error = write_zeros((int)fd, g->offset, g->bytes);
        }
    }
    if (!g->error) {
        g->map = pt_sys_map(g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, g->offset);
        g->error = g->map ? 0 : -12 /* ENOMEM */;
    }
    pt_syscall1(SYS_close, fd);
    if (g->map)
        pt_syscall3(SYS_madvise, g->map, g->bytes, MADV_DONTDUMP);
}

static void *map_range(pt_u64 offset, pt_u64 bytes, int is_new)
{
    struct growth g = {.path = pt_image->path, .offset = offset, .bytes = bytes, .is_new = is_new};
    if (pt_private_files(grow_file, &g) < 0)
        g.error = -11 /* EAGAIN */;
    if (!g.map) {
        __atomic_fetch_add(&pt_image->header->growth_failures, 1, __ATOMIC_RELAXED);
        pt_image->header->growth_errno = (pt_i32)-g.error;
    }
    return g.map;
}

int pt_take_budget(pt_u64 bytes)
{
    struct pt_session_page *page = pt_session_page;
    if (!page || !page->budget_bytes)
        return 0;
    if (__atomic_add_fetch(&page->reserved_bytes, bytes, __ATOMIC_RELAXED) <= page->budget_bytes)
        return 0;
    __atomic_sub_fetch(&page->reserved_bytes, bytes, __ATOMIC_RELAXED);
    return -1;
}

void pt_return_budget(pt_u64 bytes)
{
    if (pt_session_page && pt_session_page->budget_bytes)
        __atomic_sub_fetch(&pt_session_page->reserved_bytes, bytes, __ATOMIC_RELAXED);
}

/* A full disk is asked again after about a second, not at every event. But for less than it has refused it may have
 * room: a new thread's area is a fraction of a segment of the ring. */
#define RETRY_TICKS (1ull << 31)

static int was_just_refused(pt_u64 bytes)
{
    const pt_u64 refused_at = pt_image->refused_at;
    return pt_switches.frozen ||
           (refused_at && pt_clock() - refused_at < RETRY_TICKS && bytes >= pt_image->refused_bytes);
}

static void note_refusal(pt_u64 bytes)
{
    pt_image->refused_bytes = bytes;
    pt_image->refused_at = pt_clock();
}

static void *grow_at(pt_u64 bytes, pt_u64 *ret_offset)
{
    if (pt_take_budget(bytes) < 0)
        return 0;
    const pt_u64 offset = __atomic_fetch_add(&pt_image->header->file_bytes, bytes, __ATOMIC_RELAXED);
    pt_kill_point("growth");
    void *map = map_range(offset, bytes, 1);
    if (!map) {
        pt_u64 end = offset + bytes; /* nobody has grown since: years of a full disk leave no hole behind */
        __atomic_compare_exchange_n(&pt_image->header->file_bytes, &end, offset, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        pt_return_budget(bytes);
    }
    *ret_offset = offset;
    return map;
}

void *pt_space_grow(pt_u64 bytes, pt_u64 least, pt_u64 *ret_bytes)
{
    pt_u64 offset;
    void *map = 0;
    if (was_just_refused(least))
        return 0;
    /* Whole pages: behind half a page nothing could be mapped any more. */
    for (; !map && bytes >= least; bytes = bytes / 2 & ~4095ull) {
        map = grow_at(bytes, &offset);
        *ret_bytes = bytes;
    }
    if (!map) /* not before: another thread's smaller wish would be refused because of the larger one */
        note_refusal(least);
    return map;
}

/* ---- the ring of block segments ---- */

static void set_up_chunk(struct pt_tracer_thread *t, struct pt_segment *segment, pt_u64 bytes)
{
    /* A recycled segment: nothing of its former life may be taken for the new one, wherever we are killed. */
    __atomic_store_n(&segment->magic, 0, __ATOMIC_RELEASE);
    *(volatile pt_u32 *)((char *)segment + sizeof *segment) = 0;
    segment->type = PT_SEGMENT_BLOCKS;
    segment->flags = 0;
    segment->bytes = bytes;
    segment->slot = t->slot;
    segment->serial = __atomic_add_fetch(&pt_image->ring_serial, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&segment->magic, PT_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    t->chunk = segment;
    t->chunk_used = sizeof *segment;
    t->chunk_count++;
}

static void set_up_in_ring(struct pt_tracer_thread *t, struct pt_segment *segment, pt_u32 index)
{
    set_up_chunk(t, segment, pt_image->ring[index].bytes);
    pt_image->ring[index].serial = segment->serial;
    t->chunk_index = index;
}

static pt_u64 chunk_bytes(const struct pt_tracer_thread *t)
{
    const pt_u32 threads = __atomic_load_n(&pt_image->n_threads, __ATOMIC_RELAXED);
    const pt_u64 most = pt_image->header->ring_limit_bytes / (threads > 4 ? threads : 4); /* one for each */
    pt_u64 bytes = t->chunk_count > 1 ? CHUNK_BYTES : FIRST_CHUNK_BYTES;
    bytes = bytes < most ? bytes : most;
    return bytes > LEAST_CHUNK_BYTES ? bytes & ~4095ull : LEAST_CHUNK_BYTES;
}

static int add_chunk(struct pt_tracer_thread *t)
{
    struct pt_file_header *header = pt_image->header;
    const pt_u64 bytes = chunk_bytes(t);
    if (was_just_refused(bytes) || __atomic_load_n(&pt_image->n_ring, __ATOMIC_RELAXED) >= PT_MAX_RING_SEGMENTS)
        return -1;
    if (__atomic_add_fetch(&header->ring_bytes, bytes, __ATOMIC_RELAXED) > header->ring_limit_bytes)
        goto refuse;
    pt_u64 offset;
    struct pt_segment *segment = grow_at(bytes, &offset);
    if (!segment) {
        note_refusal(bytes);
        goto refuse;
    }
    const pt_u32 index =
        __atomic_fetch_add(&pt_image->n_ring, 1, __ATOMIC_RELAXED); /* after the growth: no row for none */
    if (index >= PT_MAX_RING_SEGMENTS) {                            /* threads that came at once; the space is lost */
        __atomic_store_n(&pt_image->n_ring, PT_MAX_RING_SEGMENTS, __ATOMIC_RELAXED);
        pt_syscall2(SYS_munmap, segment, bytes);
        goto refuse;
    }
    struct pt_ring_segment *entry = &pt_image->ring[index];
    entry->bytes = bytes;
    entry->offset = offset;
    set_up_in_ring(t, segment, index);
    __atomic_store_n(&entry->state, PT_RING_ACTIVE, __ATOMIC_RELEASE);
    return 0;
refuse:
    __atomic_sub_fetch(&header->ring_bytes, bytes, __ATOMIC_RELAXED);
    return -1;
}

/* Take the oldest closed segment from whoever filled it. What was in it shows as a gap in first_event. */
static int recycle_chunk(struct pt_tracer_thread *t)
{
    for (;;) {
        const pt_u32 count = __atomic_load_n(&pt_image->n_ring, __ATOMIC_RELAXED);
        struct pt_ring_segment *oldest = 0;
        for (pt_u32 i = 0; i < count && i < PT_MAX_RING_SEGMENTS; i++) {
            struct pt_ring_segment *entry = &pt_image->ring[i];
            if (__atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) == PT_RING_CLOSED &&
                (!oldest || entry->serial < oldest->serial))
                oldest = entry;
        }
        if (!oldest)
            return -1;
        pt_u32 closed = PT_RING_CLOSED;
        if (!__atomic_compare_exchange_n(&oldest->state, &closed, PT_RING_ACTIVE, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        struct pt_segment *segment = map_range(oldest->offset, oldest->bytes, 0);
        if (!segment) {
            __atomic_store_n(&oldest->state, PT_RING_CLOSED, __ATOMIC_RELEASE);
            return -1;
        }
        set_up_in_ring(t, segment, (pt_u32)(oldest - pt_image->ring));
        __atomic_fetch_add(&pt_image->header->recycled_segments, 1, __ATOMIC_RELAXED);
        return 0;
    }
}

/* The first one lies behind the thread's area and stays there: too small for the ring. */
static int has_own_chunk(const struct pt_tracer_thread *t)
{
    return t->chunk_count == 1;
}

static void open_own_chunk(struct pt_tracer_thread *t)
{
    set_up_chunk(t, (struct pt_segment *)((char *)t->area + pt_area_bytes()), PT_OWN_CHUNK_BYTES);
}

static void close_chunk(struct pt_tracer_thread *t)
{
    if (has_own_chunk(t)) {
        t->chunk = 0;
        return;
    }
    struct pt_ring_segment *entry = &pt_image->ring[t->chunk_index];
    pt_syscall2(SYS_munmap, t->chunk, entry->bytes);
    t->chunk = 0;
    __atomic_store_n(&entry->state, PT_RING_CLOSED, __ATOMIC_RELEASE);
}

int pt_ring_next(struct pt_tracer_thread *t)
{
    if (t->chunk)
        close_chunk(t);
    if (!t->chunk_count) {
        open_own_chunk(t);
        return 0;
    }
    if (pt_switches.frozen)
        return -1;
    return add_chunk(t) == 0 ? 0 : recycle_chunk(t);
}

static void leave_own_chunk(void *argument)
{
    struct pt_tracer_thread *t = argument;
    if (!t->chunk_count)
        open_own_chunk(t);
    pt_ring_next(t);
}

void pt_ring_prepare(void)
{
    struct pt_tracer_thread *t = pt_thread_attached();
    if (!t || t->chunk_count > 1)
        return;
    const pt_u64 mask = pt_signals_block();
    if (pt_claim(t)) {
        pt_on_private_stack(t->priv, leave_own_chunk, t);
        pt_unclaim(t);
    }
    pt_signals_restore(mask);
}
