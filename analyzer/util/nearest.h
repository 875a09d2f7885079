/* SPDX-License-Identifier: MIT
 *
 * nearest.h - "did you mean": the known name that a mistyped one is nearest to.
 */
#ifndef PT_UTIL_NEAREST_H
#define PT_UTIL_NEAREST_H

/* The candidate nearest to `word` by edit distance, NULL when none is near. Candidates end with NULL. */
const char *pt_nearest_name(const char *word, const char *const *candidates);

#endif
