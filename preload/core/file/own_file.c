/* SPDX-License-Identifier: MIT
 *
 * own_file.c - makes the trace file of a process for which a head is not enough, and moves the head into it.
 *
 * Entered with signals blocked, by any thread. The addresses of the head stay the same, so that nobody has to be told:
 * another thread's or a signal handler's caller's next store goes into the file. What another thread stored between the
 * copy and the move is added afterwards: every word of the head is a counter or is stored once. Not where its owner
 * counts without an atomic operation: beside, in words that it does not touch before the file is there. From the magic
 * on the file holds all that the place in the file of small processes does, and that is void.
 */
#include "own_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "proftrace/schema_text.h"
#include "core/kill_point.h"
#include "core/private.h"
#include "core/state.h"
#include "core/sys.h"
#include "area.h"
#include "image_state.h"
#include "reserve.h"
#include "space.h"

#define SCHEMA_BYTES (sizeof pt_schema_text - 1)
#define LOOK_TICKS (1ull << 27) /* about 40 ms; a file takes 0.1 */
#define MOST_TICKS (1ull << 32) /* about 1.5 s: who is there but has no CPU, or waits for a disk, is waited for */
#define HEAD_WORDS (PT_HEAD_BYTES / sizeof(pt_u64))
#define WORD_OF(field) ((PT_HEAD_AREA_AT + __builtin_offsetof(struct pt_thread_area, field)) / sizeof(pt_u64))
#define PACKED_WORD WORD_OF(heap_packed)
#define FREES_WORD WORD_OF(heap_frees)

struct making {
    pt_u64 bytes; /* of the file */
    char *map;    /* of pt_first_bytes() */
    int is_spare; /* of a file that was made for us before rights went, and stays mapped as a whole */
    long error;
};

static void take_spare_file(struct making *making)
{
    making->map = pt_reserve_take_file(making->bytes);
    making->is_spare = 1;
    if (making->map)
        __builtin_memcpy(making->map + pt_first_bytes(), pt_schema_text, SCHEMA_BYTES);
}

