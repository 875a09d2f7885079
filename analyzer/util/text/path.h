/* SPDX-License-Identifier: MIT
 *
 * path.h - paths and names of files as text: nothing is looked up, because they may be of an old run.
 */
#ifndef PT_UTIL_TEXT_PATH_H
#define PT_UTIL_TEXT_PATH_H

#include <stdbool.h>

#include "util/str.h"

/* "/a//b/./c/../d" -> "/a/b/d", into an empty text. What ".." leads to is taken from the text alone. */
void pt_path_normalise(struct pt_str *ret_path, const char *path);
/* A path as a directory's members see it, normalised: "/a" and "../b" -> "/b". */
void pt_path_join(struct pt_str *ret_path, const char *directory, const char *path);

/* Last component of a path; the path itself when it ends in a slash, NULL of NULL. */
const char *pt_base_name(const char *path);
/* The same; of a name that says nothing, __init__.py and __main__.py, with the folder that it is in. */
const char *pt_telling_name(const char *path);

bool pt_ends_with(const char *text, const char *end);

#endif
