/* SPDX-License-Identifier: MIT
 *
 * elf_image.c - opening ELF files that a trace names.
 *
 * Owns: the mapping; no descriptor stays open (a run may have thousands of modules). One thread. Never: opens what
 * blocks or has side effects (devices, pipes), reads files of /proc or /sys, believes a size that the file does not
 * have. */
#include "elf_image.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/auto.h"

#define MAX_FILE_BYTES (16ull << 30)
#define MAX_UNPACKED_BYTES (4ull << 30)
#define MAX_BUILD_ID_BYTES 64u
#define MAX_EXPORTED (4u << 20)
#define DEBUG_PATH_BYTES (64 + 2 * MAX_BUILD_ID_BYTES)
#define MAX_CONSTANT_BYTES (64u << 20) /* what is searched of a program */

/* Behind /proc/PID/root are files as a process in a container sees them. */
static const char *as_process_sees(const char *path)
{
    static const char proc[] = "/proc/", root[] = "/root/";
    const size_t n_proc = sizeof proc - 1;
    if (strncmp(path, proc, n_proc))
        return path;
    const char *behind_pid = path + n_proc + strspn(path + n_proc, "0123456789");
    return strncmp(behind_pid, root, sizeof root - 1) ? path : behind_pid + sizeof root - 2;
}

static bool path_is_allowed(const char *path)
{
    static const char *const forbidden[] = {"/dev/", "/proc/", "/sys/"};
    path = as_process_sees(path);
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        if (!strncmp(path, forbidden[i], strlen(forbidden[i])))
            return false;
    return path[0] == '/';
}

/* A regular file, also behind symbolic links: /proc has many "regular" files that block or have effects when read. */
static int open_regular(const char *path, pt_u64 *ret_bytes)
{
    struct stat st;
    struct statfs fs;
    if (!path_is_allowed(path) || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return -1;
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fstatfs(fd, &fs) < 0)
        return -1;
    if (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC || fs.f_type == DEBUGFS_MAGIC ||
        fs.f_type == TRACEFS_MAGIC)
        return -1;
    if (st.st_size < (off_t)sizeof(Elf32_Ehdr) || (pt_u64)st.st_size > MAX_FILE_BYTES)
        return -1;
    *ret_bytes = (pt_u64)st.st_size;
    const int result = fd;
    fd = -1;
    return result;
}

/* Sections that claim to unpack to more than any real debug information are a bomb. */
static bool sections_are_sane(Elf *elf)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        GElf_Chdr packed;
        if (!gelf_getshdr(section, &header))
            return false;
        if ((header.sh_flags & SHF_COMPRESSED) &&
            (!gelf_getchdr(section, &packed) || packed.ch_size > MAX_UNPACKED_BYTES))
            return false;
    }
    return true;
}

static bool is_wanted(Elf *elf, const pt_u8 *build_id, pt_u32 build_id_bytes)
{
    GElf_Ehdr header;
    const void *found = NULL;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
        (header.e_type != ET_EXEC && header.e_type != ET_DYN))
        return false;
    if (build_id_bytes == PT_ELF_ANY_BUILD)
        return true;
    const ssize_t bytes = dwelf_elf_gnu_build_id(elf, &found);
    if (bytes <= 0)
        return build_id_bytes == 0;
    return (pt_u64)bytes == build_id_bytes && !memcmp(found, build_id, build_id_bytes);
}

