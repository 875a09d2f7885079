/* SPDX-License-Identifier: MIT
 *
 * ring_space.c - Owns: holes in the trace files of processes that have ended, where their rings were. Threads: main
 * only. Never: touches the file of a process that may still write; totals, names and what is to be kept of the start.
 *
 * A ring is recycled by the process that has it. One that has ended would keep its space for ever, and with many
 * generations of processes the session's limit would be used up by the dead: the latest events would not be kept, but
 * the first ones. A reader finds zeros where a segment was, and steps over them; that blocks are missing it counts.
 */
#include "ring_space.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proftrace/format.h"
#include "proftrace/limits.h"
#include "options/option_values.h"
#include "util/auto.h"
#include "util/vec.h"
#include "util/text/path.h"

/* What lies behind the area of a thread is smaller, and stays. */
enum { LEAST_SEGMENT_BYTES = 128 << 10, MOST_AT_ONCE = 2047 };

struct ended {
    char name[256];
    pt_u64 end_ns; /* CLOCK_MONOTONIC, about */
};

struct search {
    const struct pt_session_dir *dir;
    char *page; /* session.bin, mapped; not touched: it may be truncated at any time */
    pt_u64 limit_bytes, keep_first_bytes;
    struct {
        PT_VEC(struct ended);
    } ended;
};

/* ---- session.bin ---- */

static pt_u64 ring_bytes(const struct search *search)
{
    struct pt_session_page page;
    PT_AUTO(pt_closep) int fd = openat(search->dir->fd, PT_SESSION_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && pread(fd, &page, sizeof page, 0) == sizeof page ? (pt_u64)page.ring_pages * PT_PAGE_BYTES : 0;
}

/* As the library does: the kernel adds, and says so if the page is gone. */
static void subtract(const struct search *search, size_t offset, pt_u64 pages)
{
    pt_u32 nobody = 0;
    while (pages) {
        const pt_u32 now = pages < MOST_AT_ONCE ? (pt_u32)pages : (pt_u32)MOST_AT_ONCE;
        syscall(SYS_futex, &nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, search->page + offset,
                (int)(pt_u32)FUTEX_OP(FUTEX_OP_ADD, (0u - now) & 0xfff, FUTEX_OP_CMP_EQ, 0));
        pages -= now;
    }
}

/* ---- files ---- */

static int open_trace(const struct search *search, const char *name, struct pt_file_header *ret_header)
{
    struct stat status;
    const int fd = openat(search->dir->fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        pread(fd, ret_header, sizeof *ret_header, 0) == sizeof *ret_header &&
        !memcmp(ret_header->magic, PT_FILE_MAGIC, sizeof ret_header->magic))
        return fd;
    close(fd);
    return -1;
}

/* It said so itself, and is gone: what it does at its end is recorded. Not one that was killed: that nobody has its
 * number here says nothing where it lived in a namespace of its own. */
static bool has_ended(const struct pt_file_header *header)
{
    return header->state == PT_PROCESS_EXITED && header->ring_bytes && header->pid < 1u << 30 &&
           kill((pid_t)header->pid, 0) < 0 && errno == ESRCH;
}

static void find_ended(struct search *search)
{
    const int fd = openat(search->dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (!entries)
        return;
    for (const struct dirent *entry; (entry = readdir(entries));) {
        struct pt_file_header header;
        if (!pt_ends_with(entry->d_name, PT_FILE_SUFFIX))
            continue;
        PT_AUTO(pt_closep) int trace = open_trace(search, entry->d_name, &header);
        if (trace < 0 || !has_ended(&header))
            continue;
        struct ended one = {.end_ns = header.clock_last[header.clock_index & 1].monotonic_ns};
        snprintf(one.name, sizeof one.name, "%s", entry->d_name);
        pt_vec_push(&search->ended, one);
    }
    closedir(entries);
}

static int by_end(const void *a, const void *b)
{
    const struct ended *x = a, *y = b;
    return x->end_ns != y->end_ns ? (x->end_ns < y->end_ns ? -1 : 1) : strcmp(x->name, y->name);
}

struct place {
    pt_u64 offset, bytes, serial;
};

struct places {
    PT_VEC(struct place);
};

static pt_u64 behind_damage(int fd, pt_u64 at)
{
    const pt_u64 next = (at / PT_PAGE_BYTES + 1) * PT_PAGE_BYTES;
    const off_t data = lseek(fd, (off_t)next, SEEK_DATA);
    return data < 0 ? ~0ull >> 1 : data > (off_t)next ? (pt_u64)data / PT_PAGE_BYTES * PT_PAGE_BYTES : next;
}

/* The segments of the ring, but for those that hold the start. */
static void find_segments(const struct search *search, int fd, const struct pt_file_header *header,
                          struct places *places)
{
    struct pt_segment segment;
    pt_u64 seen = 0;
    for (pt_u64 at = header->header_bytes; pread(fd, &segment, sizeof segment, (off_t)at) == sizeof segment;) {
        if (segment.magic != PT_SEGMENT_MAGIC || segment.bytes < sizeof segment || segment.bytes >= 1ull << 40 ||
            (at + segment.bytes) % PT_PAGE_BYTES != 0) {
            at = behind_damage(fd, at);
            continue;
        }
        if (segment.type == PT_SEGMENT_BLOCKS && segment.bytes >= LEAST_SEGMENT_BYTES) {
            if (seen >= search->keep_first_bytes)
                pt_vec_push(places, ((struct place){at, segment.bytes, segment.serial}));
            seen += segment.bytes;
        }
        at += segment.bytes;
    }
}

static int by_serial(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* The oldest ones become holes, until so many bytes are free; how many are. */
static pt_u64 punch(int fd, struct places *places, pt_u64 wanted)
{
    pt_u64 freed = 0;
    if (places->n)
        qsort(places->items, places->n, sizeof *places->items, by_serial);
    for (size_t i = 0; i < places->n && freed < wanted; i++)
        if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)places->items[i].offset,
                      (off_t)places->items[i].bytes) == 0)
            freed += places->items[i].bytes;
    return freed;
}

