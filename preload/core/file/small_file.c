/* SPDX-License-Identifier: MIT
 *
 * small_file.c - a place for the head in the file of small processes: no inode, no directory entry, two pages.
 *
 * Entered where the image is made, by one thread. Nobody hands out places: the kernel does, because each is appended,
 * so there is no counter that a kill could leave behind. A place is never used twice. Never: keeps the descriptor.
 */
#include "small_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "proftrace/format.h"
#include "proftrace/schema_text.h"
#include "core/options.h"
#include "core/session.h"
#include "core/session_page.h"
#include "core/sys.h"
#include "core/text.h"
#include "core/valgrind.h"
#include "space.h"

#define NFS_MAGIC 0x6969 /* two machines that append at once are not kept apart */
#define SCHEMA_BYTES (sizeof pt_schema_text - 1)
#define ROUND_UP(bytes) (((bytes) + PT_PAGE_BYTES - 1) & ~(pt_u64)(PT_PAGE_BYTES - 1))
#define HEADS_OFFSET (PT_PAGE_BYTES + ROUND_UP(SCHEMA_BYTES))
#define ANY_LIMIT (1ull << 62)

static void name_file(struct pt_text *path)
{
    pt_text_add(path, pt_session_path);
    pt_text_add(path, "/" PT_SMALL_PREFIX);
    pt_text_number(path, PROFTRACE_VERSION_MAJOR << 16 | PROFTRACE_VERSION_MINOR << 8 | PROFTRACE_VERSION_PATCH, 0);
    pt_text_byte(path, '-');
    pt_text_number(path, SCHEMA_BYTES, 0);
    pt_text_add(path, PT_SMALL_SUFFIX);
}

/* Under another name until it is whole: a head is behind the schema, whoever comes first. */
static void make_file(const char *path, pt_u64 trace_id)
{
    char hidden[640];
    struct pt_text text = {hidden, 0, sizeof hidden};
    const struct pt_small_header header = {
        .magic = {'P', 'R', 'O', 'F', 'T', 'S', 'M', 'L'},
        .format_version = PT_FORMAT_VERSION,
        .heads_offset = (pt_u32)HEADS_OFFSET,
        .schema_offset = PT_PAGE_BYTES,
        .schema_bytes = SCHEMA_BYTES,
    };
    pt_text_add(&text, pt_session_path);
    pt_text_add(&text, "/.small-");
    pt_text_hex(&text, trace_id, 16);
    const long fd = pt_syscall3(SYS_open, hidden, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (pt_allocate((int)fd, 0, header.heads_offset) == 0 &&
        pt_syscall4(SYS_pwrite64, fd, &header, sizeof header, 0) == sizeof header &&
        pt_syscall4(SYS_pwrite64, fd, pt_schema_text, SCHEMA_BYTES, PT_PAGE_BYTES) == (long)SCHEMA_BYTES)
        pt_syscall2(SYS_link, hidden, path); /* unless another process was faster */
    pt_syscall1(SYS_close, fd);
    pt_syscall1(SYS_unlink, hidden);
}

static long open_file(pt_u64 trace_id)
{
    char path[640];
    struct pt_text text = {path, 0, sizeof path};
    name_file(&text);
    const int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
    const long fd = pt_syscall3(SYS_open, path, flags, 0);
    if (fd != -ENOENT)
        return fd;
    make_file(path, trace_id);
    return pt_syscall3(SYS_open, path, flags, 0);
}

/* The offset of a place for a head, or below 0. Zeros, from one page of them: until the magic is in it, it is none. */
static long append(int fd, char *zeros)
{
    const struct iovec place[] = {{zeros, PT_PAGE_BYTES}, {zeros, PT_PAGE_BYTES}};
    _Static_assert(sizeof place / sizeof *place * PT_PAGE_BYTES == PT_HEAD_BYTES, "a head's bytes");
    struct statfs fs;
    if (pt_syscall3(SYS_lseek, fd, 0, SEEK_END) < (long)HEADS_OFFSET) /* somebody truncated it */
        return -1;
    if (pt_syscall2(SYS_fstatfs, fd, &fs) != 0 || fs.f_type == NFS_MAGIC || fs.f_bavail < fs.f_blocks / 20)
        return -1;
    if (pt_syscall3(SYS_writev, fd, place, sizeof place / sizeof *place) != (long)PT_HEAD_BYTES)
        return -1;
    const long offset = pt_syscall3(SYS_lseek, fd, 0, SEEK_CUR) - (long)PT_HEAD_BYTES;
    return offset > 0 && offset % PT_PAGE_BYTES == 0 ? offset : -1;
}

static int map_fixed(char *head, int flags, int fd, pt_u64 offset)
{
    const long map =
        pt_syscall6(SYS_mmap, (long)head, PT_HEAD_BYTES, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, (long)offset);
    return map == (long)head ? 0 : -1;
}

/* A mapping that fails may have taken away what was there: that was untouched memory, of which there is more. */
static long map_head(char *head, int fd, pt_u64 offset)
{
    if (map_fixed(head, MAP_SHARED, fd, offset) == 0)
        return 0;
    return map_fixed(head, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == 0 ? -EAGAIN : -ENOMEM;
}

long pt_small_file_append(char *head, pt_u64 trace_id)
{
    /* With each malloc a record, nothing stays small. A limit of the size of files is about each one's end. valgrind
     * refuses the second mapping with which a head moves. Machines that append at once are kept apart by hardly any
     * file system that they share: only the one that made the run does. */
    if (pt_is_below_valgrind || pt_options.heap == PT_HEAP_FULL || pt_session_facts.is_of_another_boot ||
        pt_check_file_limit(ANY_LIMIT) < 0 || pt_take_budget(PT_HEAD_BYTES) < 0)
        return -EAGAIN;
    const long fd = open_file(trace_id);
    const long offset = fd < 0 ? -1 : append((int)fd, head);
    const long error = offset < 0 ? -EAGAIN : map_head(head, (int)fd, (pt_u64)offset);
    if (fd >= 0)
        pt_syscall1(SYS_close, fd);
    if (error < 0)
        pt_return_budget(PT_HEAD_BYTES);
    return error;
}
