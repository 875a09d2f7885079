/* SPDX-License-Identifier: MIT
 *
 * cmd.h - what a command is: a row in commands.def and one function.
 *
 * argv[0] is the command's name. The function returns the exit code of the contract (0 = fine), or -1 with err set:
 * main prints "proftrace <command>: <error>" and exits with err->exit_code, or 125 where that is 0. Data goes to
 * stdout, talk to stderr.
 */
#ifndef PT_CMD_CMD_H
#define PT_CMD_CMD_H

#include <stdbool.h>

#include "util/error.h"

struct pt_command {
    const char *name;
    int (*run)(int argc, char **argv, struct pt_error *err);
    const char *arguments;
    const char *summary;
};

#define COMMAND(name, arguments, summary) int pt_cmd_##name(int argc, char **argv, struct pt_error *err);
#include "commands.def"
#undef COMMAND

/* `export --to chrome RUN`, for a run that has just ended. */
int pt_export_timeline(const char *path, bool is_silent, struct pt_error *err);

/* All commands in the order of commands.def, ending with a row whose name is NULL. */
extern const struct pt_command pt_commands[];
const struct pt_command *pt_command_find(const char *name);
/* The name of the command that somebody may have meant; NULL = none is near. */
const char *pt_command_nearest(const char *name);

/* What waits for stdout is written; the exit code, which a failure of that changes only where it was 0. */
int pt_command_flush(const char *name, int code);
/* A line to stderr: reasons and errors quote names of files and programs, and those may have escape sequences that
 * repaint a terminal. */
__attribute__((format(printf, 1, 2))) void pt_command_say(const char *format, ...);
/* The last line of a command that has recorded a run: where its reports are, and what shows them. */
void pt_command_say_next(const char *reports, const char *run, bool is_reported);

#endif
