/* SPDX-License-Identifier: MIT
 *
 * options.c - Owns: how a command line is read. Threads: main only. Never: exits, keeps state between calls.
 */
#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "util/auto.h"
#include "util/str.h"
#include "cmd/cmd.h"

static int set_choice(const struct pt_opt *option, const char *value, struct pt_error *err)
{
    int index = 0;
    const size_t length = strlen(value);
    for (const char *choice = option->values; choice; index++) {
        const char *bar = strchr(choice, '|');
        const size_t n = bar ? (size_t)(bar - choice) : strlen(choice);
        if (n == length && !memcmp(choice, value, n)) {
            *(int *)option->ret = index;
            return 0;
        }
        choice = bar ? bar + 1 : NULL;
    }
    return pt_fail_code(err, 2, "'%s' is not one of %s", value, option->values);
}

static int set_value(const struct pt_opt *option, const char *value, struct pt_error *err)
{
    switch (option->type) {
    case PT_OPT_TYPE_FLAG:
        *(bool *)option->ret = true;
        return 0;
    case PT_OPT_TYPE_TEXT:
        *(const char **)option->ret = value;
        return 0;
    case PT_OPT_TYPE_CHOICE:
        return set_choice(option, value, err);
    case PT_OPT_TYPE_COUNT:
        return pt_parse_count(value, option->ret, err);
    case PT_OPT_TYPE_SIZE:
        return pt_parse_size(value, option->ret, err);
    case PT_OPT_TYPE_DURATION:
        return pt_parse_duration(value, option->ret, err);
    }
    return -1;
}

static const struct pt_opt *find_long(const struct pt_opt *table, const char *name, size_t length)
{
    for (; table->name; table++)
        if (strlen(table->name) == length && !memcmp(table->name, name, length))
            return table;
    return NULL;
}

static const struct pt_opt *find_letter(const struct pt_opt *table, char letter)
{
    for (; table->name; table++)
        if (letter && table->letter == letter)
            return table;
    return NULL;
}

static int unknown_option(const struct pt_opt *table, const char *word, struct pt_error *err)
{
    enum { MANY = 64 };
    const char *names[MANY + 2];
    size_t n = 0;
    for (; table->name && n < MANY; table++)
        names[n++] = table->name;
    names[n++] = "help";
    names[n] = NULL;
    char bare[64];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + strspn(word, "-"), "="), word + strspn(word, "-"));
    const char *nearest = word[1] == '-' ? pt_nearest_name(bare, names) : NULL;
    if (nearest)
        return pt_fail_code(err, 2, "unknown option '%s'; did you mean '--%s'?", word, nearest);
    return pt_fail_code(err, 2, "unknown option '%s'; --help lists the options", word);
}

/* "proftrace report [OPTIONS] [RUN]". */
static void put_usage(struct pt_str *out, const struct pt_opt *table, const char *name)
{
    const struct pt_command *command = pt_command_find(name);
    pt_str_printf(out, "proftrace %s%s", name, table->name ? " [OPTIONS]" : "");
    if (command && command->arguments[0])
        pt_str_printf(out, " %s", command->arguments);
}

static void print_help(const struct pt_opt *table, const char *name)
{
    const struct pt_command *command = pt_command_find(name);
    PT_AUTO(pt_str_fini) struct pt_str usage = {0};
    put_usage(&usage, table, name);
    printf("usage: %s\n\n%s\n\n", pt_str_text(&usage), command ? command->summary : "");
    for (; table->name; table++) {
        char left[120];
        snprintf(left, sizeof left, "--%s%s%s%s", table->name, table->letter ? ", -" : "",
                 table->letter ? (char[]){table->letter, 0} : "", "");
        if (table->values) {
            const size_t used = strlen(left);
            snprintf(left + used, sizeof left - used, " %s", table->values);
        }
        printf("  %-30s %s\n", left, table->summary);
    }
    printf("  %-30s %s\n", "--help", "this text");
}

void pt_option_row_print(const struct pt_option_row *row)
{
    printf("%s\t%s\t%s%s\t%s\t%s\t", row->command, row->option, row->letter ? "-" : "", (char[]){row->letter, 0},
           row->kind, row->choices);
    for (const char *at = row->summary; *at; at++)
        printf(*at == '\'' ? "\u2019" : "%c", *at);
    putchar('\n');
}

static const char *kind_of_value(const struct pt_opt *option)
{
    static const char *const files[] = {"FILE", "DIR", "RUN"};
    if (option->type == PT_OPT_TYPE_FLAG)
        return "flag";
    if (option->type == PT_OPT_TYPE_CHOICE)
        return "choice";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strstr(option->values, files[i]))
            return "file";
    return islower((unsigned char)option->values[0]) && strchr(option->values, '|') ? "choice" : "text";
}

