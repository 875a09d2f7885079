/* SPDX-License-Identifier: MIT
 *
 * option_values.c - Owns: the check of options in the environment, by exactly the rules of the library. Threads: main
 * only. Never: changes the environment; reports an option that has an effect.
 */
#include "option_values.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proftrace/options.h"
#include "util/auto.h"
#include "util/nearest.h"
#include "util/parse.h"
#include "util/str.h"
#include "util/text/sanitize.h"

bool pt_option_is_on(const char *variable)
{
    const char *text = getenv(variable);
    return text && pt_option_switch(text) == 1;
}

bool pt_option_is_off(const char *variable)
{
    const char *text = getenv(variable);
    return text && pt_option_switch(text) == 0;
}

bool pt_option_is_off_by_alias(void)
{
    return pt_option_is_off("ENABLE_PROFILING") && !pt_option_is_off("PROFTRACE_DISABLE");
}

enum { PREFIX = sizeof PT_OPTION_PREFIX - 1 };

/* Of an option's name, and of a choice with all its words. */
enum { MOST_NAME_BYTES = 32, MOST_WORDS = 8, MOST_WORDS_BYTES = 64 };

struct words {
    char text[MOST_WORDS_BYTES];
    const char *list[MOST_WORDS + 1]; /* ends with NULL */
};

static void split_words(const char *words, struct words *ret)
{
    char *rest = NULL;
    size_t n = 0;
    *ret = (struct words){0};
    snprintf(ret->text, sizeof ret->text, "%s", words);
    for (char *word = strtok_r(ret->text, " ", &rest); word && n < MOST_WORDS; word = strtok_r(NULL, " ", &rest))
        ret->list[n++] = word;
}

static const char *nearest_word(const char *value, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (!strcasecmp(value, words[i]))
            return words[i];
    return pt_nearest_name(value, words);
}

static void wrong_word(const struct pt_option *option, const char *value, struct pt_str *problem, struct pt_str *remedy)
{
    struct words words;
    split_words(option->words, &words);
    const char *nearest = nearest_word(value, words.list);
    pt_str_printf(problem, "=%s is not understood and has no effect", value);
    if (nearest)
        pt_str_printf(remedy, "did you mean %s?", nearest);
    for (size_t i = 0; !nearest && words.list[i]; i++)
        pt_str_printf(remedy, "%s%s", i ? ", " : "use one of ", words.list[i]);
}

static void wrong_number(const struct pt_option *option, const char *value, struct pt_str *problem,
                         struct pt_str *remedy)
{
    PT_AUTO(pt_str_fini) struct pt_str digits = {0};
    pt_u64 number;
    pt_str_bytes(&digits, value, strspn(value, "0123456789"));
    pt_str_printf(problem, "=%s is not a whole number and has no effect", value);
    if (pt_option_number(pt_str_text(&digits), &number) == 0)
        pt_str_printf(remedy, "did you mean %s?", pt_str_text(&digits));
    else
        pt_str_printf(remedy, "give one, such as %s", option->initial);
}

static bool is_interval(const char *text, pt_i64 *ret_ns)
{
    struct pt_error ignored = {0};
    return pt_parse_milliseconds(text, ret_ns, &ignored) == 0 && *ret_ns >= PT_INTERVAL_MIN_MS * 1000000;
}

static void wrong_interval(const struct pt_option *option, const char *value, struct pt_str *problem,
                           struct pt_str *remedy)
{
    pt_str_printf(problem, "=%s is not a time of %d ms or more and has no effect", value, PT_INTERVAL_MIN_MS);
    pt_str_printf(remedy, "give one, such as %s", option->initial);
}

static void long_text(const struct pt_option *option, const char *value, struct pt_str *problem, struct pt_str *remedy)
{
    pt_str_printf(problem, " has %zu bytes and has no effect", strlen(value));
    pt_str_printf(remedy, "use at most %llu bytes", (unsigned long long)pt_option_range(option)->most);
}

/* Of the first item of a window that is not understood. */
static void wrong_window(const struct pt_option *option, const char *value, struct pt_str *problem,
                         struct pt_str *remedy)
{
    PT_AUTO(pt_str_fini) struct pt_str item = {0}, name = {0};
    const char *names[PT_N_WINDOW_KEYS + 1] = {NULL};
    const char *wrong = pt_window_problem(value), *nearest;
    if (!wrong) {
        long_text(option, value, problem, remedy);
        return;
    }
    for (size_t i = 0; i < PT_N_WINDOW_KEYS; i++)
        names[i] = pt_window_keys[i].name;
    pt_str_bytes(&item, wrong, strcspn(wrong, ","));
    pt_str_printf(problem, "=%s is not understood%s%s and has no effect", value, wrong == value ? "" : " at ",
                  wrong == value ? "" : pt_str_text(&item));
    pt_str_bytes(&name, wrong, strcspn(wrong, ",="));
    const char *rest;
    const struct pt_window_key *key = pt_window_key_of(pt_str_text(&name), &rest);
    if (key)
        pt_str_printf(remedy, key->kind == PT_WINDOW_FLAG ? "give %s without a value" : "give %s=NUMBER%s", key->name,
                      key->least ? " of 1 or more" : "");
    else if ((nearest = pt_nearest_name(pt_str_text(&name), names)))
        pt_str_printf(remedy, "did you mean %s?", nearest);
    else
        pt_str_add(remedy, "docs/windows.md has all keys");
}

