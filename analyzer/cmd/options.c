/* SPDX-License-Identifier: MIT
 *
 * options.c - Owns: how a command line is read. Threads: main only. Never: exits, keeps state between calls.
 */
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

/* Insertions, deletions, substitutions and swaps of neighbours. */
static size_t edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    size_t rows[3][LONGEST + 1];
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = above[j] + 1 < row[j] ? above[j] + 1 : row[j];
            row[j] = row[j - 1] + 1 < row[j] ? row[j - 1] + 1 : row[j];
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && above2[j - 2] + 1 < row[j])
                row[j] = above2[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}

const char *pt_nearest_name(const char *word, const char *const *candidates)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 3 + 2;
    for (; *candidates; candidates++) {
        const size_t length = strlen(word);
        const size_t distance =
            length >= 3 && !strncmp(*candidates, word, length) ? 1 : edit_distance(word, *candidates);
        if (distance < best) {
            best = distance;
            nearest = *candidates;
        }
    }
    return nearest;
}

int pt_parse_count(const char *text, pt_u64 *ret_count, struct pt_error *err)
{
    char *end;
    if (*text < '0' || *text > '9')
        return pt_fail_code(err, 2, "'%s' is not a number", text);
    const unsigned long long value = strtoull(text, &end, 10);
    if (*end || value == ~0ull)
        return pt_fail_code(err, 2, "'%s' is not a number", text);
    *ret_count = value;
    return 0;
}

/* A decimal number and its suffix; -1 where there is no number or it is negative. */
static int split_number(const char *text, double *ret_value, const char **ret_suffix)
{
    char *end;
    if ((*text < '0' || *text > '9') && *text != '.')
        return -1;
    *ret_value = strtod(text, &end);
    *ret_suffix = end;
    return end == text || !isfinite(*ret_value) ? -1 : 0;
}

int pt_parse_size(const char *text, pt_u64 *ret_bytes, struct pt_error *err)
{
    static const char letters[] = "KMGT";
    double value;
    const char *suffix;
    if (split_number(text, &value, &suffix) < 0)
        return pt_fail_code(err, 2, "'%s' is not a size (like 4096, 64K, 10MiB)", text);
    const char letter = *suffix >= 'a' && *suffix <= 'z' ? (char)(*suffix - 32) : *suffix;
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found) {
        for (const char *step = letters; step <= found; step++)
            value *= 1024;
        suffix++;
        if (*suffix == 'i')
            suffix++;
    }
    if (*suffix == 'B' || *suffix == 'b')
        suffix++;
    if (*suffix || value >= 9.2e18)
        return pt_fail_code(err, 2, "'%s' is not a size (like 4096, 64K, 10MiB)", text);
    *ret_bytes = (pt_u64)value;
    return 0;
}

int pt_parse_duration(const char *text, pt_i64 *ret_ns, struct pt_error *err)
{
    static const struct {
        const char *suffix;
        double ns;
    } scales[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                  {"ns", 1}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    double value;
    const char *suffix;
    if (split_number(text, &value, &suffix) == 0)
        for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
            if (!strcmp(suffix, scales[i].suffix) && value * scales[i].ns < 9.2e18) {
                *ret_ns = (pt_i64)llround(value * scales[i].ns);
                return 0;
            }
    return pt_fail_code(err, 2, "'%s' is not a duration (like 1.5s, 20ms, 7us, 2m)", text);
}

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

static void print_help(const struct pt_opt *table, const char *name)
{
    const struct pt_command *command = pt_command_find(name);
    printf("usage: proftrace %s %s\n\n%s\n\n", name, command ? command->arguments : "",
           command ? command->summary : "");
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

/* One "--name" word. Returns how many words it took beyond the first, or -1. */
static int parse_long(const struct pt_opt *table, const char *word, const char *next, struct pt_error *err)
{
    const char *name = word + 2;
    const size_t length = strcspn(name, "=");
    const struct pt_opt *option = find_long(table, name, length);
    const char *attached = name[length] == '=' ? name + length + 1 : NULL;
    if (!option && length > 3 && !strncmp(name, "no-", 3) && !attached) {
        option = find_long(table, name + 3, length - 3);
        if (option && option->type == PT_OPT_TYPE_FLAG) {
            *(bool *)option->ret = false;
            return 0;
        }
        option = NULL;
    }
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
        return pt_while(err, "option '--%s'", option->name);
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
            return pt_while(err, "option '-%c'", *letter);
        return attached ? 0 : 1;
    }
    return 0;
}

static int check_count(const struct pt_arguments *args, const char *command, struct pt_error *err)
{
    const struct pt_command *row = pt_command_find(command);
    const char *usage = row ? row->arguments : "";
    if (args->n < args->min)
        return pt_fail_code(err, 2, "an argument is missing; usage: proftrace %s %s", command, usage);
    if (args->max >= 0 && args->n > args->max)
        return pt_fail_code(err, 2, "unexpected argument '%s'; usage: proftrace %s %s", args->values[args->max],
                            command, usage);
    return 0;
}

int pt_options_parse(const struct pt_opt *table, int argc, char **argv, struct pt_arguments *args, struct pt_error *err)
{
    /* Arguments move to the front of argv as they are met: a place that is written has been read. */
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
    return check_count(args, argv[0], err);
}
