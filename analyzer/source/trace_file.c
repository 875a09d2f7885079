/* SPDX-License-Identifier: MIT
 *
 * trace_file.c - Owns: the descriptor and the copies of one trace file. Threads: one opens and closes; any may read
 * blocks between. Never: maps the file, trusts a number in it.
 */
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "small_heads.h"

/* O_NONBLOCK: a FIFO named x.ptr must not hang the reader. */
int pt_trace_file_descriptor(const char *path)
{
    const char *head = pt_small_head_of(path);
    if (!head)
        return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    PT_AUTO(pt_freep) char *whole = pt_asprintf("%.*s", (int)(head - path), path);
    return open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* The one descriptor of all the files that have none of their own. It is kept from when the first of them is closed:
 * what is open beside us later, the files of an export, could leave none, and then events were missing without a word.
 */
static struct {
    pthread_mutex_t lock;
    int fd;
    dev_t device;
    ino_t inode;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

void pt_trace_file_share(struct pt_trace_file *file)
{
    pthread_mutex_lock(&shared.lock);
    if (shared.fd >= 0)
        close(shared.fd);
    shared.fd = file->fd;
    shared.device = file->device;
    shared.inode = file->inode;
    pthread_mutex_unlock(&shared.lock);
    file->fd = -1;
}

/* The file that was scanned, not another one of its name. */
static int open_again(const struct pt_trace_file *file)
{
    struct stat status;
    const int fd = pt_trace_file_descriptor(file->path);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static pt_u64 read_at(int fd, pt_u64 offset, void *to, pt_u64 bytes)
{
    pt_u64 done = 0;
    while (done < bytes) {
        const ssize_t n = pread(fd, (char *)to + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (pt_u64)n;
    }
    return done;
}

static pt_u64 read_shared(const struct pt_trace_file *file, pt_u64 offset, void *to, pt_u64 bytes)
{
    pthread_mutex_lock(&shared.lock);
    if (shared.fd < 0 || shared.device != file->device || shared.inode != file->inode) {
        if (shared.fd >= 0)
            close(shared.fd);
        shared.fd = open_again(file);
        shared.device = file->device;
        shared.inode = file->inode;
    }
    const pt_u64 done = shared.fd < 0 ? 0 : read_at(shared.fd, offset, to, bytes);
    pthread_mutex_unlock(&shared.lock);
    return done;
}

pt_u64 pt_trace_file_read(const struct pt_trace_file *file, pt_u64 offset, void *to, pt_u64 bytes)
{
    if (offset >= file->bytes)
        return 0;
    bytes = bytes < file->bytes - offset ? bytes : file->bytes - offset;
    offset += file->base;
    return file->fd < 0 ? read_shared(file, offset, to, bytes) : read_at(file->fd, offset, to, bytes);
}

pt_u64 pt_trace_file_scan(struct pt_trace_file *file, pt_u64 offset, void *to, pt_u64 bytes)
{
    const pt_u64 there = offset < file->bytes ? file->bytes - offset : 0;
    errno = 0;
    const pt_u64 got = pt_trace_file_read(file, offset, to, bytes);
    if (got == (bytes < there ? bytes : there))
        return got;
    file->truncated = true; /* a bad disk, a stale handle, or it has shrunk since */
    file->read_errno = file->read_errno ? file->read_errno : errno;
    if (!errno) /* so long it is now: the bytes that are missing are counted */
        file->bytes = offset + got;
    return got;
}

void pt_trace_file_drop_areas(struct pt_trace_file *file)
{
    for (size_t i = 0; i < file->slots.n; i++) {
        free(file->slots.items[i].area);
        file->slots.items[i].area = NULL;
    }
}

void pt_trace_file_close(struct pt_trace_file *file)
{
    if (!file)
        return;
    pt_trace_file_drop_areas(file);
    for (size_t i = 0; i < file->slots.n; i++)
        for (int which = 0; which < PT_BUFFER__COUNT; which++) {
            free(file->slots.items[i].blocks[which].items);
            free(file->slots.items[i].blocks[which].runs.items);
        }
    free(file->slots.items);
    free(file->definitions.items);
    free(file->minutes.items);
    pt_arena_fini(&file->arena);
    if (file->fd >= 0)
        close(file->fd);
    pt_trace_file_drop_schema(file);
    free(file->path);
    free(file);
}

bool pt_trace_slot_part(const struct pt_trace_slot *slot, pt_i32 offset, pt_u64 *ret_offset, pt_u64 *ret_room)
{
    const pt_i64 behind_header =
        slot->area_bytes < sizeof(struct pt_thread_area) ? PT_AREA_SMALL_BYTES : (pt_i64)sizeof(struct pt_thread_area);
    /* Only that of the first thread, which begins in the head, has parts before it. Others that could name what lies
     * before them could all name the whole file: it would be read and kept once for each. */
    if (offset < 0 ? slot->area_offset >= PT_HEAD_BYTES || (pt_u64) - (pt_i64)offset > slot->area_offset
                   : offset < behind_header || (pt_u64)offset >= slot->area_bytes)
        return false;
    *ret_offset = slot->area_offset + (pt_u64)(pt_i64)offset;
    *ret_room = offset < 0 ? (pt_u64) - (pt_i64)offset : slot->area_bytes - (pt_u64)offset;
    return true;
}

void pt_trace_file_drop_schema(struct pt_trace_file *file)
{
    free(file->schema);
    file->schema = NULL;
}

/* The words that are not 0, and which they are. */
enum { AREA_WORDS = sizeof(struct pt_thread_area) / 8 };
struct pt_packed_area {
    pt_u64 has[(AREA_WORDS + 63) / 64];
    pt_u64 words[];
};
_Static_assert(sizeof(struct pt_thread_area) % 8 == 0, "an area is words");

void pt_trace_slot_keep_area(struct pt_trace_slot *slot, const struct pt_thread_area *area)
{
    pt_u64 words[AREA_WORDS];
    size_t n = 0;
    memcpy(words, area, sizeof words);
    for (int i = 0; i < AREA_WORDS; i++)
        n += words[i] != 0;
    slot->area = pt_calloc(1, sizeof *slot->area + n * 8);
    n = 0;
    for (int i = 0; i < AREA_WORDS; i++)
        if (words[i]) {
            slot->area->has[i / 64] |= 1ull << i % 64;
            slot->area->words[n++] = words[i];
        }
}

void pt_trace_slot_area(const struct pt_trace_slot *slot, struct pt_thread_area *ret_area)
{
    pt_u64 words[AREA_WORDS] = {0};
    size_t n = 0;
    for (int i = 0; i < AREA_WORDS && slot->area; i++)
        if (slot->area->has[i / 64] >> i % 64 & 1)
            words[i] = slot->area->words[n++];
    memcpy(ret_area, words, sizeof words);
}

const char *pt_trace_file_text(const struct pt_trace_file *file, pt_u32 index)
{
    const char *at = file->text, *end = file->text + file->text_bytes;
    for (; index && at < end; index--)
        at += strlen(at) + 1;
    return at < end ? at : "";
}
