/* SPDX-License-Identifier: MIT
 *
 * stacks/types.c - Owns: the texts of a look. Threads: main only. State: none.
 */
#include "types.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *pt_look_text(struct pt_look *look, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pt_arena_text(&look->texts, text, strlen(text));
}
