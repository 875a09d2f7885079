/* SPDX-License-Identifier: MIT
 *
 * read_again.h - whether a function of Python reads the same few files again and again.
 */
#ifndef PT_RULES_READ_AGAIN_H
#define PT_RULES_READ_AGAIN_H

#include "finding.h"

struct pt_read_again {
    const char *path; /* of those that the function opens, the one that was read again most; NULL = none was */
    pt_u64 opens;
    double share;      /* of what was read of it: what had been read before */
    double read_bytes; /* of it, in all */
    pt_u64 bytes;      /* of that, those again */
};

/* What a function of Python opens: few files, each opened far more often than there are processes. A data set of many
 * files that is read once in each epoch is none. */
struct pt_read_again pt_read_again_in(const struct pt_profile *profile, pt_i64 stage, const char *file,
                                      const char *function);

/* How often it opens files, all that it opens. Of more files than the table has the rest is shared out as its rows are.
 * 0 = it opens none, or nobody knows. */
double pt_opens_in(const struct pt_profile *profile, pt_i64 stage, const char *file, const char *function);

/* How often it opens the same file for each process of the stage; 0 = it opens none, or nobody knows. */
double pt_opens_of_one_file_in(const struct pt_profile *profile, pt_i64 stage, const char *file, const char *function);

#endif
