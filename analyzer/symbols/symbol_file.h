/* SPDX-License-Identifier: MIT
 *
 * symbol_file.h - one executable or library on disk: which function and line an address of its file belongs to.
 *
 * A file is used only if it is the one that ran: its build-id must equal the recorded one. Debug information comes from
 * the file, else from /usr/lib/debug/.build-id, else (only when DEBUGINFOD_URLS is set) from debuginfod; without any,
 * functions come from the ELF symbol tables.
 */
#ifndef PT_SYMBOLS_SYMBOL_FILE_H
#define PT_SYMBOLS_SYMBOL_FILE_H

#include "proftrace/types.h"

struct pt_symbol_file;

/* NULL when there is no such file, it is another build, or not an ELF file that can be read. */
struct pt_symbol_file *pt_symbol_file_open(const char *path, const pt_u8 *build_id, pt_u32 build_id_bytes);
void pt_symbol_file_close(struct pt_symbol_file *file);

#define PT_MAX_INLINED 32
struct pt_symbol {
    const char *function; /* as in the file: mangled; NULL = unknown */
    const char *source;   /* NULL = unknown */
    pt_u32 line;          /* 0 = unknown */
    const char *near;     /* without a function: what a stripped file exports just behind it; NULL = nothing is near */
};

/* The functions at an address of the file, innermost inlined one first; returns how many (0 = unknown). The texts live
 * as long as the file. */
pt_u32 pt_symbol_file_find(struct pt_symbol_file *file, pt_u64 address, struct pt_symbol ret_symbols[PT_MAX_INLINED]);

#endif
