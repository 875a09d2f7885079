/* SPDX-License-Identifier: MIT
 *
 * module.h - the ELF files that code addresses belong to, each defined once.
 */
#ifndef PT_CORE_NAMES_MODULE_H
#define PT_CORE_NAMES_MODULE_H

#include <dlfcn.h>

#include "core/compiler.h"

/* Look up what module definitions need; without it there are no stacks. Constructor. */
void pt_modules_init(void);
/* The module around an address; not 0 when there is none. */
int pt_module_find(void *address, struct dl_find_object *ret);
/* Make sure that the module around an address is defined. `last`: the one that was looked for before, whose addresses
 * need no look; zeroed at first. Private stack. */
struct pt_known_module;
void pt_define_module_of(pt_u64 address, struct pt_known_module *last);
/* The same for the one that holds CPython's state, if the program was linked with it: without it, the GIL could not
 * be distinguished from other locks in a trace without stacks. Constructor. */
void pt_define_python(void);
/* The same for an allocator of which we see nothing, or not all, for the analyzer has to know: one before us, and one
 * behind us that serves operator new itself. Constructor. */
void pt_define_allocator(void);

#endif
