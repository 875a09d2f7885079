/* SPDX-License-Identifier: MIT
 *
 * option_values.c - Owns: what the library accepts as the value of an option, to the letter. Threads: main only. Never:
 * changes the environment, calls what has an effect wrong.
 */
#include "option_values.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/auto.h"
#include "util/nearest.h"
#include "util/str.h"
#include "util/text/sanitize.h"

static const char *const switches[] = {"1", "0", "true", "false", "on", "off", "yes", "no", NULL};
static const char *const heaps[] = {"off", "sampled", "full", NULL};
static const char *const holders[] = {"yield", "own", "off", NULL}, *const graphs[] = {"graph", "node", NULL};

/* The table of the library is preload/core/options.def; a test holds the two together. */
static const struct option {
    const char *name;
    const char *const *choices; /* NULL = a number, or any text */
    const char *number;         /* its default */
} options[] = {
    {"PROFTRACE_DIR", NULL, NULL},
    {"PROFTRACE_SESSION", NULL, NULL},
    {"PROFTRACE_STAGE", NULL, NULL},
    {"PROFTRACE_INTERVAL_MS", NULL, NULL}, /* the launcher's own, which takes 1s as well */
    {"PROFTRACE_HEAP", heaps, NULL},
    {"PROFTRACE_HEAP_SAMPLE_BYTES", NULL, "524288"},
    {"PROFTRACE_STACKS", switches, NULL},
    {"PROFTRACE_IO", switches, NULL},
    {"PROFTRACE_STDIO", switches, NULL},
    {"PROFTRACE_LOCKS", switches, NULL},
    {"PROFTRACE_WAITS", switches, NULL},
    {"PROFTRACE_NET", switches, NULL},
    {"PROFTRACE_CUDA", switches, NULL},
    {"PROFTRACE_CUPTI", holders, NULL},
    {"PROFTRACE_CUDA_GRAPH", graphs, NULL},
    {"PROFTRACE_NVTX", switches, NULL},
    {"PROFTRACE_ITT", switches, NULL},
    {"PROFTRACE_RING_MIB", NULL, "256"},
    {"PROFTRACE_BUDGET_MIB", NULL, "0"},
    {"PROFTRACE_QUIET", switches, NULL},
    {"PROFTRACE_DISABLE", switches, NULL},
};
enum { N_OPTIONS = sizeof options / sizeof *options, PREFIX = sizeof "PROFTRACE_" - 1 };

static const char *nearest_choice(const char *value, const char *const *choices)
{
    for (size_t i = 0; choices[i]; i++)
        if (!strcasecmp(value, choices[i]))
            return choices[i];
    return pt_nearest_name(value, choices);
}

static void check_choice(const struct option *option, const char *value, pt_option_warning *warn, void *context)
{
    PT_AUTO(pt_str_fini) struct pt_str problem = {0};
    PT_AUTO(pt_str_fini) struct pt_str remedy = {0};
    const bool is_switch = option->choices == switches;
    if (is_switch && !*value)
        return; /* empty is off */
    for (size_t i = 0; option->choices[i]; i++)
        if (!(is_switch ? strcasecmp : strcmp)(value, option->choices[i])) /* the library takes True, but not FULL */
            return;
    const char *nearest = nearest_choice(value, option->choices);
    pt_str_printf(&problem, "%s=%s is not understood and has no effect", option->name, value);
    if (nearest)
        pt_str_printf(&remedy, "did you mean %s?", nearest);
    for (size_t i = 0; !nearest && option->choices[i]; i++)
        pt_str_printf(&remedy, "%s%s", i ? ", " : "use one of ", option->choices[i]);
    warn(context, pt_str_text(&problem), pt_str_text(&remedy));
}

static void check_number(const struct option *option, const char *value, pt_option_warning *warn, void *context)
{
    enum { MOST_DIGITS = 18 }; /* the library takes one more, up to a bound that nobody means */
    PT_AUTO(pt_str_fini) struct pt_str problem = {0};
    PT_AUTO(pt_str_fini) struct pt_str remedy = {0};
    const size_t digits = strspn(value, "0123456789");
    if (!*value || (!value[digits] && digits <= MOST_DIGITS))
        return;
    pt_str_printf(&problem, "%s=%s is not a whole number and has no effect", option->name, value);
    if (digits && digits <= MOST_DIGITS)
        pt_str_printf(&remedy, "did you mean %.*s?", (int)digits, value);
    else
        pt_str_printf(&remedy, "give one, such as %s", option->number);
    warn(context, pt_str_text(&problem), pt_str_text(&remedy));
}

static void check_stage(const char *value, pt_option_warning *warn, void *context)
{
    PT_AUTO(pt_str_fini) struct pt_str problem = {0};
    if (strlen(value) <= PT_STAGE_MAX_BYTES)
        return;
    pt_str_printf(&problem, "PROFTRACE_STAGE has %zu bytes and has no effect", strlen(value));
    warn(context, pt_str_text(&problem), "use at most 127 bytes");
}

/* Names that are near to none of ours belong to somebody else. */
static void check_name(const char *name, pt_option_warning *warn, void *context)
{
    const char *names[N_OPTIONS + 1] = {NULL};
    for (size_t i = 0; i < N_OPTIONS; i++)
        names[i] = options[i].name + PREFIX;
    const char *nearest = pt_nearest_name(name + PREFIX, names);
    PT_AUTO(pt_str_fini) struct pt_str problem = {0};
    PT_AUTO(pt_str_fini) struct pt_str remedy = {0};
    if (!nearest)
        return;
    pt_str_printf(&problem, "%s is no option and has no effect", name);
    pt_str_printf(&remedy, "did you mean PROFTRACE_%s?", nearest);
    warn(context, pt_str_text(&problem), pt_str_text(&remedy));
}

static void check_entry(const char *entry, pt_option_warning *warn, void *context)
{
    PT_AUTO(pt_str_fini) struct pt_str name = {0};
    const char *value = strchr(entry, '=');
    if (!value || strncmp(entry, "PROFTRACE_", PREFIX) != 0)
        return;
    pt_str_bytes(&name, entry, (size_t)(value++ - entry));
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (strcmp(pt_str_text(&name), options[i].name) != 0)
            continue;
        if (options[i].choices)
            check_choice(&options[i], value, warn, context);
        else if (options[i].number)
            check_number(&options[i], value, warn, context);
        else if (!strcmp(options[i].name, "PROFTRACE_STAGE"))
            check_stage(value, warn, context);
        return;
    }
    check_name(pt_str_text(&name), warn, context);
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
