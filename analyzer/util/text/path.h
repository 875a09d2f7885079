/* SPDX-License-Identifier: MIT
 *
 * path.h - paths as text: nothing is looked up, because they may be of an old run.
 */
#ifndef PT_UTIL_TEXT_PATH_H
#define PT_UTIL_TEXT_PATH_H

#include "util/str.h"

/* "/a//b/./c/../d" -> "/a/b/d", into an empty text. What ".." leads to is taken from the text alone. */
void pt_path_normalise(struct pt_str *ret_path, const char *path);
/* A path as a directory's members see it, normalised: "/a" and "../b" -> "/b". */
void pt_path_join(struct pt_str *ret_path, const char *directory, const char *path);

#endif
