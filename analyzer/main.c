/* SPDX-License-Identifier: MIT
 *
 * main.c - Owns: the choice of the command; everything else is in cmd/. Threads: main only. Never: prints an error
 * unsanitised.
 */
#include <stdio.h>
#include <string.h>

#include "proftrace/limits.h"
#include "cmd/cmd.h"
#include "util/auto.h"
#include "util/text/sanitize.h"

/* By this ELF note the library knows us: with LD_PRELOAD exported, `proftrace report` would else be the latest run. */
static const struct {
    pt_u32 owner_bytes, description_bytes, type;
    char owner[(sizeof PT_COMMAND_NOTE_OWNER + 3) / 4 * 4];
} note __attribute__((section(".note.proftrace"), used, aligned(PT_COMMAND_NOTE_ALIGN_BYTES))) = {
    sizeof PT_COMMAND_NOTE_OWNER, 0, PT_COMMAND_NOTE_TYPE, PT_COMMAND_NOTE_OWNER};

static void print_usage(FILE *to)
{
    fprintf(to, "usage: proftrace COMMAND [OPTIONS] [ARGUMENTS]\n\n");
    for (const struct pt_command *command = pt_commands; command->name; command++)
        fprintf(to, "  %-10s %s\n", command->name, command->summary);
    fprintf(to, "\n`proftrace COMMAND --help` shows the options of a command.\n");
}

static int unknown_command(const char *name)
{
    const char *nearest = pt_command_nearest(name);
    PT_AUTO(pt_str_fini) struct pt_str shown = {0};
    pt_sanitize_terminal(&shown, name);
    if (nearest)
        fprintf(stderr, "proftrace: unknown command '%s'; did you mean '%s'?\n", pt_str_text(&shown), nearest);
    else
        fprintf(stderr, "proftrace: unknown command '%s'; `proftrace --help` lists the commands\n",
                pt_str_text(&shown));
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return 2;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        name = "help";
    else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        name = "version";
    const struct pt_command *command = pt_command_find(name);
    if (!command && !strcmp(name, "help")) {
        print_usage(stdout);
        return 0;
    }
    if (!command)
        return unknown_command(argv[1]);
    struct pt_error err = {0};
    argv[1] = (char *)(size_t)command->name;
    const int code = command->run(argc - 1, argv + 1, &err);
    if (code < 0) {
        /* Errors quote file and stage names, and those may have escape sequences that repaint a terminal. */
        PT_AUTO(pt_str_fini) struct pt_str text = {0};
        pt_sanitize_terminal(&text, err.text);
        fprintf(stderr, "proftrace %s: %s\n", command->name, pt_str_text(&text));
        return err.exit_code ? err.exit_code : PT_EXIT_OWN_FAILURE;
    }
    return pt_command_flush(command->name, code);
}