static void make_file(void *argument)
{
    struct making *making = argument;
    making->error = pt_check_file_limit(making->bytes);
    if (making->error < 0)
        return;
    const long fd = pt_syscall3(SYS_open, pt_image->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    making->error = fd < 0 ? pt_error_of_disk(fd) : pt_allocate((int)fd, 0, making->bytes);
    if (fd < 0) {
        take_spare_file(making);
        return;
    }
    if (making->error == 0) {
        /* a page written is cheaper than a page touched through the mapping */
        pt_syscall4(SYS_pwrite64, fd, pt_schema_text, SCHEMA_BYTES, pt_first_bytes());
        making->map = pt_sys_map(pt_first_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
        making->error = making->map ? 0 : -ENOMEM;
    }
    pt_syscall1(SYS_close, fd);
    if (!making->map)
        pt_syscall1(SYS_unlink, pt_image->path);
    else
        pt_syscall3(SYS_madvise, making->map, pt_first_bytes(), MADV_DONTDUMP);
}

/* All that was recorded so far. */
static void fill(char *file, const void *head, pt_u64 bytes)
{
    char *old = (char *)pt_image->header;
    __builtin_memcpy(file + 8, (const char *)head + 8, PT_HEAD_BYTES - 8);
    __builtin_memcpy(file + PT_HEAD_BYTES, old + PT_HEAD_BYTES, PT_FIRST_RECORDS_AT - PT_HEAD_BYTES);
    struct pt_file_header *header = (struct pt_file_header *)(void *)file;
    if (header->text_offset >= PT_HEAD_BYTES)
        __builtin_memcpy(file + header->text_offset, pt_first_in_memory(old, header->text_offset), header->text_bytes);
    header->file_bytes = bytes;
    header->grown_bytes = bytes;
    header->schema_offset = (pt_u32)pt_first_bytes();
    header->schema_bytes = SCHEMA_BYTES;
    struct pt_thread_area *area = (struct pt_thread_area *)(void *)(file + PT_HEAD_AREA_AT);
    if (area->segment.magic)
        area->segment.bytes = pt_first_area_bytes();
}

/* Once hooks store into it: what they stored elsewhere since the copy would be lost to a kill. */
static void declare_whole(void)
{
    pt_kill_point("own");
    __builtin_memcpy(pt_image->header->magic, PT_FILE_MAGIC, 8);
}

/* A length of 0 makes a second mapping and leaves the first one. */
static int move(char *to, const struct making *making, pt_u64 at, pt_u64 bytes)
{
    const long moved = pt_syscall6(SYS_mremap, (long)(making->map + at), making->is_spare ? 0 : (long)bytes,
                                   (long)bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (long)to, 0);
    return moved == (long)to ? 0 : -1;
}

/* The head last: from then on hooks store into the file. */
static int move_all(const struct making *making)
{
    char *head = (char *)pt_image->header;
    const pt_u64 low = pt_first_low_bytes();
    return move(head - low, making, PT_FIRST_RECORDS_AT, low) == 0 ? move(head, making, 0, PT_FIRST_RECORDS_AT) : -1;
}

/* Fewer than before, as what an allocator of objects asked for is taken out again, is nothing that can be kept beside.
 */
static int add_beside_packed(struct pt_heap_class *wide, pt_u64 before, pt_u64 now)
{
    const pt_u64 bytes_mask = (1ull << 40) - 1;
    if (now >> 40 < before >> 40 || (now & bytes_mask) < (before & bytes_mask))
        return 0;
    wide->count += (now >> 40) - (before >> 40);
    wide->bytes += (now & bytes_mask) - (before & bytes_mask);
    return 1;
}

/* The owner's next addition could undo an atomic one to the same word, or the other way round: blocks would be missing
 * in totals that are exact. */
static int add_beside(pt_u32 word, pt_u64 before, pt_u64 now)
{
    struct pt_thread_area *area = (struct pt_thread_area *)(void *)((char *)pt_image->header + PT_HEAD_AREA_AT);
    if (word >= FREES_WORD) {
        area->came_between[word - FREES_WORD] += now - before;
        return 1;
    }
    return word >= PACKED_WORD && add_beside_packed(&area->heap_spilled[word - PACKED_WORD], before, now);
}

static void add_what_came_between(const pt_u64 *copied, const pt_u64 *old)
{
    pt_u64 *now = (pt_u64 *)(void *)pt_image->header;
    for (pt_u32 i = 0; i < HEAD_WORDS; i++) {
        const pt_u64 latest = __atomic_load_n(&old[i], __ATOMIC_RELAXED);
        if (latest != copied[i] && !add_beside(i, copied[i], latest))
            __atomic_fetch_add(&now[i], latest - copied[i], __ATOMIC_RELAXED);
    }
}

/* A second mapping of the place in the file of small processes is kept until all is over. */
static int move_from_small_file(const struct making *making)
{
    char *head = (char *)pt_image->header;
    pt_u64 *copied = (pt_u64 *)(void *)pt_self->priv->codec.columns;
    _Static_assert(sizeof((struct pt_private *)0)->codec.columns >= PT_HEAD_BYTES, "room for a copy");
    const long old = pt_syscall6(SYS_mremap, (long)head, 0, PT_HEAD_BYTES, MREMAP_MAYMOVE, 0, 0);
    if (old < 0 && old > -4096)
        return -1;
    __builtin_memcpy(copied, head, PT_HEAD_BYTES);
    fill(making->map, copied, making->bytes);
    const int result = move_all(making);
    if (result == 0) {
        add_what_came_between(copied, (const pt_u64 *)old);
        declare_whole();
        /* Where the file is lost later, a reader knows that this head is not all. */
        ((struct pt_file_header *)old)->options |= PT_OPTION_MOVED;
    }
    pt_syscall2(SYS_munmap, old, PT_HEAD_BYTES);
    return result;
}

/* Pages of the file come to where the text was made: they hold it only if it is long. */
static void leave_kept_text(void)
{
    pt_kept_text.bytes = pt_first_text();
    pt_kept_text.is_in_file = 1;
}

static int make(int is_first)
{
    struct making making = {.bytes = pt_first_bytes() + ((SCHEMA_BYTES + PT_PAGE_BYTES - 1) & ~(PT_PAGE_BYTES - 1ul))};
    int result = -1;
    if (pt_space_is_refused(making.bytes))
        return -1;
    const int has_budget = pt_take_budget(making.bytes) == 0;
    if (!has_budget)
        making.error = -EDQUOT;
    else if (is_first)
        make_file(&making);
    else if (pt_private_files(make_file, &making) < 0)
        making.error = -EAGAIN;
    if (making.map && !is_first)
        leave_kept_text();
    if (making.map && pt_image->is_small)
        result = move_from_small_file(&making);
    else if (making.map) {
        fill(making.map, pt_image->header, making.bytes);
        result = move_all(&making);
        if (result == 0)
            declare_whole();
    }
    if (result < 0 && has_budget)
        pt_return_budget(making.bytes);
    if (result < 0)
        pt_space_note_refusal(making.bytes, making.error);
    return result;
}

/* A thread of ours, or a process of its own that shares our memory. */
static int is_there(pt_u32 tid)
{
    return tid == 0 /* it has not said so yet */ || pt_syscall3(SYS_tgkill, pt_image->pid, tid, 0) == 0 ||
           pt_syscall3(SYS_tgkill, tid, tid, 0) == 0;
}

/* Another thread is at it, or was: a clone that shares our memory may have been killed there. */
static int wait_for_maker(void)
{
    const pt_u64 began = pt_clock();
    pt_u64 looked = began;
    while (__atomic_load_n(&pt_image->own_file, __ATOMIC_ACQUIRE) == PT_OWN_FILE_MAKING) {
        const pt_u64 now = pt_clock();
        if (pt_space_is_refused(pt_first_bytes()))
            return -1;
        if (now - looked > LOOK_TICKS) {
            looked = now;
            if (now - began > MOST_TICKS || !is_there(__atomic_load_n(&pt_image->maker, __ATOMIC_RELAXED)))
                pt_space_note_refusal(pt_first_bytes(), -EBUSY);
        }
        pt_syscall0(SYS_sched_yield);
    }
    return pt_has_own_file() ? 0 : -1;
}

static int make_once(int is_first)
{
    pt_u32 none = PT_OWN_FILE_NONE;
    if (pt_has_own_file())
        return 0;
    if (pt_switches.frozen)
        return -1;
    if (!__atomic_compare_exchange_n(&pt_image->own_file, &none, PT_OWN_FILE_MAKING, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
        return wait_for_maker();
    }
    __atomic_store_n(&pt_image->maker, (pt_u32)pt_syscall0(SYS_gettid), __ATOMIC_RELAXED);
    const int result = make(is_first);
    __atomic_store_n(&pt_image->own_file, result < 0 ? PT_OWN_FILE_NONE : PT_OWN_FILE_THERE, __ATOMIC_RELEASE);
    return result;
}

int pt_own_file_make(void)
{
    return make_once(0);
}

int pt_own_file_make_first(void)
{
    return make_once(1);
}
