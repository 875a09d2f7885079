/* SPDX-License-Identifier: MIT
 *
 * cfi.c - Owns: the opened file's tables and what was read from them. Threads: main only. Never: maps a file (one that
 * is rebuilt while it runs would kill us with SIGBUS), opens a file that may block.
 */
#include "cfi.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "util/auto.h"
#include "util/map.h"
#include "util/mem.h"
#include "cfi_row.h"

#define TABLE_MAX_BYTES (256u << 20)
#define ROWS_MAX 262144u
#define LOADS_MAX 16

struct load {
    pt_u64 offset, n_bytes, address;
};

struct pt_cfi {
    Elf *elf;
    Dwarf_CFI *tables; /* NULL = it has none */
    struct load loads[LOADS_MAX];
    pt_u32 n_loads;
    pt_u8 build_id[20];
    pt_u32 build_id_bytes;
    struct pt_map rows; /* address -> row; 0 = not looked up */
};

/* ---- opening ---- */

static bool tables_are_sane(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    pt_u64 bytes = 0;
    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_ALLOC) && header.sh_type != SHT_NOBITS &&
            !(header.sh_flags & SHF_EXECINSTR))
            bytes = header.sh_size > bytes ? header.sh_size : bytes;
    return bytes <= TABLE_MAX_BYTES;
}

static void read_loads(struct pt_cfi *cfi)
{
    size_t n = 0;
    if (elf_getphdrnum(cfi->elf, &n) < 0)
        return;
    for (size_t i = 0; i < n && cfi->n_loads < LOADS_MAX; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(cfi->elf, (int)i, &header) && header.p_type == PT_LOAD)
            cfi->loads[cfi->n_loads++] = (struct load){header.p_offset, header.p_filesz, header.p_vaddr};
    }
}

static struct pt_cfi *take(Elf *elf)
{
    GElf_Ehdr header;
    const void *build_id = NULL;
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 ||
        !tables_are_sane(elf)) {
        elf_end(elf);
        return NULL;
    }
    struct pt_cfi *cfi = pt_calloc(1, sizeof *cfi);
    cfi->elf = elf;
    read_loads(cfi);
    const ssize_t bytes = dwelf_elf_gnu_build_id(elf, &build_id);
    cfi->build_id_bytes = bytes <= 0 ? 0 : bytes > 20 ? 20 : (pt_u32)bytes;
    if (cfi->build_id_bytes)
        memcpy(cfi->build_id, build_id, cfi->build_id_bytes);
    return cfi;
}

static bool is_allowed(const char *path)
{
    const char *name = strncmp(path, "/proc/", 6) ? path : strstr(path, "/root/");
    return path[0] == '/' && name && strncmp(path, "/dev/", 5) && strncmp(path, "/sys/", 5);
}

int pt_cfi_open_file(const char *path)
{
    struct stat status;
    if (!is_allowed(path) || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
        return -1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

struct pt_cfi *pt_cfi_open(const char *path)
{
    elf_version(EV_CURRENT);
    PT_AUTO(pt_closep) int fd = pt_cfi_open_file(path);
    if (fd < 0)
        return NULL;
    struct pt_cfi *cfi = take(elf_begin(fd, ELF_C_READ, NULL));
    if (cfi) {
        cfi->tables = dwarf_getcfi_elf(cfi->elf);
        elf_cntl(cfi->elf, ELF_C_FDDONE);
    }
    return cfi;
}

struct pt_cfi *pt_cfi_open_vdso(void)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
    elf_version(EV_CURRENT);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return NULL;
    const size_t bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    struct pt_cfi *cfi = take(elf_memory((char *)header, bytes));
    if (cfi)
        cfi->tables = dwarf_getcfi_elf(cfi->elf);
    return cfi;
}

void pt_cfi_close(struct pt_cfi *cfi)
{
    if (!cfi)
        return;
    if (cfi->tables)
        dwarf_cfi_end(cfi->tables);
    elf_end(cfi->elf);
    pt_map_fini(&cfi->rows);
    free(cfi);
}

pt_u64 pt_cfi_address(const struct pt_cfi *cfi, pt_u64 file_offset)
{
    for (pt_u32 i = 0; i < cfi->n_loads; i++)
        if (file_offset - cfi->loads[i].offset < cfi->loads[i].n_bytes)
            return file_offset - cfi->loads[i].offset + cfi->loads[i].address;
    return file_offset;
}

pt_u32 pt_cfi_build_id(const struct pt_cfi *cfi, const pt_u8 **ret_build_id)
{
    *ret_build_id = cfi->build_id;
    return cfi->build_id_bytes;
}

/* ---- going to the caller ---- */

static pt_u64 row_at(struct pt_cfi *cfi, pt_u64 address)
{
    if (cfi->rows.n >= ROWS_MAX)
        pt_map_fini(&cfi->rows);
    pt_u64 *row = pt_map_at(&cfi->rows, address);
    Dwarf_Frame *frame = NULL;
    if (*row)
        return *row;
    *row = PT_CFI_ROW_NONE;
    if (cfi->tables && dwarf_cfi_addrframe(cfi->tables, address, &frame) == 0) {
        *row = pt_cfi_row_pack(frame);
        free(frame);
    }
    return *row;
}

static enum pt_frame_step step_slowly(struct pt_cfi *cfi, pt_u64 address, const struct pt_stack_copy *stack,
                                      struct pt_frame_regs *regs)
{
    Dwarf_Frame *frame = NULL;
    if (dwarf_cfi_addrframe(cfi->tables, address, &frame) != 0)
        return PT_FRAME_NO_INFO;
    const enum pt_frame_step step = pt_cfi_frame_step(frame, stack, regs);
    free(frame);
    return step;
}

enum pt_frame_step pt_cfi_step(struct pt_cfi *cfi, pt_u64 address, const struct pt_stack_copy *stack,
                               struct pt_frame_regs *regs)
{
    const pt_u64 row = row_at(cfi, address);
    return pt_cfi_row_kind(row) == PT_CFI_ROW_SLOW ? step_slowly(cfi, address, stack, regs)
                                                   : pt_cfi_row_step(row, stack, regs);
}