static void check_value(const struct pt_option *option, const char *name, const char *value, pt_option_warning *warn,
                        void *context)
{
    PT_AUTO(pt_str_fini) struct pt_str problem = {0};
    PT_AUTO(pt_str_fini) struct pt_str remedy = {0};
    pt_u64 ignored;
    pt_i64 ignored_ns;
    const bool is_time = option->type == PT_OPTION_DURATION;
    if (!*value || (is_time ? is_interval(value, &ignored_ns) : pt_option_read(option, value, &ignored) == 0))
        return;
    pt_str_add(&problem, name);
    if (option->type == PT_OPTION_NUMBER)
        wrong_number(option, value, &problem, &remedy);
    else if (is_time)
        wrong_interval(option, value, &problem, &remedy);
    else if (option->type == PT_OPTION_WINDOW)
        wrong_window(option, value, &problem, &remedy);
    else if (option->type == PT_OPTION_TEXT)
        long_text(option, value, &problem, &remedy);
    else
        wrong_word(option, value, &problem, &remedy);
    warn(context, pt_str_text(&problem), pt_str_text(&remedy));
}

static void name_variable(const struct pt_option *option, char ret_name[MOST_NAME_BYTES])
{
    size_t i = 0;
    for (; i < MOST_NAME_BYTES - 1 && option->name[i]; i++)
        ret_name[i] = (char)toupper((unsigned char)option->name[i]);
    ret_name[i] = 0;
}

/* No options, but ours: what the launcher of a pipeline tells its stages, where the Python package finds the command,
 * and a test build's place to die. */
static bool is_known(const char *name)
{
    static const char *const known[] = {"", "PIPELINE_CONFIG", "COMMAND", "TEST_KILL"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i]))
            return true;
    return false;
}

/* Whoever sets one expects something of it: also where no option of ours has a name that is near. */
static void check_name(const char *name, pt_option_warning *warn, void *context)
{
    char texts[PT_N_OPTIONS][MOST_NAME_BYTES];
    const char *names[PT_N_OPTIONS + 1] = {NULL};
    for (size_t i = 0; i < PT_N_OPTIONS; i++) {
        name_variable(&pt_option_table[i], texts[i]);
        names[i] = texts[i];
    }
    const char *nearest = pt_nearest_name(name + PREFIX, names);
    PT_AUTO(pt_str_fini) struct pt_str problem = {0};
    PT_AUTO(pt_str_fini) struct pt_str remedy = {0};
    if (is_known(name + PREFIX))
        return;
    pt_str_printf(&problem, "%s is no option and has no effect", name);
    if (nearest)
        pt_str_printf(&remedy, "did you mean " PT_OPTION_PREFIX "%s?", nearest);
    else
        pt_str_add(&remedy, "docs/options.md and libproftrace(7) have all of them");
    warn(context, pt_str_text(&problem), pt_str_text(&remedy));
}

/* `name`: without the prefix. NULL = there is none. */
static const struct pt_option *option_of(const char *name, size_t n_bytes)
{
    char known[MOST_NAME_BYTES];
    for (size_t i = 0; i < PT_N_OPTIONS; i++) {
        name_variable(&pt_option_table[i], known);
        if (strlen(known) == n_bytes && !memcmp(name, known, n_bytes))
            return &pt_option_table[i];
    }
    return NULL;
}

bool pt_is_option(const char *variable)
{
    return !strncmp(variable, PT_OPTION_PREFIX, PREFIX) &&
           option_of(variable + PREFIX, strcspn(variable, "=") - PREFIX);
}

static void check_entry(const char *entry, pt_option_warning *warn, void *context)
{
    PT_AUTO(pt_str_fini) struct pt_str name = {0};
    const char *value = strchr(entry, '=');
    if (!value || strncmp(entry, PT_OPTION_PREFIX, PREFIX) != 0)
        return;
    pt_str_bytes(&name, entry, (size_t)(value++ - entry));
    const struct pt_option *option = option_of(pt_str_text(&name) + PREFIX, name.n - PREFIX);
    if (option)
        check_value(option, pt_str_text(&name), value, warn, context);
    else
        check_name(pt_str_text(&name), warn, context);
}

pt_u64 pt_option_interval_ns(void)
{
    const char *text = getenv("PROFTRACE_INTERVAL_MS");
    pt_i64 ns;
    return text && is_interval(text, &ns) ? (pt_u64)ns : 500000000;
}

pt_u64 pt_option_mib_bytes(const char *name)
{
    char variable[PREFIX + MOST_NAME_BYTES] = PT_OPTION_PREFIX;
    const struct pt_option *option = pt_option_table;
    while (strcmp(option->name, name) != 0)
        option++;
    name_variable(option, variable + PREFIX);
    const char *text = getenv(variable);
    pt_u64 mib = 0;
    if (!text || pt_option_read(option, text, &mib) < 0)
        pt_option_read(option, option->initial, &mib);
    return mib << 20;
}

void pt_check_option_values(char *const *environment, pt_option_warning *warn, void *context)
{
    for (; *environment; environment++)
        check_entry(*environment, warn, context);
}

static void print(void *context, const char *problem, const char *remedy)
{
    (void)context;
    PT_AUTO(pt_str_fini) struct pt_str shown = {0};
    pt_sanitize_terminal(&shown, problem);
    fprintf(stderr, "proftrace: %s; %s\n", pt_str_text(&shown), remedy);
}

void pt_warn_of_option_values(char *const *environment)
{
    pt_check_option_values(environment, print, NULL);
}
