/* SPDX-License-Identifier: MIT
 *
 * reserve.c - growth without a descriptor and without a path.
 *
 * Entered with signals blocked. After setuid or chroot the file can no longer be opened. So before, it is made long but
 * sparse, and all of it is mapped. Blocks of the disk are asked for when they are needed, by MADV_POPULATE_WRITE (Linux
 * 5.14), which says EFAULT where a store would be a SIGBUS: on a full disk. An older kernel grows by the path as long
 * as that works. A few more such files, without any block, are for children that will be forked.
 */
#include "reserve.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/private.h"
#include "core/session.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"
#include "image_state.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define MOST_BYTES (64ull << 20)
#define MOST_BYTES_IN_LITTLE_MEMORY (4ull << 20) /* the limit of address space counts what is mapped */

static pt_u64 limit_of(int which)
{
    struct rlimit limit = {0};
    pt_syscall4(SYS_prlimit64, 0, which, 0, &limit);
    return limit.rlim_cur;
}

static pt_u64 wanted_bytes(void)
{
    const pt_u64 most = limit_of(RLIMIT_AS) != RLIM_INFINITY ? MOST_BYTES_IN_LITTLE_MEMORY : MOST_BYTES;
    const pt_u64 ring = pt_image->header->ring_limit_bytes;
    return ring < most ? ring : most;
}

/* ---- files for children ---- */

#define SPARE_FILES 4u
#define SPARE_BYTES (16ull << 20)

/* Not wiped by a fork. The first process that writes its id into the header has the file. */
static char *spare_files[SPARE_FILES];
static pt_u32 n_spare_files;
static int was_needed;

static char *make_sparse(const char *path)
{
    char *map = 0;
    const long fd = pt_syscall3(SYS_open, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return 0;
    if (pt_syscall2(SYS_ftruncate, fd, SPARE_BYTES) == 0)
        map = pt_sys_map(SPARE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    pt_syscall1(SYS_close, fd);
    if (map)
        pt_syscall3(SYS_madvise, map, SPARE_BYTES, MADV_DONTDUMP);
    else
        pt_syscall1(SYS_unlink, path);
    return map;
}

/* The host would be ended by a SIGXFSZ for a file that is too long, and miss the address space for its own. */
static int may_have_spare_files(void)
{
    return limit_of(RLIMIT_FSIZE) >= SPARE_BYTES && limit_of(RLIMIT_AS) == RLIM_INFINITY;
}

static void make_spare_files(void)
{
    if (!may_have_spare_files())
        return;
    while (n_spare_files < SPARE_FILES) {
        struct pt_text path = {pt_self->priv->text, 0, PT_PRIVATE_TEXT_BYTES};
        pt_text_add(&path, pt_session_path);
        pt_text_add(&path, "/" PT_SPARE_PREFIX);
        pt_text_number(&path, pt_image->pid, 0);
        pt_text_byte(&path, '-');
        pt_text_hex(&path, pt_image->header->trace_id + n_spare_files, 8);
        pt_text_add(&path, PT_FILE_SUFFIX);
        char *map = make_sparse(path.bytes);
        if (!map)
            return;
        spare_files[n_spare_files++] = map;
    }
}

int pt_reserve_was_needed(void)
{
    return was_needed;
}

static int take(char *map)
{
    struct pt_file_header *header = (struct pt_file_header *)(void *)map;
    pt_u32 nobody = 0;
    return pt_syscall3(SYS_madvise, map, PT_PAGE_BYTES, MADV_POPULATE_WRITE) == 0 &&
           __atomic_compare_exchange_n(&header->pid, &nobody, pt_image->pid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

char *pt_reserve_take_file(pt_u64 bytes)
{
    for (pt_u32 i = 0; i < n_spare_files; i++) {
        char *map = spare_files[i];
        if (!take(map) || pt_syscall3(SYS_madvise, map, bytes, MADV_POPULATE_WRITE) != 0)
            continue;
        pt_image->whole = map;
        pt_image->has_reserve = 1;
        __atomic_store_n(&pt_image->whole_bytes, SPARE_BYTES, __ATOMIC_RELEASE);
        return map;
    }
    return 0;
}

/* ---- the process's own ---- */

void pt_reserve_make(void *unused)
{
    (void)unused;
    struct stat info;
    was_needed = 1;
    const pt_u64 end = pt_image->header->file_bytes + wanted_bytes();
    const long fd = limit_of(RLIMIT_FSIZE) < end /* beyond it is a SIGXFSZ */
                        ? -1
                        : pt_syscall3(SYS_open, pt_image->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0)
        return;
    char *map = 0;
    if (pt_syscall2(SYS_fstat, fd, &info) == 0 &&
        ((pt_u64)info.st_size >= end || pt_syscall2(SYS_ftruncate, fd, end) == 0))
        map = pt_sys_map(end, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    pt_syscall1(SYS_close, fd);
    if (!map)
        return;
    pt_syscall3(SYS_madvise, map, end, MADV_DONTDUMP);
    pt_image->whole = map;
    __atomic_store_n(&pt_image->whole_bytes, end, __ATOMIC_RELEASE);
    if (pt_syscall3(SYS_madvise, map, PT_PAGE_BYTES, MADV_POPULATE_WRITE) == 0)
        make_spare_files();
}

void *pt_reserve_at(pt_u64 offset, pt_u64 bytes)
{
    const pt_u64 end = __atomic_load_n(&pt_image->whole_bytes, __ATOMIC_ACQUIRE);
    return offset < end && bytes <= end - offset ? pt_image->whole + offset : 0;
}

void *pt_reserve_grow(pt_u64 offset, pt_u64 bytes, long *ret_error)
{
    char *map = pt_reserve_at(offset, bytes);
    const long error = map ? pt_syscall3(SYS_madvise, map, bytes, MADV_POPULATE_WRITE) : 0;
    *ret_error = error == -EFAULT || error == -ENOMEM ? -ENOSPC : 0;
    return error == 0 ? map : 0;
}

void pt_reserve_unmap(void *map, pt_u64 bytes)
{
    const pt_u64 at = (pt_u64)((char *)map - pt_image->whole);
    if (at < pt_image->whole_bytes)
        pt_syscall3(SYS_madvise, map, bytes, MADV_DONTNEED); /* stays mapped, but not resident */
    else
        pt_syscall2(SYS_munmap, map, bytes);
}
