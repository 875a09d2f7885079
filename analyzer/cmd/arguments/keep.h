/* SPDX-License-Identifier: MIT
 *
 * keep.h - the options that say which detail of a long run is kept.
 */
#ifndef PT_CMD_ARGUMENTS_KEEP_H
#define PT_CMD_ARGUMENTS_KEEP_H

#include "util/error.h"
#include "options.h"

struct pt_keep {
    const char *first; /* a size; NULL = as the environment has it, as below */
    const char *last;  /* a size or a time */
};

#define PT_OPT_KEEP(keep)                                                                                              \
    PT_OPT_TEXT("keep-first", 0, &(keep)->first, "SIZE",                                                               \
                "never overwrite the events of the start of each process, as many as fit there"),                      \
        PT_OPT_TEXT("keep-last", 0, &(keep)->last, "SIZE|TIME",                                                        \
                    "keep the latest events that fit into this size (512M), or those of this time (2h); totals are "   \
                    "kept of everything")

/* Hand them on, as the variables that the library reads. Before the environment of a command is made. */
int pt_keep_apply(const struct pt_keep *keep, struct pt_error *err);

#endif
