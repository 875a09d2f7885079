/* SPDX-License-Identifier: MIT
 *
 * symbol_table.h - the dynamic symbols of an ELF object that is loaded, read in place.
 *
 * Only reads: safe in a signal handler, in the child of a vfork, while another thread loads a library; as long as the
 * object stays loaded.
 */
#ifndef PT_CORE_REAL_SYMBOL_TABLE_H
#define PT_CORE_REAL_SYMBOL_TABLE_H

#include <link.h>

#include "core/compiler.h"

typedef ElfW(Sym) pt_symbol;

struct pt_symbol_table {
    pt_u64 base;
    const pt_u32 *hash; /* DT_GNU_HASH */
    const pt_symbol *symbols;
    const char *strings;
    const ElfW(Versym) * versions; /* NULL = it has none */
    const char *definitions;       /* ElfW(Verdef) after ElfW(Verdef); NULL = none */
};

/* -1 = the object has no symbols, or no hash table of the GNU form. */
int pt_symbol_table_read(struct pt_symbol_table *ret, pt_u64 base, const ElfW(Dyn) * dynamic);

/* A symbol that the object defines, or NULL. version: NULL = the one that dlsym finds. */
const pt_symbol *pt_symbol_find(const struct pt_symbol_table *table, const char *name, const char *version);

#endif
