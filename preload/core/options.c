/* SPDX-License-Identifier: MIT
 *
 * options.c - reads PROFTRACE_<NAME> and the aliases of other profilers from the environment.
 *
 * Entered by the constructor only. Never allocates; text options point into the environment block.
 */
#include "options.h"

#include <string.h>

#include "proftrace/format.h"
#include "text.h"

/* A value is cut behind as many bytes: it may be a secret that was given to the wrong variable. */
#define SHOWN_BYTES 32

struct pt_options pt_options;
char pt_ignored_options[PT_IGNORED_OPTIONS_BYTES];
int pt_started_by_environment;

/* The launcher takes True and OFF, too: the two halves must agree. `word` is in lower case. */
static int is_word(const char *text, const char *word)
{
    for (; *word && (*text | 0x20) == (*word | 0x20); text++, word++)
        ;
    return !*text && !*word;
}

static int parse_SWITCH(const char *text, pt_option_SWITCH *ret)
{
    if (is_word(text, "1") || is_word(text, "true") || is_word(text, "on") || is_word(text, "yes"))
        *ret = 1;
    else if (is_word(text, "0") || is_word(text, "false") || is_word(text, "off") || is_word(text, "no") || !*text)
        *ret = 0;
    else
        return -1;
    return 0;
}

static int parse_NUMBER(const char *text, pt_option_NUMBER *ret)
{
    pt_u64 value = 0;
    if (!*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > ~0ull / 20)
            return -1;
        value = value * 10 + (pt_u64)(*text - '0');
    }
    *ret = value;
    return 0;
}

static int parse_TEXT(const char *text, pt_option_TEXT *ret)
{
    *ret = text;
    return 0;
}

static int parse_HEAP(const char *text, pt_option_HEAP *ret)
{
    if (pt_text_equal(text, "off"))
        *ret = PT_HEAP_OFF;
    else if (pt_text_equal(text, "sampled"))
        *ret = PT_HEAP_SAMPLED;
    else if (pt_text_equal(text, "full"))
        *ret = PT_HEAP_FULL;
    else
        return -1;
    return 0;
}

/* The value when `entry` is "<PREFIX><NAME>=value" (name given in lower case), else NULL. */
static const char *value_of(const char *entry, const char *prefix, const char *name)
{
    for (; *prefix; entry++, prefix++)
        if (*entry != *prefix)
            return 0;
    for (; *name; entry++, name++)
        if (*entry != (*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name))
            return 0;
    return *entry == '=' ? entry + 1 : 0;
}

/* The library has no voice, so what it does not understand goes into the trace: a run that was meant to be full and is
 * not must not look like one. Up to '=' the name; the value is left out when it is NULL: variables that are no option
 * may be somebody else's. Whole or not at all. */
static void ignore(const char *name, const char *value)
{
    const pt_u64 used = pt_text_length(pt_ignored_options);
    struct pt_text text = {pt_ignored_options, used, sizeof pt_ignored_options};
    if (used)
        pt_text_byte(&text, ' ');
    for (; *name && *name != '='; name++)
        pt_text_byte(&text, *name > ' ' && *name <= '~' ? *name : '?');
    if (value)
        pt_text_byte(&text, '=');
    for (int i = 0; value && value[i] && i < SHOWN_BYTES; i++)
        pt_text_byte(&text, value[i] > ' ' && value[i] <= '~' ? value[i] : '?');
    if (text.length + 1 == text.room)
        pt_ignored_options[used] = 0;
}

static void read_entry(const char *entry)
{
    const char *value;
    if (strncmp(entry, "PROFTRACE_", 10) != 0)
        return;
#define OPTION(name, type, initial, doc)                                                                               \
    if ((value = value_of(entry, "PROFTRACE_", #name))) {                                                              \
        if (parse_##type(value, &pt_options.name) < 0)                                                                 \
            ignore(entry, value);                                                                                      \
        return;                                                                                                        \
    }
#include "options.def"
#undef OPTION
    ignore(entry, 0);
}

/* Options of words that are compared where they are used. */
static void check_words(void)
{
    if (!pt_text_equal(pt_options.cupti, "yield") && !pt_text_equal(pt_options.cupti, "own") &&
        !pt_text_equal(pt_options.cupti, "off"))
        ignore("PROFTRACE_CUPTI", pt_options.cupti);
    if (!pt_text_equal(pt_options.cuda_graph, "graph") && !pt_text_equal(pt_options.cuda_graph, "node"))
        ignore("PROFTRACE_CUDA_GRAPH", pt_options.cuda_graph);
}

/* Users of other profilers keep their habits. Our own names win. */
static void read_alias(const char *entry)
{
    const char *value;
    pt_u8 enabled;
    if ((value = value_of(entry, "", "ENABLE_PROFILING")) && parse_SWITCH(value, &enabled) == 0)
        pt_options.disable = !enabled;
    if ((value = value_of(entry, "", "PROFILE_OUTPUT_DIR")) && *value)
        pt_options.dir = value;
}

void pt_options_read(char **environment)
{
#define OPTION(name, type, initial, doc) parse_##type(initial, &pt_options.name);
#include "options.def"
#undef OPTION
    for (char **entry = environment; entry && *entry; entry++)
        if (value_of(*entry, "", "LD_PRELOAD"))
            pt_started_by_environment |= !!strstr(*entry, "libproftrace.so");
    for (char **entry = environment; entry && *entry; entry++)
        if (**entry == 'E' || (*entry)[0] == 'P')
            read_alias(*entry);
    for (char **entry = environment; entry && *entry; entry++)
        if (**entry == 'P')
            read_entry(*entry);
    check_words();
    if (!*pt_options.dir)
        parse_TEXT("proftrace.data", &pt_options.dir);
    if (pt_options.heap_sample_bytes < 1024)
        pt_options.heap_sample_bytes = 1024;
    if (pt_options.heap_sample_bytes > 1ull << 32)
        pt_options.heap_sample_bytes = 1ull << 32;
    if (pt_options.ring_mib > 1u << 20)
        pt_options.ring_mib = 1u << 20;
    if (pt_options.budget_mib > 1u << 24)
        pt_options.budget_mib = 1u << 24;
}
