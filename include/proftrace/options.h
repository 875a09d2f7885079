/* SPDX-License-Identifier: MIT
 *
 * options.h - the options of options.def as a table, and what is accepted as a value.
 *
 * The library reads values by it, the launcher says by it which ones the library will ignore: one rule, so that neither
 * takes for granted what the other refuses. No allocation, nothing but this header.
 */
#ifndef PROFTRACE_OPTIONS_H
#define PROFTRACE_OPTIONS_H

#include "limits.h"
#include "types.h"
#include "window.h"

#define PT_OPTION_PREFIX "PROFTRACE_"

enum pt_option_type {
    PT_OPTION_TEXT,
    PT_OPTION_SWITCH,
    PT_OPTION_NUMBER,
    PT_OPTION_CHOICE,
    PT_OPTION_DURATION,
    PT_OPTION_WINDOW
};

/* PT_CHOICE_heap_full: the words of each choice, counted from 0. */
#define RANGE(least, most)
#define WORD(option, word) PT_CHOICE_##option##_##word,
#define OPTION(name, type, initial, values, doc) enum { PT_CHOICE_##name##__none = -1, values };
#include "options.def"
#undef OPTION
#undef WORD
#undef RANGE

struct pt_option_range {
    pt_u64 least, most;
};

struct pt_option {
    const char *name; /* in lower case, without the prefix */
    const char *initial;
    const char *words; /* of a choice or switch, each followed by a blank */
    enum pt_option_type type;
};

#define PT_SWITCH_WORDS "1 0 true false on off yes no "

static const struct pt_option pt_option_table[] = {
#define RANGE(least, most)
#define WORD(option, word) #word " "
#define OPTION(name, type, initial, values, doc)                                                                       \
    {#name, initial, PT_OPTION_##type == PT_OPTION_SWITCH ? PT_SWITCH_WORDS : "" values, PT_OPTION_##type},
#include "options.def"
#undef OPTION
#undef WORD
#undef RANGE
};
#define PT_N_OPTIONS (sizeof pt_option_table / sizeof *pt_option_table)

static const struct pt_option_range pt_option_ranges[] = {
#define RANGE(least, most) (least), (most)
#define WORD(option, word)
#define OPTION(name, type, initial, values, doc) {values},
#include "options.def"
#undef OPTION
#undef WORD
#undef RANGE
};

static inline const struct pt_option_range *pt_option_range(const struct pt_option *option)
{
    return &pt_option_ranges[option - pt_option_table];
}

static inline char pt_option_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Which of `words` the text is, from 0; -1 = none. A switch is taken in any case. */
static inline int pt_option_word(const char *words, const char *text, int in_any_case)
{
    for (int index = 0; *words; index++) {
        const char *at = text;
        for (; *words != ' ' && (in_any_case ? pt_option_lower(*at) : *at) == *words; words++)
            at++;
        if (*words == ' ' && !*at)
            return index;
        while (*words++ != ' ')
            ;
    }
    return -1;
}

/* A whole number; -1 = it is none, or too large to be meant. */
static inline int pt_option_number(const char *text, pt_u64 *ret_value)
{
    pt_u64 value = 0;
    if (!*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > ~0ull / 20)
            return -1;
        value = value * 10 + (pt_u64)(*text - '0');
    }
    *ret_value = value;
    return 0;
}

/* 1 = on, 0 = off, -1 = it is no switch. An empty variable counts as not set: callers ask for that. */
static inline int pt_option_switch(const char *text)
{
    const int word = pt_option_word(PT_SWITCH_WORDS, text, 1);
    return word >= 0 ? word % 2 == 0 : -1;
}

static inline int pt_option_is_longer(const char *text, pt_u64 most_bytes)
{
    for (; *text; text++)
        if (!most_bytes--)
            return 1;
    return 0;
}

/* Read a value: a number within its limits, the index of a word, 1 or 0 of a switch; a text is taken as it is. -1 =
 * the value is not understood and has no effect. */
static inline int pt_option_read(const struct pt_option *option, const char *text, pt_u64 *ret_value)
{
    const struct pt_option_range *range = pt_option_range(option);
    int word = -1;
    switch (option->type) {
    case PT_OPTION_TEXT:
        return range->most && pt_option_is_longer(text, range->most) ? -1 : 0;
    case PT_OPTION_NUMBER:
        if (pt_option_number(text, ret_value) < 0)
            return -1;
        *ret_value = *ret_value < range->least ? range->least : *ret_value > range->most ? range->most : *ret_value;
        return 0;
    case PT_OPTION_SWITCH:
        word = pt_option_switch(text);
        break;
    case PT_OPTION_CHOICE:
        word = pt_option_word(option->words, text, 0);
        break;
    case PT_OPTION_DURATION:
        return 0;
    case PT_OPTION_WINDOW:
        return pt_option_is_longer(text, range->most) || pt_window_problem(text) ? -1 : 0;
    }
    *ret_value = (pt_u64)word;
    return word < 0 ? -1 : 0;
}

#endif
