/* SPDX-License-Identifier: MIT
 *
 * commands.c - Owns: the table of commands, made from commands.def. Threads: any, it is constant.
 */
#include "cmd.h"

#include <string.h>

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