static pt_u64 return_space_of(const struct search *search, const struct ended *one, pt_u64 wanted)
{
    struct pt_file_header header;
    PT_AUTO(pt_closep) int fd = open_trace(search, one->name, &header);
    if (fd < 0 || !has_ended(&header))
        return 0;
    struct places places = {0};
    find_segments(search, fd, &header, &places);
    const pt_u64 freed = punch(fd, &places, wanted);
    /* Where there is no more to be had it need not be looked at again. */
    const pt_u64 left = freed < wanted || freed > header.ring_bytes ? 0 : header.ring_bytes - freed;
    free(places.items);
    if (pwrite(fd, &left, sizeof left, offsetof(struct pt_file_header, ring_bytes)) != sizeof left)
        return 0;
    subtract(search, offsetof(struct pt_session_page, ring_pages), freed / PT_PAGE_BYTES);
    subtract(search, offsetof(struct pt_session_page, reserved_pages), freed / PT_PAGE_BYTES);
    return freed;
}

static char *map_page(const struct pt_session_dir *dir)
{
    PT_AUTO(pt_closep) int fd = openat(dir->fd, PT_SESSION_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    void *page =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct pt_session_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

void pt_ring_space_return(const struct pt_session_dir *dir)
{
    const pt_u64 wanted = pt_option_mib_bytes("session_ring_mib");
    struct search search = {.dir = dir,
                            .limit_bytes = wanted ? wanted : PT_RINGS_OF_BUDGET(dir->budget_bytes),
                            .keep_first_bytes = pt_option_mib_bytes("keep_first_mib")};
    pt_u64 used = ring_bytes(&search);
    if (used <= search.limit_bytes / 2 || !(search.page = map_page(dir)))
        return;
    find_ended(&search);
    if (search.ended.n)
        qsort(search.ended.items, search.ended.n, sizeof *search.ended.items, by_end);
    for (size_t i = 0; i < search.ended.n && used > search.limit_bytes / 2; i++) {
        const pt_u64 freed = return_space_of(&search, &search.ended.items[i], used - search.limit_bytes / 2);
        used -= freed < used ? freed : used;
    }
    free(search.ended.items);
    munmap(search.page, sizeof(struct pt_session_page));
}
