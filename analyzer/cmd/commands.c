/* SPDX-License-Identifier: MIT
 *
 * commands.c - Owns: the table of commands, made from commands.def, and how the last of what they print is written.
 * Threads: any for the table, it is constant; main for what is printed. Never: hides that stdout is full.
 */
#include "cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/auto.h"
#include "util/nearest.h"
#include "util/text/sanitize.h"
#include "util/text/shell_word.h"

const struct pt_command pt_commands[] = {
#define COMMAND(name, arguments, summary) {#name, pt_cmd_##name, arguments, summary},
#include "commands.def"
#undef COMMAND
    {NULL, NULL, NULL, NULL},
};

const struct pt_command *pt_command_find(const char *name)
{
    for (const struct pt_command *command = pt_commands; command->name; command++)
        if (!strcmp(command->name, name))
            return command;
    return NULL;
}

const char *pt_command_nearest(const char *name)
{
    static const char *const names[] = {
#define COMMAND(name, arguments, summary) #name,
#include "commands.def"
#undef COMMAND
        NULL};
    return pt_nearest_name(name, names);
}

void pt_command_say(const char *format, ...)
{
    PT_AUTO(pt_str_fini) struct pt_str shown = {0};
    char raw[4096]; /* longer than an error may be */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    pt_sanitize_terminal(&shown, raw);
    fprintf(stderr, "proftrace: %s\n", pt_str_text(&shown));
}

void pt_command_say_next(const char *reports, const char *run, bool is_reported)
{
    PT_AUTO(pt_str_fini) struct pt_str shown = {0};
    PT_AUTO(pt_str_fini) struct pt_str word = {0};
    pt_sanitize_terminal(&shown, reports);
    pt_shell_word(&word, run);
    fprintf(stderr, "proftrace: %s%s  (next: proftrace report %s)\n", pt_str_text(&shown),
            is_reported ? "/report.html" : "", pt_str_text(&word));
}

int pt_command_flush(const char *name, int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    const int why = errno;
    fprintf(stderr, "proftrace %s: cannot write to standard output: %s\n", name, strerror(why));
    return code ? code : PT_EXIT_OWN_FAILURE;
}
