/* SPDX-License-Identifier: MIT
 *
 * symbol_cache.c - Owns: the file symbols.cache. Threads: one. Never: believes a number in it; writes through a link;
 * takes a file or folder of another user; leaves half of one behind.
 *
 * A head line with the number of the format, numbers of eight bytes, and texts with their length before them and a NUL
 * behind; a checksum at the end, against damage.
 */
#include "symbol_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/fd.h"
#include "util/new_file.h"

#define NAME "symbols.cache"
enum { MOST_BYTES = 64 << 20, MOST_TEXT_BYTES = 1 << 20, MOST_FRAMES = 64 };

/* Not our version: a run that another one reads, without its programs, would lose its names. The number is another one
 * where what is kept, or how it is found, is. */
#define HEAD "proftrace symbols "
static const char head[] = HEAD "4\n";

static pt_u64 sum_of(const char *bytes, size_t n)
{
    pt_u64 sum = 0xcbf29ce484222325ull;
    for (; n >= 8; bytes += 8, n -= 8) {
        pt_u64 word;
        memcpy(&word, bytes, 8);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
        sum ^= sum >> 29;
    }
    for (; n; n--)
        sum = (sum ^ (pt_u8)*bytes++) * 0x100000001b3ull;
    return sum;
}

/* ---- reading ---- */

struct reader {
    const char *at, *end;
    bool is_bad;
};

static pt_u64 get(struct reader *r, pt_u64 most)
{
    pt_u64 number = 0;
    if (r->end - r->at < 8)
        r->is_bad = true;
    else
        memcpy(&number, r->at, 8), r->at += 8;
    r->is_bad |= number > most;
    return r->is_bad ? 0 : number;
}

/* NULL = it has none. */
static const char *get_text(struct reader *r)
{
    const pt_u64 bytes = get(r, MOST_TEXT_BYTES);
    const char *text = r->at;
    if (!bytes || r->is_bad)
        return NULL;
    if ((pt_u64)(r->end - r->at) < bytes + 1 || text[bytes] || strlen(text) != bytes) {
        r->is_bad = true;
        return NULL;
    }
    r->at += bytes + 1;
    return text;
}

static void get_address(struct reader *r, struct pt_symbol_cache *cache)
{
    struct pt_cached_address address = {.address = get(r, UINT64_MAX), .first = (pt_u32)cache->frames.n};
    address.n = (pt_u32)get(r, MOST_FRAMES);
    r->is_bad |= !address.n;
    for (pt_u32 i = 0; i < address.n && !r->is_bad; i++) {
        struct pt_cached_frame frame = {.function = get_text(r)};
        frame.file = get_text(r);
        frame.line = (pt_u32)get(r, UINT32_MAX);
        frame.near = get_text(r);
        pt_vec_push(&cache->frames, frame);
    }
    pt_vec_push(&cache->addresses, address);
}

static void get_file(struct reader *r, struct pt_symbol_cache *cache)
{
    struct pt_cached_file file = {.path = get_text(r), .first = (pt_u32)cache->addresses.n};
    file.build_id_bytes = (pt_u32)get(r, sizeof file.build_id);
    for (pt_u32 i = 0; i < file.build_id_bytes; i++)
        file.build_id[i] = (pt_u8)get(r, UINT8_MAX);
    for (size_t i = 0; i < sizeof file.stamp.numbers / sizeof *file.stamp.numbers; i++)
        file.stamp.numbers[i] = get(r, UINT64_MAX);
    file.n = (pt_u32)get(r, UINT32_MAX);
    for (pt_u32 i = 0; i < file.n && !r->is_bad; i++)
        get_address(r, cache);
    r->is_bad |= !file.path;
    pt_vec_push(&cache->files, file);
}

