/* SPDX-License-Identifier: MIT
 *
 * elf_file.c - Owns: nothing. Threads: any. Never: maps the file or believes an offset in it; each read is bounded.
 */
#include "elf_file.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/auto.h"

#define DYNAMIC_MAX 4096 /* entries; real programs have about 40 */
#define HEADERS_MAX 128

struct elf_file {
    int fd;
    Elf64_Ehdr header;
    Elf64_Phdr segments[HEADERS_MAX];
    int n_segments;
};

static bool read_at(int fd, void *buffer, size_t bytes, Elf64_Off offset)
{
    return offset < (1ull << 62) && pread(fd, buffer, bytes, (off_t)offset) == (ssize_t)bytes;
}

static void read_string(int fd, Elf64_Off offset, char *text, size_t size)
{
    const ssize_t n = offset < (1ull << 62) ? pread(fd, text, size - 1, (off_t)offset) : -1;
    text[n > 0 ? n : 0] = 0;
}

static const Elf64_Phdr *find_segment(const struct elf_file *elf, Elf64_Word type)
{
    for (int i = 0; i < elf->n_segments; i++)
        if (elf->segments[i].p_type == type)
            return &elf->segments[i];
    return NULL;
}

/* The file offset of an address of the program; 0 = it is not in the file. */
static Elf64_Off offset_of(const struct elf_file *elf, Elf64_Addr address)
{
    for (int i = 0; i < elf->n_segments; i++) {
        const Elf64_Phdr *load = &elf->segments[i];
        if (load->p_type == PT_LOAD && address >= load->p_vaddr && address - load->p_vaddr < load->p_filesz)
            return load->p_offset + (address - load->p_vaddr);
    }
    return 0;
}

static bool is_sanitizer(const char *library)
{
    static const char *const names[] = {
#define SANITIZER(name) name,
#include "proftrace/sanitizers.def"
#undef SANITIZER
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(library, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Where in the file the names of libraries are; 0 = nowhere. */
static Elf64_Off strings_of(const struct elf_file *elf, const Elf64_Dyn *entries, size_t n)
{
    Elf64_Off strings = 0;
    for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++)
        if (entries[i].d_tag == DT_STRTAB)
            strings = offset_of(elf, entries[i].d_un.d_ptr);
    return strings;
}

static void take_entry(const struct elf_file *elf, const Elf64_Dyn *entry, Elf64_Off strings,
                       struct pt_elf_facts *facts)
{
    char name[64];
    if (entry->d_tag != DT_NEEDED && entry->d_tag != DT_SONAME)
        return;
    read_string(elf->fd, strings + entry->d_un.d_val, name, sizeof name);
    if (entry->d_tag == DT_SONAME)
        memcpy(facts->soname, name, sizeof name);
    else if (is_sanitizer(name))
        memcpy(facts->sanitizer, name, sizeof name);
}

static void read_dynamic(const struct elf_file *elf, struct pt_elf_facts *facts)
{
    const Elf64_Phdr *segment = find_segment(elf, PT_DYNAMIC);
    const size_t n = segment ? segment->p_filesz / sizeof(Elf64_Dyn) : 0;
    if (!n || n > DYNAMIC_MAX)
        return;
    PT_AUTO(pt_freep) Elf64_Dyn *entries = calloc(n, sizeof *entries);
    if (!entries || !read_at(elf->fd, entries, n * sizeof *entries, segment->p_offset))
        return;
    const Elf64_Off strings = strings_of(elf, entries, n);
    for (size_t i = 0; strings && i < n && entries[i].d_tag != DT_NULL; i++)
        take_entry(elf, &entries[i], strings, facts);
}

void pt_elf_facts_read(int fd, struct pt_elf_facts *ret_facts)
{
    struct elf_file elf = {.fd = fd};
    *ret_facts = (struct pt_elf_facts){0};
    unsigned char *ident = elf.header.e_ident;
    if (!read_at(fd, ident, EI_NIDENT, 0) || memcmp(ident, ELFMAG, SELFMAG) != 0)
        return;
    ret_facts->is_elf = true;
    ret_facts->class_bits = ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    Elf32_Half machine;
    if (read_at(fd, &machine, sizeof machine, offsetof(Elf64_Ehdr, e_machine)))
        ret_facts->machine = machine;
    if (ret_facts->class_bits != 64 || !read_at(fd, &elf.header, sizeof elf.header, 0))
        return;
    const int n = elf.header.e_phnum;
    if (n > HEADERS_MAX || elf.header.e_phentsize != sizeof(Elf64_Phdr) ||
        !read_at(fd, elf.segments, (size_t)n * sizeof(Elf64_Phdr), elf.header.e_phoff))
        return;
    elf.n_segments = n;
    const Elf64_Phdr *interpreter = find_segment(&elf, PT_INTERP);
    if (interpreter)
        read_string(fd, interpreter->p_offset, ret_facts->interpreter, sizeof ret_facts->interpreter);
    read_dynamic(&elf, ret_facts);
}
