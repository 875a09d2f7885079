/* SPDX-License-Identifier: MIT
 *
 * api.h - CPython's own functions, found in the library or program that is loaded already.
 */
#ifndef PT_PYTHON_API_H
#define PT_PYTHON_API_H

#include "core/compiler.h"

struct pt_python_api {
#define FUNCTION(type, name, parameters) type(*name) parameters;
#define OPTIONAL FUNCTION
#define OBJECT(name) char *name;
#include "api.def"
#undef FUNCTION
#undef OPTIONAL
#undef OBJECT
    pt_u64 runtime_bytes; /* size of _PyRuntime */
    const char *library;  /* the loader's name of what holds it; "" = the program */
};

/* All zero until pt_python_api_find has found them. */
extern struct pt_python_api pt_python_api __attribute__((visibility("hidden")));

enum pt_python_found {
    PT_PYTHON_UNCHANGED, /* nothing was loaded since the last search */
    PT_PYTHON_ABSENT,
    PT_PYTHON_FOUND,
    PT_PYTHON_UNFIT, /* one is there, but not all of its functions: too old, or they were stripped */
};

/* Keep the library loaded from now on: we call it whenever we like. */
void pt_python_api_pin(void);

/* An attribute, or NULL and no exception; give a reference back, if there is one. */
void *pt_python_attribute(void *object, const char *name);
void pt_python_drop(void *object);

/* Look for a CPython among what is loaded. Takes a lock of the loader for that time. */
enum pt_python_found pt_python_api_find(void);

#endif
