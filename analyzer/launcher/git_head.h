/* SPDX-License-Identifier: MIT
 *
 * git_head.h - the commit that is checked out where a run was started, so that two reports can be distinguished later.
 */
#ifndef PT_LAUNCHER_GIT_HEAD_H
#define PT_LAUNCHER_GIT_HEAD_H

#include <stdbool.h>

#define PT_GIT_COMMIT_BYTES 65 /* SHA-256 in hex, and NUL */

/* Looks from the working directory upwards, as far as the first `.git`; false where there is no repository, or its form
 * is not known. */
bool pt_git_head(char commit[PT_GIT_COMMIT_BYTES]);

#endif
