/* SPDX-License-Identifier: MIT
 *
 * symbol_cache.h - what was found for addresses, kept in the run directory as symbols.cache: the next report of the run
 * opens no file of code.
 *
 * It may be deleted at any time, and is of no use where it cannot be written or read. What it says of a file holds as
 * long as that file and its debug file are as they were, or as long as no file of that build is here; without a
 * build-id any other file is of another build, unless it came during the run.
 */
#ifndef PT_SYMBOLS_SYMBOL_CACHE_H
#define PT_SYMBOLS_SYMBOL_CACHE_H

#include <stdbool.h>

#include "elf_image.h"
#include "util/str.h"
#include "util/vec.h"

struct pt_cached_frame {
    const char *function, *file; /* NULL = unknown */
    pt_u32 line;
    const char *near; /* NULL = none */
};

struct pt_cached_address {
    pt_u64 address;
    pt_u32 n, first; /* its frames */
};

struct pt_cached_file {
    const char *path;
    pt_u8 build_id[64];
    pt_u32 build_id_bytes;
    struct pt_elf_stamp stamp;
    pt_u32 n, first; /* its addresses */
};

/* Zeroed = empty. */
struct pt_symbol_cache {
    struct {
        PT_VEC(struct pt_cached_file);
    } files;
    struct {
        PT_VEC(struct pt_cached_address);
    } addresses;
    struct {
        PT_VEC(struct pt_cached_frame);
    } frames;
    struct pt_str text; /* of what was read: the texts lie there */
};

enum pt_symbol_cache_there {
    PT_CACHE_READ,
    PT_CACHE_NONE,             /* or a damaged one */
    PT_CACHE_OF_OTHER_VERSION, /* it may have names that nobody finds any more */
    PT_CACHE_UNREADABLE,       /* of another user, or a link to what is not here */
};
/* Whatever the file holds: only PT_CACHE_READ does not leave *cache empty. */
enum pt_symbol_cache_there pt_symbol_cache_read(const char *folder, struct pt_symbol_cache *ret_cache);
/* In place of the one that is there. False = it cannot be written: nothing is left behind. */
bool pt_symbol_cache_write(const char *folder, const struct pt_symbol_cache *cache);
void pt_symbol_cache_fini(struct pt_symbol_cache *cache);

#endif
