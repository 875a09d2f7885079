/* SPDX-License-Identifier: MIT
 *
 * elf_check.h - judge an ELF program by its first page and its list of needed libraries.
 */
#ifndef PT_HOOKS_PROCESS_ELF_CHECK_H
#define PT_HOOKS_PROCESS_ELF_CHECK_H

#include <elf.h>

#include "core/compiler.h"

enum pt_verdict {
    PT_VERDICT_UNKNOWN = 1, /* could not be read, or is strange: change nothing */
    PT_VERDICT_TRACED,
    PT_VERDICT_STATIC, /* does not use ld.so: our variables do no harm, and reach its children */
    PT_VERDICT_32BIT,  /* from here on the dynamic loader would print an error, or the program would not start */
    PT_VERDICT_MACHINE,
    PT_VERDICT_LIBC,
    PT_VERDICT_PRIVILEGED,
    PT_VERDICT_SANITIZER,
};

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
