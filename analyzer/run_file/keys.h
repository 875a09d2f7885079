/* SPDX-License-Identifier: MIT
 *
 * run_file/keys.h - the rows of run_file.def as a table: which key is which member, and of what kind.
 */
#ifndef PT_RUN_FILE_KEYS_H
#define PT_RUN_FILE_KEYS_H

#include <stddef.h>

#include "run_file.h"

/* The objects of run.json. RUN, LAUNCHER, MACHINE, PIPELINE and THRESHOLDS are members of one struct pt_run_info. */
enum pt_run_section {
    PT_RUN_RUN,
    PT_RUN_LAUNCHER,
    PT_RUN_MACHINE,
    PT_RUN_PIPELINE,
    PT_RUN_THRESHOLDS,
    PT_RUN_QUALITY,
    PT_RUN_STAGE,
    PT_RUN_RESOURCE,
    PT_RUN_LEFT,
    PT_RUN_UNTRACED,
};

enum pt_run_type {
    PT_RUN_TEXT,
    PT_RUN_NAME,
    PT_RUN_TEXT_IF_ANY,
    PT_RUN_TEXTS,
    PT_RUN_LINES,
    PT_RUN_COMMAND,
    PT_RUN_WHOLE,
    PT_RUN_WHOLE_IF_KNOWN,
    PT_RUN_EXACT,
    PT_RUN_NUMBER,
    PT_RUN_ROUNDED,
    PT_RUN_MILLIS,
    PT_RUN_MICROS,
    PT_RUN_RESOURCES,
    PT_RUN_SAMPLES,
    PT_RUN_BLOCK,
    PT_RUN_INLINE,
    PT_RUN_OBJECT_OR_NULL,
    PT_RUN_BLOCKS,
    PT_RUN_INLINES,
};

struct pt_run_key {
    enum pt_run_section section;
    const char *key;
    enum pt_run_type type;
    size_t offset;              /* of the member in the section's structure */
    enum pt_run_section inside; /* objects and lists: what they consist of */
    size_t n_offset;            /* lists: of how many there are */
};

extern const struct pt_run_key pt_run_keys[]; /* ends with a NULL key */

/* for (key = the first row of a section; key; key = the next one) */
const struct pt_run_key *pt_run_first_key(enum pt_run_section section);
const struct pt_run_key *pt_run_next_key(const struct pt_run_key *key);

/* Where a key's value lies in its section's structure. */
static inline void *pt_run_place(const struct pt_run_key *key, const void *fields)
{
    return (char *)(size_t)fields + key->offset;
}

/* Of one item of a list. */
size_t pt_run_item_bytes(enum pt_run_section section);

#endif
