/* SPDX-License-Identifier: MIT
 *
 * shell_word.c - Owns: quoting for the shell. Threads: any. Never: lets a control character through to the terminal.
 */
#include "shell_word.h"

#include <stdbool.h>
#include <string.h>

#include "util/auto.h"
#include "util/text/sanitize.h"

void pt_shell_word(struct pt_str *out, const char *path)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_sanitize_terminal(&text, path);
    const char *rest = pt_str_text(&text);
    const bool plain = !strpbrk(rest, " \"'`$&|;<>()*?[]{}!#~\\");
    if (!plain)
        pt_str_char(out, '\'');
    for (; *rest; rest++)
        if (*rest == '\'')
            pt_str_add(out, "'\\''");
        else
            pt_str_char(out, *rest);
    if (!plain)
        pt_str_char(out, '\'');
}
