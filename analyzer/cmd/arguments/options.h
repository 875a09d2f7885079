/* SPDX-License-Identifier: MIT
 *
 * options.h - the options of a command as a table.
 *
 *     struct request { bool json; const char *output; pt_u64 top; pt_i64 from_ns; };
 *     struct request r = {.top = 20};
 *     const struct pt_opt table[] = {
 *         PT_OPT_FLAG("json", 0, &r.json, "print JSON"),
 *         PT_OPT_TEXT("output", 'o', &r.output, "FILE", "write here instead of stdout"),
 *         PT_OPT_COUNT("top", 'n', &r.top, "N", "rows in each table"),
 *         PT_OPT_DURATION("from", 0, &r.from_ns, "T", "leave out what ended before"),
 *         PT_OPT_END,
 *     };
 *     struct pt_arguments args = {.min = 0, .max = 1};
 *     const int done = pt_options_parse(table, argc, argv, &args, err);
 *     if (done)
 *         return done < 0 ? -1 : 0;                  // 1: --help was asked for and printed
 *     const char *run = args.n ? args.values[0] : NULL;
 *
 * Accepted: --name value, --name=value, --no-name for flags, -o value, -ovalue, -- (nothing after it is an option).
 * Options may come before, between and after arguments, except with stop_at_first. An unknown option is an error with
 * exit code 2 that names the nearest one. The default is the value that the variable had before.
 */
#ifndef PT_CMD_OPTIONS_H
#define PT_CMD_OPTIONS_H

#include <stdbool.h>

#include "proftrace/types.h"
#include "util/error.h"
#include "util/nearest.h"
#include "util/parse.h"

enum pt_opt_type {
    PT_OPT_TYPE_FLAG,     /* bool; --no-x clears it */
    PT_OPT_TYPE_TEXT,     /* const char *, into argv */
    PT_OPT_TYPE_CHOICE,   /* int: index in `values` "text|json|md" */
    PT_OPT_TYPE_COUNT,    /* pt_u64 */
    PT_OPT_TYPE_SIZE,     /* pt_u64 bytes: 4096, 64K, 10MiB, 1.5G (powers of 1024) */
    PT_OPT_TYPE_DURATION, /* pt_i64 ns: 5 (seconds), 1.5s, 20ms, 7us, 100ns, 2m, 1h, 7d */
};

struct pt_opt {
    const char *name;
    char letter; /* 0 = none */
    enum pt_opt_type type;
    void *ret;
    const char *values; /* what help shows as the value; for CHOICE the choices themselves */
    const char *summary;
};

/* clang-format off */
#define PT_OPT_FLAG(name, letter, ret_bool, summary) {name, letter, PT_OPT_TYPE_FLAG, (bool *){ret_bool}, NULL, summary}
#define PT_OPT_TEXT(name, letter, ret_text, value, summary) {name, letter, PT_OPT_TYPE_TEXT, (const char **){ret_text}, value, summary}
#define PT_OPT_CHOICE(name, letter, ret_int, choices, summary) {name, letter, PT_OPT_TYPE_CHOICE, (int *){ret_int}, choices, summary}
#define PT_OPT_COUNT(name, letter, ret_u64, value, summary) {name, letter, PT_OPT_TYPE_COUNT, (pt_u64 *){ret_u64}, value, summary}
#define PT_OPT_SIZE(name, letter, ret_u64, value, summary) {name, letter, PT_OPT_TYPE_SIZE, (pt_u64 *){ret_u64}, value, summary}
#define PT_OPT_DURATION(name, letter, ret_i64, value, summary) {name, letter, PT_OPT_TYPE_DURATION, (pt_i64 *){ret_i64}, value, summary}
#define PT_OPT_END {NULL, 0, PT_OPT_TYPE_FLAG, NULL, NULL, NULL}
/* clang-format on */

struct pt_arguments {
    int min, max;       /* how many the command takes; max -1 = any number */
    bool stop_at_first; /* `run`: the first argument ends the options, all that follows belongs to the command */
    char **values;      /* set by the parser: arguments in order, NULL-terminated (argv, permuted) */
    int n;
};

/* As an option of every command, for `completion`: print the table, a row to a line. */
#define PT_OPT_ASK_TABLE "--print-table-of-options"
struct pt_option_row {
    const char *command, *option; /* "--name" */
    char letter;                  /* 0 = none */
    const char *kind;             /* of its value: flag, choice, file, run, text */
    const char *choices;          /* a|b|c */
    const char *summary;
};
/* With tabs between; an apostrophe becomes one that no shell takes for a quote. */
void pt_option_row_print(const struct pt_option_row *row);

/* 0 = parsed; 1 = --help was printed to stdout; -1 = error with exit code 2. */
int pt_options_parse(const struct pt_opt *table, int argc, char **argv, struct pt_arguments *args,
                     struct pt_error *err);

#endif
