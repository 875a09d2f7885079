/* SPDX-License-Identifier: MIT
 *
 * unit_functions.h - which function of a compilation unit has the code at an address, and what is inlined there.
 *
 * dwarf_getscopes() walks the whole unit for every address, and a report has hundreds of each unit. Here the functions
 * of a unit are listed once; only the one that has an address is walked for what it inlines.
 */
#ifndef PT_SYMBOLS_UNIT_FUNCTIONS_H
#define PT_SYMBOLS_UNIT_FUNCTIONS_H

#include <elfutils/libdw.h>

#include "proftrace/types.h"
#include "util/map.h"

/* Zero is a valid start: no unit was asked. */
struct pt_unit_functions {
    struct pt_map by_unit; /* offset of the unit -> struct unit * */
};

void pt_unit_functions_fini(struct pt_unit_functions *units);
/* The function at an address and what it inlines there, the innermost first: inlined ones, and last the real one.
 * Returns how many there are in `ret_chain`, at most `most`; 0 = unknown. */
pt_u32 pt_unit_functions_at(struct pt_unit_functions *units, Dwarf_Die *unit, pt_u64 address, Dwarf_Die *ret_chain,
                            pt_u32 most);

#endif
