/* SPDX-License-Identifier: MIT
 *
 * shell_word.h - a path to paste into a shell: quoted where the shell would split it or act on it.
 */
#ifndef PT_UTIL_TEXT_SHELL_WORD_H
#define PT_UTIL_TEXT_SHELL_WORD_H

#include "util/str.h"

void pt_shell_word(struct pt_str *out, const char *path);

#endif
