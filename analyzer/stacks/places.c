/* SPDX-License-Identifier: MIT
 *
 * stacks/places.c - Owns: the one place of a stack that is told first. Threads: any. Never: prints a recorded name as
 * it is.
 */
#include "places.h"

#include <string.h>

#include "util/auto.h"
#include "util/toolchain.h"
#include "util/text/path.h"
#include "util/text/sanitize.h"

/* Code without a file is the program's own (python -c, a notebook), but for the import system's. */
bool pt_stack_is_of_library(const struct pt_stack_line *line)
{
    return line->file && (strstr(line->file, "/lib/python3") || strstr(line->file, "/lib64/python3") ||
                          strstr(line->file, "-packages/") || !strncmp(line->file, "<frozen", 7));
}

/* What a header of the compiler's or the C library's has inlined into the program, and these libraries' own sources. */
static bool is_of_toolchain(const struct pt_stack_line *line)
{
    return pt_is_of_toolchain(line->file) || !strncmp(line->function, "std::", 5) ||
           !strncmp(line->function, "__gthread_", 10);
}

enum rank { NO_PLACE, OF_TOOLCHAIN, OF_PROGRAM, OF_PYTHONS_LIBRARY, OF_PYTHON };

static enum rank rank_of(const struct pt_stack_line *line)
{
    if (!line->function)
        return NO_PLACE;
    if (line->is_python)
        return pt_stack_is_of_library(line) ? OF_PYTHONS_LIBRARY : OF_PYTHON;
    if (!line->file || !line->file[0])
        return NO_PLACE;
    return is_of_toolchain(line) ? OF_TOOLCHAIN : OF_PROGRAM;
}

const struct pt_stack_line *pt_stack_place(const struct pt_look_thread *thread)
{
    const struct pt_stack_line *best = NULL;
    enum rank rank = NO_PLACE;
    for (size_t i = 0; i < thread->lines.n; i++)
        if (rank_of(&thread->lines.items[i]) > rank) {
            best = &thread->lines.items[i];
            rank = rank_of(best);
        }
    return best;
}

void pt_stack_put_place(struct pt_str *out, const struct pt_stack_line *place)
{
    pt_sanitize_terminal(out, place->function);
    if (!place->file || !place->file[0])
        return;
    pt_str_add(out, " (");
    pt_sanitize_terminal(out, pt_base_name(place->file));
    if (place->line)
        pt_str_printf(out, ":%u", place->line);
    pt_str_char(out, ')');
}

void pt_stack_put_command(struct pt_str *out, const char *command)
{
    enum { MOST_BYTES = 60 };
    size_t n = strcspn(command, "\r\n");
    const bool is_cut = command[n] || n > MOST_BYTES;
    if (n > MOST_BYTES)
        n = MOST_BYTES;
    while (n && ((unsigned char)command[n] & 0xc0) == 0x80)
        n--;
    PT_AUTO(pt_str_fini) struct pt_str begin = {0};
    pt_str_bytes(&begin, command, n);
    pt_sanitize_terminal(out, pt_str_text(&begin));
    if (is_cut)
        pt_str_add(out, "...");
}