static void print_table(const struct pt_opt *table, const char *command)
{
    static const char one_of[] = "one of: "; /* a text with choices that are too many to stand beside it in help */
    for (; table->name; table++) {
        char name[64], choices[400];
        const bool is_list = !strncmp(table->summary, one_of, sizeof one_of - 1);
        const char *kind = is_list ? "choice" : kind_of_value(table);
        const char *values = is_list ? table->summary + sizeof one_of - 1 : table->values;
        snprintf(name, sizeof name, "--%s", table->name);
        snprintf(choices, sizeof choices, "%s", strcmp(kind, "choice") ? "" : values);
        for (char *space = strchr(choices, ' '); space; space = strchr(space, ' '))
            *space = '|';
        pt_option_row_print(&(struct pt_option_row){command, name, table->letter, kind, choices, table->summary});
    }
}

/* "--no-NAME" of a flag, NAME of so many letters. */
static bool clear_flag(const struct pt_opt *table, const char *name, size_t length)
{
    if (length <= 3 || strncmp(name, "no-", 3) != 0)
        return false;
    const struct pt_opt *option = find_long(table, name + 3, length - 3);
    if (!option || option->type != PT_OPT_TYPE_FLAG)
        return false;
    *(bool *)option->ret = false;
    return true;
}

/* One "--name" word. Returns how many words it took beyond the first, or -1. */
static int parse_long(const struct pt_opt *table, const char *word, const char *next, struct pt_error *err)
{
    const char *name = word + 2;
    const size_t length = strcspn(name, "=");
    const struct pt_opt *option = find_long(table, name, length);
    const char *attached = name[length] == '=' ? name + length + 1 : NULL;
    if (!option && !attached && clear_flag(table, name, length))
        return 0;
    if (!option)
        return unknown_option(table, word, err);
    if (option->type == PT_OPT_TYPE_FLAG) {
        if (attached)
            return pt_fail_code(err, 2, "option '--%s' takes no value", option->name);
        return set_value(option, NULL, err);
    }
    if (!attached && !next)
        return pt_fail_code(err, 2, "option '--%s' needs a value: %s", option->name, option->values);
    if (set_value(option, attached ? attached : next, err) < 0)
        return pt_error_context(err, "option '--%s'", option->name);
    return attached ? 0 : 1;
}

/* One "-abc" or "-ovalue" word, like parse_long. */
static int parse_letters(const struct pt_opt *table, const char *word, const char *next, struct pt_error *err)
{
    for (const char *letter = word + 1; *letter; letter++) {
        const struct pt_opt *option = find_letter(table, *letter);
        if (!option)
            return unknown_option(table, word, err);
        if (option->type == PT_OPT_TYPE_FLAG) {
            set_value(option, NULL, err);
            continue;
        }
        const bool attached = letter[1] != 0;
        if (!attached && !next)
            return pt_fail_code(err, 2, "option '-%c' needs a value: %s", *letter, option->values);
        if (set_value(option, attached ? letter + 1 : next, err) < 0)
            return pt_error_context(err, "option '-%c'", *letter);
        return attached ? 0 : 1;
    }
    return 0;
}

static int check_count(const struct pt_opt *table, const struct pt_arguments *args, const char *command,
                       struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str usage = {0};
    put_usage(&usage, table, command);
    if (args->n < args->min)
        return pt_fail_code(err, 2, "an argument is missing; usage: %s", pt_str_text(&usage));
    if (args->max >= 0 && args->n > args->max)
        return pt_fail_code(err, 2, "unexpected argument '%s'; usage: %s", args->values[args->max],
                            pt_str_text(&usage));
    return 0;
}

int pt_options_parse(const struct pt_opt *table, int argc, char **argv, struct pt_arguments *args, struct pt_error *err)
{
    /* Arguments move to the front of argv as they are found: only places that were read already are overwritten. */
    int n = 1;
    bool ended = false;
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        const bool is_option = !ended && word[0] == '-' && word[1];
        if (!is_option) {
            argv[n++] = word;
            ended = ended || args->stop_at_first;
            continue;
        }
        if (!strcmp(word, "--")) {
            ended = true;
            continue;
        }
        if (!strcmp(word, "--help") || (!strcmp(word, "-h") && !find_letter(table, 'h'))) {
            print_help(table, argv[0]);
            return 1;
        }
        if (!strcmp(word, PT_OPT_ASK_TABLE)) {
            print_table(table, argv[0]);
            return 1;
        }
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        const int taken = word[1] == '-' ? parse_long(table, word, next, err) : parse_letters(table, word, next, err);
        if (taken < 0)
            return -1;
        i += taken;
    }
    args->values = argv + 1;
    args->n = n - 1;
    if (n < argc)
        argv[n] = NULL;
    return check_count(table, args, argv[0], err);
}
