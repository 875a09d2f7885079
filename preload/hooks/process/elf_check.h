/* SPDX-License-Identifier: MIT
 *
 * elf_check.h - judge an ELF program by its first page and its list of needed libraries.
 */
#ifndef PT_HOOKS_PROCESS_ELF_CHECK_H
#define PT_HOOKS_PROCESS_ELF_CHECK_H

#include <elf.h>

#include "target.h"

#define PT_ELF_HEAD_BYTES 4096u
#define PT_ELF_DYNAMIC_MOST 128u

struct pt_elf_check {
    int fd;
    pt_u32 head_bytes;
    char head[PT_ELF_HEAD_BYTES];
    Elf64_Dyn dynamic[PT_ELF_DYNAMIC_MOST];
    char name[256];
};

/* `check->fd` is open and `check->head` filled with the file's first bytes. Uses pread only. */
enum pt_verdict pt_elf_verdict(struct pt_elf_check *check) __attribute__((visibility("hidden")));

#endif
