/* SPDX-License-Identifier: MIT
 *
 * elf_check.c - what kind of program a file is. Any thread that starts one.
 *
 * Runs inside pt_private_files: system calls only, no memory but the caller's. Reads a few hundred bytes. Never
 * guesses: what it does not understand is PT_VERDICT_UNKNOWN, so that a strange file is started exactly as without us.
 */
#include "elf_check.h"

#include <string.h>

#include "core/sys.h"
#include "core/text.h"

/* Read text at a file offset into check->name. */
static const char *read_name(struct pt_elf_check *check, pt_u64 offset, pt_u64 bytes)
{
    const pt_u64 room = sizeof check->name - 1;
    const long got = pt_syscall4(SYS_pread64, check->fd, check->name, bytes < room ? bytes : room, offset);
    check->name[got > 0 ? got : 0] = 0;
    return check->name;
}

static const Elf64_Phdr *segments_of(const struct pt_elf_check *check, pt_u32 *ret_count)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)check->head;
    const pt_u64 bytes = (pt_u64)header->e_phnum * sizeof(Elf64_Phdr);
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff % 8 || header->e_phoff > check->head_bytes ||
        bytes > check->head_bytes - header->e_phoff)
        return 0;
    *ret_count = header->e_phnum;
    return (const Elf64_Phdr *)(const void *)(check->head + header->e_phoff);
}

static const Elf64_Phdr *segment_of_type(const Elf64_Phdr *segments, pt_u32 count, pt_u32 type)
{
    for (pt_u32 i = 0; i < count; i++)
        if (segments[i].p_type == type)
            return &segments[i];
    return 0;
}

/* File offset of an address; 0 when no segment of the file holds it. */
static pt_u64 offset_of(const Elf64_Phdr *segments, pt_u32 count, pt_u64 address)
{
    for (pt_u32 i = 0; i < count; i++) {
        const Elf64_Phdr *s = &segments[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz)
            return s->p_offset + (address - s->p_vaddr);
    }
    return 0;
}

static int is_sanitizer(const char *library)
{
    static const char *const names[] = {
#define SANITIZER(name) name,
#include "proftrace/sanitizers.def"
#undef SANITIZER
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (pt_text_starts(library, names[i]))
            return 1;
    return 0;
}

/* The start of its entries is read into check->dynamic: how many, and where in the file their names lie; 0 = nowhere.
 */
static pt_u64 read_dynamic(struct pt_elf_check *check, const Elf64_Phdr *segments, pt_u32 count, pt_u32 *ret_entries)
{
    const Elf64_Phdr *dynamic = segment_of_type(segments, count, PT_DYNAMIC);
    pt_u64 strings = 0;
    *ret_entries = 0;
    if (!dynamic)
        return 0;
    const pt_u64 want = dynamic->p_filesz < sizeof check->dynamic ? dynamic->p_filesz : sizeof check->dynamic;
    const long got = pt_syscall4(SYS_pread64, check->fd, check->dynamic, want, dynamic->p_offset);
    *ret_entries = got > 0 ? (pt_u32)((pt_u64)got / sizeof(Elf64_Dyn)) : 0;
    for (pt_u32 i = 0; i < *ret_entries; i++)
        if (check->dynamic[i].d_tag == DT_STRTAB)
            strings = offset_of(segments, count, check->dynamic[i].d_un.d_ptr);
    return strings;
}

static enum pt_verdict verdict_of_libraries(struct pt_elf_check *check, const Elf64_Phdr *segments, pt_u32 count)
{
    pt_u32 entries;
    const pt_u64 strings = read_dynamic(check, segments, count, &entries);
    if (!strings)
        return PT_VERDICT_UNKNOWN;
    for (pt_u32 i = 0; i < entries && check->dynamic[i].d_tag != DT_NULL; i++)
        if (check->dynamic[i].d_tag == DT_NEEDED &&
            is_sanitizer(read_name(check, strings + check->dynamic[i].d_un.d_val, sizeof check->name)))
            return PT_VERDICT_SANITIZER;
    return PT_VERDICT_TRACED;
}

/* A program without a loader is static, unless it is the loader itself, as in `ld.so ./prog`: that one loads us with
 * whatever it is told to run. */
static enum pt_verdict verdict_without_loader(struct pt_elf_check *check, const Elf64_Phdr *segments, pt_u32 count)
{
    pt_u32 entries;
    const pt_u64 strings = read_dynamic(check, segments, count, &entries);
    for (pt_u32 i = 0; strings && i < entries && check->dynamic[i].d_tag != DT_NULL; i++)
        if (check->dynamic[i].d_tag == DT_SONAME &&
            pt_text_starts(read_name(check, strings + check->dynamic[i].d_un.d_val, sizeof check->name), "ld-linux"))
            return PT_VERDICT_UNKNOWN;
    return PT_VERDICT_STATIC;
}

static enum pt_verdict verdict_of_loader(const char *loader)
{
    if (strcmp(loader, "ld-linux-x86-64.so.2") == 0)
        return PT_VERDICT_TRACED;
    if (pt_text_starts(loader, "ld-musl") || pt_text_starts(loader, "ld64-uClibc") || strcmp(loader, "linker64") == 0)
        return PT_VERDICT_LIBC;
    return PT_VERDICT_UNKNOWN;
}

enum pt_verdict pt_elf_verdict(struct pt_elf_check *check)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)check->head;
    if (check->head_bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return PT_VERDICT_UNKNOWN;
    if (header->e_ident[EI_CLASS] == ELFCLASS32)
        return PT_VERDICT_32BIT;
    if (header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != EM_X86_64)
        return PT_VERDICT_MACHINE;
    pt_u32 count = 0;
    const Elf64_Phdr *segments = segments_of(check, &count);
    if (!segments || (header->e_type != ET_EXEC && header->e_type != ET_DYN))
        return PT_VERDICT_UNKNOWN;
    const Elf64_Phdr *loader = segment_of_type(segments, count, PT_INTERP);
    if (!loader)
        return verdict_without_loader(check, segments, count);
    /* The end of the name decides; a path that does not fit is no standard loader. */
    if (loader->p_filesz >= sizeof check->name)
        return verdict_of_libraries(check, segments, count);
    const enum pt_verdict verdict =
        verdict_of_loader(pt_text_base_name(read_name(check, loader->p_offset, loader->p_filesz)));
    return verdict == PT_VERDICT_TRACED ? verdict_of_libraries(check, segments, count) : verdict;
}
