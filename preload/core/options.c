/* SPDX-License-Identifier: MIT
 *
 * options.c - reads PROFTRACE_<NAME> and the aliases of other profilers from the environment.
 *
 * Entered by the constructor only. Never allocates but a mapping for texts that are read later; the others point into
 * the environment block, which the program may overwrite when the constructor is over.
 */
#include "options.h"

#include <string.h>

#include "proftrace/format.h"
#include "sys.h"
#include "text.h"

struct pt_options pt_options;
char pt_ignored_options[PT_IGNORED_OPTIONS_BYTES];
int pt_started_by_environment;

/* A choice of heap is stored in the file. */
_Static_assert((int)PT_CHOICE_heap_off == PT_HEAP_OFF && (int)PT_CHOICE_heap_sampled == PT_HEAP_SAMPLED &&
                   (int)PT_CHOICE_heap_full == PT_HEAP_FULL,
               "on disk");

static void *const targets[PT_N_OPTIONS] = {
#define OPTION(name, type, initial, values, doc) &pt_options.name,
#include "proftrace/options.def"
#undef OPTION
};

static int set(const struct pt_option *option, const char *text)
{
    void *const target = targets[option - pt_option_table];
    pt_u64 value = 0;
    if (pt_option_read(option, text, &value) < 0)
        return -1;
    switch (option->type) {
    case PT_OPTION_TEXT:
    case PT_OPTION_DURATION:
    case PT_OPTION_WINDOW:
        *(const char **)target = *text ? text : option->initial;
        break;
    case PT_OPTION_SWITCH:
    case PT_OPTION_CHOICE:
        *(pt_u8 *)target = (pt_u8)value;
        break;
    case PT_OPTION_NUMBER:
        *(pt_u64 *)target = value;
        break;
    }
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

/* The library prints nothing, so a value that it does not understand is recorded in the trace: otherwise a run that
 * lacks what the user asked for would look complete. The name up to '='; the value is left out when it is NULL,
 * because a variable that is no option of ours may belong to another program. An entry that does not fit is left out
 * as a whole. */
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
    for (int i = 0; value && value[i] && i < PT_IGNORED_VALUE_BYTES; i++)
        pt_text_byte(&text, value[i] > ' ' && value[i] <= '~' ? value[i] : '?');
    if (text.length + 1 == text.room)
        pt_ignored_options[used] = 0;
}

static void read_entry(const char *entry)
{
    if (strncmp(entry, PT_OPTION_PREFIX, sizeof PT_OPTION_PREFIX - 1) != 0)
        return;
    for (pt_u32 i = 0; i < PT_N_OPTIONS; i++) {
        const char *value = value_of(entry, PT_OPTION_PREFIX, pt_option_table[i].name);
        if (!value)
            continue;
        /* One that a shell did not unset, as the launcher takes it: what stood before, an alias too, holds. */
        if (*value && set(&pt_option_table[i], value) < 0)
            ignore(entry, value);
        return;
    }
    ignore(entry, 0);
}

/* Users of other profilers keep their habits. Our own names win. */
static void read_alias(const char *entry)
{
    const char *value;
    if ((value = value_of(entry, "", "ENABLE_PROFILING")) && *value && pt_option_switch(value) >= 0)
        pt_options.disable = !pt_option_switch(value);
    if ((value = value_of(entry, "", "PROFILE_OUTPUT_DIR")) && *value)
        pt_options.dir = value;
}

static void read_preload(const char *entry)
{
    if (value_of(entry, "", "LD_PRELOAD"))
        pt_started_by_environment |= !!strstr(entry, PT_LIBRARY_NAME);
}

static void for_each(char **environment, char first_letter, void (*read)(const char *entry))
{
    for (char **entry = environment; entry && *entry; entry++)
        if (**entry == first_letter)
            read(*entry);
}

static void keep(struct pt_text *kept, const char **option)
{
    const char *from = *option;
    *option = kept->bytes + kept->length;
    pt_text_add(kept, from);
    kept->length++;
}

void pt_options_keep(void)
{
    if (!*pt_options.python_functions && !*pt_options.window)
        return; /* not even their lengths: compilers make strlen of it, in a page of libc that others may never touch */
    const pt_u64 bytes = pt_text_length(pt_options.python_functions) + pt_text_length(pt_options.window);
    char *memory = pt_sys_memory(bytes + 2);
    if (!memory)
        return;
    struct pt_text kept = {memory, 0, bytes + 2};
    keep(&kept, &pt_options.python_functions);
    keep(&kept, &pt_options.window);
}

void pt_options_read(char **environment)
{
    for (pt_u32 i = 0; i < PT_N_OPTIONS; i++)
        set(&pt_option_table[i], pt_option_table[i].initial);
    for_each(environment, 'L', read_preload);
    for_each(environment, 'E', read_alias);
    for_each(environment, 'P', read_alias);
    for_each(environment, 'P', read_entry);
}
