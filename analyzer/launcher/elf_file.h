/* SPDX-License-Identifier: MIT
 *
 * elf_file.h - the few facts of an ELF program that decide whether it can be preloaded.
 */
#ifndef PT_LAUNCHER_ELF_FILE_H
#define PT_LAUNCHER_ELF_FILE_H

#include <stdbool.h>

struct pt_elf_facts {
    bool is_elf;
    int class_bits;        /* 32 or 64 */
    int machine;           /* EM_... */
    char interpreter[256]; /* PT_INTERP; "" = none */
    char soname[64];
    char sanitizer[64]; /* the NEEDED sanitizer runtime; "" = none */
};

/* Everything that cannot be read or makes no sense leaves its field empty: a strange file is not an error here. */
void pt_elf_facts_read(int fd, struct pt_elf_facts *ret_facts);

#endif