bool pt_elf_image_open(struct pt_elf_image *image, const char *path, const pt_u8 *build_id, pt_u32 build_id_bytes)
{
    *image = (struct pt_elf_image){0};
    PT_AUTO(pt_closep) int fd = open_regular(path, &image->n_bytes);
    if (fd < 0)
        return false;
    /* libelf may convert in place: private pages, never written back. */
    image->bytes = mmap(NULL, image->n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (image->bytes == MAP_FAILED) {
        *image = (struct pt_elf_image){0};
        return false;
    }
    elf_version(EV_CURRENT);
    image->elf = elf_memory(image->bytes, image->n_bytes);
    if (image->elf && is_wanted(image->elf, build_id, build_id_bytes) && sections_are_sane(image->elf))
        return true;
    pt_elf_image_close(image);
    return false;
}

/* /usr/lib/debug/.build-id/xx/yyyy.debug; "" = there can be none. */
static void debug_path(char *path, size_t size, const pt_u8 *build_id, pt_u32 build_id_bytes)
{
    *path = 0;
    if (build_id_bytes < 2 || build_id_bytes > MAX_BUILD_ID_BYTES)
        return;
    int used = snprintf(path, size, "/usr/lib/debug/.build-id/%02x/", build_id[0]);
    for (pt_u32 i = 1; i < build_id_bytes; i++)
        used += snprintf(path + used, size - (size_t)used, "%02x", build_id[i]);
    snprintf(path + used, size - (size_t)used, ".debug");
}

bool pt_elf_image_open_debug(struct pt_elf_image *image, const pt_u8 *build_id, pt_u32 build_id_bytes)
{
    char path[DEBUG_PATH_BYTES];
    *image = (struct pt_elf_image){0};
    debug_path(path, sizeof path, build_id, build_id_bytes);
    return *path && pt_elf_image_open(image, path, build_id, build_id_bytes);
}

static void stamp_file(const char *path, pt_u64 numbers[2])
{
    struct stat st;
    if (!path_is_allowed(path) || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    numbers[0] = (pt_u64)st.st_size;
    numbers[1] = (pt_u64)st.st_mtim.tv_sec * 1000000000 + (pt_u64)st.st_mtim.tv_nsec;
}

struct pt_elf_stamp pt_elf_image_stamp(const char *path, const pt_u8 *build_id, pt_u32 build_id_bytes)
{
    char debug[DEBUG_PATH_BYTES];
    struct pt_elf_stamp stamp = {0};
    debug_path(debug, sizeof debug, build_id, build_id_bytes);
    stamp_file(path, stamp.numbers);
    stamp_file(debug, stamp.numbers + 2);
    return stamp;
}

static bool find_in_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name, GElf_Sym *ret_symbol)
{
    Elf_Data *const data = elf_getdata(section, NULL);
    const pt_u64 n = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
    for (pt_u64 i = 0; i < n && i < MAX_EXPORTED && gelf_getsym(data, (int)i, ret_symbol); i++) {
        if (GELF_ST_TYPE(ret_symbol->st_info) != STT_OBJECT || ret_symbol->st_shndx == SHN_UNDEF)
            continue;
        const char *found = elf_strptr(elf, header->sh_link, ret_symbol->st_name);
        if (found && !strcmp(found, name))
            return true;
    }
    return false;
}

bool pt_elf_image_find_variable(const struct pt_elf_image *image, const char *name, pt_u64 *ret_start, pt_u64 *ret_end)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Sym symbol;
    while ((section = elf_nextscn(image->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM &&
            find_in_table(image->elf, section, &header, name, &symbol)) {
            *ret_start = symbol.st_value;
            *ret_end = symbol.st_value + symbol.st_size;
            return *ret_end > *ret_start;
        }
    return false;
}

void pt_elf_image_close(struct pt_elf_image *image)
{
    if (image->elf)
        elf_end(image->elf);
    if (image->bytes)
        munmap(image->bytes, image->n_bytes);
    *image = (struct pt_elf_image){0};
}

/* "libcuda.so", "libcuda.so.1", also after a folder; not in the middle of a text. */
static bool names_library(const char *bytes, size_t n_bytes, const char *name)
{
    const size_t bare = strlen(name) - 1;
    const char *const end = bytes + n_bytes, *at = bytes;
    while ((at = memmem(at, (size_t)(end - at), name, bare))) {
        const char *after = at + bare;
        const bool begins = at == bytes || at[-1] == 0 || at[-1] == '/';
        while (after < end && (*after == '.' || (*after >= '0' && *after <= '9')))
            after++;
        if (begins && after < end && !*after && after[-1] != '.')
            return true;
        at += bare;
    }
    return false;
}

bool pt_elf_image_names_library(const struct pt_elf_image *image, const char *name)
{
    pt_u64 left = MAX_CONSTANT_BYTES;
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(image->elf, section));) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_ALLOC) ||
            (header.sh_flags & (SHF_WRITE | SHF_EXECINSTR)) || header.sh_size > left)
            continue;
        const Elf_Data *data = elf_rawdata(section, NULL);
        left -= header.sh_size;
        if (data && data->d_buf && names_library(data->d_buf, data->d_size, name))
            return true;
    }
    return false;
}

bool pt_elf_image_has_section(const struct pt_elf_image *image, const char *name)
{
    size_t names = 0;
    GElf_Shdr header;
    if (elf_getshdrstrndx(image->elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(image->elf, section));) {
        const char *own = gelf_getshdr(section, &header) ? elf_strptr(image->elf, names, header.sh_name) : NULL;
        if (own && !strcmp(own, name))
            return true;
    }
    return false;
}
