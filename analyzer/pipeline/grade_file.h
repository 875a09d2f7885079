/* SPDX-License-Identifier: MIT
 *
 * grade_file.h - finds the grade report among JSON files.
 */
#ifndef PT_PIPELINE_GRADE_FILE_H
#define PT_PIPELINE_GRADE_FILE_H

#include "proftrace/schema.h"
#include "document.h"

/* Files that may be it, and the wanted keys. */
struct pt_grade_search {
    const char *const *paths; /* absolute, also of files that are gone; the one that was written last first */
    size_t n_paths;
    const char *const *keys; /* as pt_quality_find() takes them */
    size_t n_keys;
    pt_u64 start_realtime_ns; /* of the run */
};

struct pt_grade_file {
    const char *path; /* one of those that were given; NULL = none of them is it */
    struct pt_document document;
    struct pt_str why_none; /* the reason, without a subject */
};

/* The file that has the most of the keys; of those that have as many, the newest. One that is older than the run, no
 * regular file, or a profile (which quotes the grades of some run) is none. */
void pt_grade_file_choose(const struct pt_grade_search *search, struct pt_grade_file *ret_file);
void pt_grade_file_fini(struct pt_grade_file *file);

/* Whether a file that was modified then was there before a run that started then. */
bool pt_is_older_than_run(struct timespec modified, pt_u64 start_realtime_ns);

#endif
