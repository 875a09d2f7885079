/* SPDX-License-Identifier: MIT
 *
 * options.h - the options of options.def as a struct. Filled once in the constructor, read-only afterwards.
 */
#ifndef PT_CORE_OPTIONS_H
#define PT_CORE_OPTIONS_H

#include "proftrace/options.h"
#include "compiler.h"

typedef const char *pt_option_TEXT;
typedef pt_u8 pt_option_SWITCH;
typedef pt_u64 pt_option_NUMBER;
typedef pt_u8 pt_option_CHOICE; /* PT_CHOICE_<name>_<word> */
typedef const char *pt_option_DURATION;
typedef const char *pt_option_WINDOW;

struct pt_options {
#define OPTION(name, type, initial, values, doc) pt_option_##type name;
#include "proftrace/options.def"
#undef OPTION
};

extern struct pt_options pt_options __attribute__((visibility("hidden")));
/* Whether it was LD_PRELOAD that loaded us: then a program without that variable runs without us (/etc/ld.so.preload
 * loads us into all). */
extern int pt_started_by_environment __attribute__((visibility("hidden")));

/* The variables of ours that had no effect, as the header keeps them; "" = none. */
extern char pt_ignored_options[] __attribute__((visibility("hidden")));

/* Read the environment; a value that cannot be read leaves the default. */
void pt_options_read(char **environment);

/* The texts that are read when Python comes, which may be late: a server that writes its state over its arguments and
 * environment (setproctitle) and loads Python then would be asked for functions of no sense. */
void pt_options_keep(void);

#endif
