/* SPDX-License-Identifier: MIT
 *
 * completion.c - Owns: `proftrace completion`: a script for a shell, with a table of all commands and options in it.
 * Threads: main only. Never: runs a command.
 */
#include "completion.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "arguments/options.h"

static const char place_of_table[] = "PROFTRACE_TABLE";

/* What may stand behind a command, as the scripts know it; "action": one of some words, and then runs or files. */
static const char *argument_kind(const struct pt_command *command)
{
    if (!strcmp(command->name, "help"))
        return "subcommand";
    if (islower((unsigned char)command->arguments[0]))
        return strchr(command->arguments, ' ') ? "action" : "choice";
    if (strstr(command->arguments, "COMMAND"))
        return "command";
    if (strstr(command->arguments, "RUN") || !strncmp(command->arguments, "A[", 2))
        return "run";
    return strstr(command->arguments, "FILE") || strstr(command->arguments, "DIR") ? "file" : "none";
}

/* The options are known to each command alone: it is asked for them. */
static int print_table(struct pt_error *err)
{
    int result = 0;
    for (const struct pt_command *command = pt_commands; command->name && result >= 0; command++) {
        char ask[] = PT_OPT_ASK_TABLE;
        char *asked[] = {(char *)(size_t)command->name, ask, NULL};
        const char *kind = argument_kind(command);
        const bool is_word = !strcmp(kind, "choice") || !strcmp(kind, "action");
        char words[64] = "";
        snprintf(words, sizeof words, "%.*s", is_word ? (int)strcspn(command->arguments, " ") : 0, command->arguments);
        pt_option_row_print(&(struct pt_option_row){command->name, "", 0, kind, words, command->summary});
        result = command->run(2, asked, err);
    }
    return result;
}

int pt_cmd_completion(int argc, char **argv, struct pt_error *err)
{
    static const struct {
        const char *shell, *script;
    } shells[] = {{"bash", pt_completion_bash}, {"zsh", pt_completion_zsh}, {"fish", pt_completion_fish}};
    const struct pt_opt table[] = {PT_OPT_END};
    struct pt_arguments args = {.min = 1, .max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(args.values[0], shells[i].shell) != 0)
            continue;
        const char *at = strstr(shells[i].script, place_of_table);
        printf("%.*s", (int)(at - shells[i].script), shells[i].script);
        if (print_table(err) < 0)
            return -1;
        printf("%s", at + strlen(place_of_table));
        return 0;
    }
    return pt_fail_code(err, 2, "no completion for the shell '%s'; there is one for bash, zsh, fish", args.values[0]);
}