static bool is_ours(int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/* It may be a link: DVC, git-annex and Nix make runs of them. */
static enum pt_symbol_cache_there read_text(const char *folder, struct pt_str *text)
{
    struct pt_error ignored;
    struct stat st;
    PT_AUTO(pt_closep) int directory_fd = pt_folder_open_own(folder, &ignored);
    PT_AUTO(pt_closep)
    int fd = directory_fd < 0 ? -1 : openat(directory_fd, NAME, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (!is_ours(fd))
        return directory_fd >= 0 && fstatat(directory_fd, NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 ? PT_CACHE_UNREADABLE
                                                                                               : PT_CACHE_NONE;
    if (pt_fd_read_all(fd, MOST_BYTES, text) < 0 || text->n < sizeof head - 1 + sizeof(pt_u64) ||
        memcmp(text->text, HEAD, sizeof HEAD - 1) != 0)
        return PT_CACHE_NONE;
    return memcmp(text->text, head, sizeof head - 1) ? PT_CACHE_OF_OTHER_VERSION : PT_CACHE_READ;
}

enum pt_symbol_cache_there pt_symbol_cache_read(const char *folder, struct pt_symbol_cache *ret_cache)
{
    *ret_cache = (struct pt_symbol_cache){0};
    struct pt_str *text = &ret_cache->text;
    enum pt_symbol_cache_there there = read_text(folder, text);
    pt_u64 sum;
    if (there == PT_CACHE_READ) {
        struct reader r = {text->text + sizeof head - 1, text->text + text->n - sizeof sum, false};
        memcpy(&sum, r.end, sizeof sum);
        r.is_bad = sum != sum_of(text->text, text->n - sizeof sum);
        while (!r.is_bad && r.at < r.end)
            get_file(&r, ret_cache);
        there = r.is_bad ? PT_CACHE_NONE : there;
    }
    if (there != PT_CACHE_READ)
        pt_symbol_cache_fini(ret_cache);
    return there;
}

/* ---- writing ---- */

static void put(struct pt_str *out, pt_u64 number)
{
    pt_str_bytes(out, (const char *)&number, sizeof number);
}

static void put_text(struct pt_str *out, const char *text)
{
    const size_t bytes = text ? strlen(text) : 0;
    put(out, bytes <= MOST_TEXT_BYTES ? bytes : 0);
    if (bytes && bytes <= MOST_TEXT_BYTES)
        pt_str_bytes(out, text, bytes + 1);
}

static void put_file(struct pt_str *out, const struct pt_symbol_cache *cache, const struct pt_cached_file *file)
{
    put_text(out, file->path);
    put(out, file->build_id_bytes);
    for (pt_u32 i = 0; i < file->build_id_bytes; i++)
        put(out, file->build_id[i]);
    for (size_t i = 0; i < sizeof file->stamp.numbers / sizeof *file->stamp.numbers; i++)
        put(out, file->stamp.numbers[i]);
    put(out, file->n);
    for (pt_u32 i = file->first; i < file->first + file->n; i++) {
        const struct pt_cached_address *address = &cache->addresses.items[i];
        put(out, address->address);
        put(out, address->n);
        for (pt_u32 j = address->first; j < address->first + address->n; j++) {
            put_text(out, cache->frames.items[j].function);
            put_text(out, cache->frames.items[j].file);
            put(out, cache->frames.items[j].line);
            put_text(out, cache->frames.items[j].near);
        }
    }
}

bool pt_symbol_cache_write(const char *folder, const struct pt_symbol_cache *cache)
{
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    struct pt_error ignored;
    pt_str_add(&out, head);
    for (size_t i = 0; i < cache->files.n && out.n <= MOST_BYTES; i++)
        put_file(&out, cache, &cache->files.items[i]);
    put(&out, sum_of(out.text, out.n));
    if (out.n > MOST_BYTES)
        return false;
    PT_AUTO(pt_closep) int directory_fd = pt_folder_open_own(folder, &ignored);
    return directory_fd >= 0 && pt_new_file_write(directory_fd, NAME, out.text, out.n) == 0;
}

void pt_symbol_cache_fini(struct pt_symbol_cache *cache)
{
    free(cache->files.items);
    free(cache->addresses.items);
    free(cache->frames.items);
    pt_str_fini(&cache->text);
    *cache = (struct pt_symbol_cache){0};
}
