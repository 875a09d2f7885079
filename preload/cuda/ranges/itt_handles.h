/* SPDX-License-Identifier: MIT
 *
 * itt_handles.h - ITT's own interface, as far as it is used here (ittnotify.h and ittnotify_config.h of version 3), and
 * the handles that we give out. Programs read the flags of domains in macros, so handles are the public structs.
 */
#ifndef PT_CUDA_RANGES_ITT_HANDLES_H
#define PT_CUDA_RANGES_ITT_HANDLES_H

#include "core/compiler.h"

struct pt_itt_id {
    unsigned long long d1, d2, d3;
};
struct pt_itt_domain {
    volatile int flags; /* 0 = the program has disabled it */
    const char *name;
    void *wide_name;
    int extra1;
    void *extra2; /* for the tool: the id of the frame that is open */
    struct pt_itt_domain *next;
};
struct pt_itt_string {
    const char *text;
    void *wide_text;
    int extra1;
    void *extra2;
    struct pt_itt_string *next;
};
struct pt_itt_counter {
    const char *name;
    void *wide_name;
    const char *domain;
    void *wide_domain;
    int type;
    long index; /* begins at 0, unlike what is behind it: we count increments in it */
    int extra1;
    void *extra2;
    struct pt_itt_counter *next;
};
enum pt_itt_number {
    PT_ITT_U64 = 1,
    PT_ITT_S64 = 2,
    PT_ITT_U32 = 3,
    PT_ITT_S32 = 4,
    PT_ITT_U16 = 5,
    PT_ITT_S16 = 6,
    PT_ITT_FLOAT = 7,
    PT_ITT_DOUBLE = 8
};

/* The handle of a name, the same at every call; NULL for NULL and when memory is out, which ITT's macros take for "no
 * tool". */
struct pt_itt_domain *pt_itt_domain_create(const char *name);
struct pt_itt_string *pt_itt_string_handle_create(const char *text);
struct pt_itt_counter *pt_itt_counter_create(const char *name, const char *domain);
struct pt_itt_counter *pt_itt_counter_create_typed(const char *name, const char *domain, int type);

#endif
