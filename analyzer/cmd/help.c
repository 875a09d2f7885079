/* SPDX-License-Identifier: MIT
 *
 * help.c - Owns: `proftrace help [COMMAND]`. Threads: main only.
 */
#include <stdio.h>

#include "cmd.h"
#include "arguments/options.h"

static const char examples[] =
    "Start with one of these:\n"
    "\n"
    "  proftrace run -- python3 train.py     trace a command and all it starts, then report\n"
    "  LD_PRELOAD=libproftrace.so ./train    the same with nothing but the library\n"
    "  proftrace report                      where the time of the latest run went\n"
    "  proftrace export --to chrome          its timeline, for ui.perfetto.dev\n"
    "  proftrace doctor -- ./train           can this machine and command be traced?\n";

/* A build without scdoc has no pages. */
#ifdef PROFTRACE_HAS_MANUAL
#define MANUAL ", proftrace-COMMAND(1) explains it"
#else
#define MANUAL ""
#endif

static void print_commands(void)
{
    printf("usage: proftrace COMMAND [OPTIONS] [ARGUMENTS]\n\n%s\nCommands:\n\n", examples);
    for (const struct pt_command *command = pt_commands; command->name; command++)
        printf("  %-10s %s\n", command->name, command->summary);
    printf("\nRUN is a run directory or its bare name; left out, it is the latest. `proftrace help COMMAND` shows the\n"
           "options of a command" MANUAL ".\n");
}

static int unknown_command(const char *name, struct pt_error *err)
{
    const char *nearest = pt_command_nearest(name);
    if (nearest)
        return pt_fail_code(err, 2, "unknown command '%s'; did you mean '%s'?", name, nearest);
    return pt_fail_code(err, 2, "unknown command '%s'; `proftrace help` lists the commands", name);
}

int pt_cmd_help(int argc, char **argv, struct pt_error *err)
{
    const struct pt_opt table[] = {PT_OPT_END};
    struct pt_arguments args = {.min = 0, .max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    if (!args.n) {
        print_commands();
        return 0;
    }
    const struct pt_command *command = pt_command_find(args.values[0]);
    if (!command)
        return unknown_command(args.values[0], err);
    static char ask[] = "--help";
    char *asked[] = {(char *)(size_t)command->name, ask, NULL};
    return command->run(2, asked, err);
}
