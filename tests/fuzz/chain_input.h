/* SPDX-License-Identifier: MIT
 *
 * chain_input.h - what fuzz_chain is fed with: a run as text, as `proftrace dump` writes it and the stories of
 * tests/golden are written, then a NUL, then patches of what text cannot say. The text is made into trace files by the
 * code of `assemble`, so lengths and checksums are right whatever was mutated; patches change bytes of these files, and
 * repair the checksum over what they changed. A comment "# run.json: " in the text holds what a launcher wrote.
 */
#ifndef PT_TESTS_CHAIN_INPUT_H
#define PT_TESTS_CHAIN_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "proftrace/format.h"

enum chain_part {
    CHAIN_HEADER,  /* a field of the file's header */
    CHAIN_TEXT,    /* exe, arguments and the like */
    CHAIN_SCHEMA,  /* the description of events */
    CHAIN_SEGMENT, /* the header of a segment */
    CHAIN_AREA,    /* counters and totals of a thread */
    CHAIN_DEF,     /* a definition, its header or its payload */
    CHAIN_BLOCK,   /* the header of a block */
    CHAIN_EVENTS,  /* the columns of a block, which are unpacked, changed and packed again */
    CHAIN_BYTES,   /* any byte; nothing is repaired */
    CHAIN_CUT,     /* the file ends there */
    CHAIN_TWIN,    /* the file is there twice */
    CHAIN_SMALL,   /* its process shares a file with others: a head in small-*.pts */
    CHAIN_SHARED,  /* any byte of that shared file */
    CHAIN_PART__COUNT
};

enum chain_op { CHAIN_SET, CHAIN_ADD, CHAIN_XOR, CHAIN_OP__COUNT };

struct chain_patch {
    pt_u8 file, part, op, width; /* width: 1, 2, 4 or 8 bytes, as a power of two */
    pt_u16 item, at;             /* which segment, block ..., and the byte in it: both are taken modulo what there is */
    pt_u64 value;
};
_Static_assert(sizeof(struct chain_patch) == 16, "it is in kept inputs");

enum { CHAIN_FILES_MAX = 32, CHAIN_PATCHES_MAX = 16 };

struct chain_file {
    char *name; /* in the run directory */
    pt_u8 *bytes;
    size_t n;
    bool is_small;
};

struct chain_run {
    struct chain_file files[CHAIN_FILES_MAX], shared;
    size_t n;
};

/* The text of an input ends here: its size, or the place of the NUL. */
size_t chain_text_bytes(const pt_u8 *data, size_t size);
/* How many patches follow the NUL. */
size_t chain_patches(const pt_u8 *data, size_t size);

/* All trace files of a directory, changed by the patches, and written back. */
void chain_apply(const char *directory, const pt_u8 *patches, size_t n);

#endif
