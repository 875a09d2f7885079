/* SPDX-License-Identifier: MIT
 *
 * symbol_file.c - functions and lines of one ELF file.
 *
 * Owns: the file and its debug file as mapped, libdw's handle, a sorted table of functions, one of compilation
 * units. All but the handle are made when first asked for. One thread. Never: gives up a lookup because libdw did:
 * the next source is asked. */
#include "symbol_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/vec.h"
#include "util/text/path.h"
#include "debuginfod.h"
#include "elf_image.h"
#include "neighbours.h"
#include "unit_functions.h"

#define MAX_SYMBOLS (20u << 20)
#define MAX_UNITS (1u << 20)

struct function_symbol {
    pt_u64 start, end;
    const char *name;
    bool is_open; /* the file does not say where it ends: at the end of its section, or where the next one starts */
};

/* A contiguous range of code of one compilation unit. */
struct unit_range {
    pt_u64 start, end;
    Dwarf_Off unit;
};

struct pt_symbol_file {
    struct pt_elf_image main, debug, shared; /* shared: what dwz moved out of several debug files */
    Dwarf *dwarf, *shared_dwarf;
    struct {
        PT_VEC(struct function_symbol);
    } functions;
    struct {
        PT_VEC(struct unit_range);
    } units;
    struct pt_unit_functions unit_functions;
    bool has_only_exports; /* it is stripped, and nobody has its debug information: functions are those that it exports
                            */
};

/* ---- ELF symbols ---- */

static int function_order(const void *a, const void *b)
{
    const struct function_symbol *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->is_open != y->is_open)
        return x->is_open ? -1 : 1; /* a size that another symbol of the same place has counts */
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Libraries have half a million of them, and most files a few hundred: by 12 bits of the address at a time, from the
 * lowest up, as many as the highest address has. Then functions that begin at the same place are put in order. */
static void sort_functions(struct function_symbol *functions, size_t n)
{
    enum { BITS = 12, BUCKETS = 1 << BITS };
    struct function_symbol *from = functions, *other = pt_malloc((n ? n : 1) * sizeof *other), *to = other;
    size_t next[BUCKETS];
    pt_u64 highest = 0;
    for (size_t i = 0; i < n; i++)
        highest = functions[i].start > highest ? functions[i].start : highest;
    for (int shift = 0; shift < 64 && highest >> shift; shift += BITS) {
        memset(next, 0, sizeof next);
        for (size_t i = 0; i < n; i++)
            next[from[i].start >> shift & (BUCKETS - 1)]++;
        for (size_t i = 0, at = 0; i < BUCKETS; i++) {
            const size_t in_bucket = next[i];
            next[i] = at;
            at += in_bucket;
        }
        for (size_t i = 0; i < n; i++)
            to[next[from[i].start >> shift & (BUCKETS - 1)]++] = from[i];
        struct function_symbol *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != functions)
        memcpy(functions, from, n * sizeof *functions);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && functions[end].start == functions[i].start; end++)
            ;
        if (end - i > 1)
            qsort(functions + i, end - i, sizeof *functions, function_order);
    }
    free(other);
}

/* _init has no size, and lies in a section of its own before all others: without this it would be the name of all code
 * up to the first function that has one. */
static struct function_symbol symbol_of(Elf *elf, const GElf_Sym *symbol, const char *name)
{
    GElf_Shdr section;
    const pt_u64 start = symbol->st_value;
    pt_u64 end = start + symbol->st_size;
    const bool is_open = end <= start;
    if (is_open) {
        const bool is_known = gelf_getshdr(elf_getscn(elf, symbol->st_shndx), &section) && start >= section.sh_addr &&
                              start - section.sh_addr < section.sh_size;
        end = is_known ? section.sh_addr + section.sh_size : start;
    }
    return (struct function_symbol){start, end, name, is_open};
}

static void add_symbols(struct pt_symbol_file *file, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *const data = elf_getdata(section, NULL);
    if (!data || !header->sh_entsize)
        return;
    const pt_u64 n = header->sh_size / header->sh_entsize;
    for (pt_u64 i = 0; i < n && i < MAX_SYMBOLS && file->functions.n < MAX_SYMBOLS; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            break;
        const int type = GELF_ST_TYPE(symbol.st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!name || !*name)
            continue;
        pt_vec_push(&file->functions, symbol_of(elf, &symbol, name));
    }
}

static void load_symbols(struct pt_symbol_file *file, Elf *elf)
{
    Elf_Scn *section = NULL;
    while (elf && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        add_symbols(file, elf, section, &header);
        file->has_only_exports &= header.sh_type == SHT_DYNSYM;
    }
}

/* The number of the first function that begins behind the address. */
static size_t first_behind(const struct pt_symbol_file *file, pt_u64 address)
{
    size_t low = 0, high = file->functions.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (file->functions.items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct function_symbol *find_function(const struct pt_symbol_file *file, pt_u64 address)
{
    const size_t low = first_behind(file, address);
    /* Aliases are neighbours in the table, and a function may enclose a local one: search a few entries back. */
    for (size_t back = 0; back < 16 && back < low; back++) {
        const struct function_symbol *found = &file->functions.items[low - 1 - back];
        if (address < found->end && (!found->is_open || !back))
            return found;
    }
    return NULL;
}

/* The exported function that begins next, for code of a stripped file that no name is for. */
static const char *near_export(const struct pt_symbol_file *file, pt_u64 address)
{
    const size_t next = file->has_only_exports ? first_behind(file, address) : file->functions.n;
    const struct function_symbol *found = next < file->functions.n ? &file->functions.items[next] : NULL;
    return found && pt_are_neighbours(file->main.elf, address, found->start) ? found->name : NULL;
}

/* ---- DWARF ---- */

static int unit_order(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* .debug_aranges is optional (clang leaves it out), so the units themselves are asked. */
static void load_units(struct pt_symbol_file *file)
{
    Dwarf_Off at = 0, next;
    size_t header_bytes;
    for (pt_u32 n = 0; n < MAX_UNITS && dwarf_nextcu(file->dwarf, at, &next, &header_bytes, NULL, NULL, NULL) == 0;
         n++) {
        Dwarf_Die unit;
        Dwarf_Addr base, start, end;
        const Dwarf_Off offset = at + header_bytes;
        at = next;
        if (!dwarf_offdie(file->dwarf, offset, &unit))
            continue;
        for (ptrdiff_t i = 0; (i = dwarf_ranges(&unit, i, &base, &start, &end)) > 0 && file->units.n < MAX_SYMBOLS;)
            if (start < end)
                pt_vec_push(&file->units, ((struct unit_range){start, end, offset}));
    }
    if (file->units.n)
        qsort(file->units.items, file->units.n, sizeof *file->units.items, unit_order);
}

static bool find_unit(const struct pt_symbol_file *file, pt_u64 address, Dwarf_Die *ret_unit)
{
    size_t low = 0, high = file->units.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (file->units.items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t back = 0; back < 16 && back < low; back++) {
        const struct unit_range *range = &file->units.items[low - 1 - back];
        if (address < range->end)
            return dwarf_offdie(file->dwarf, range->unit, ret_unit) != NULL;
    }
    return false;
}

static const char *function_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name ? name : dwarf_diename(die);
}

/* Where an inlined function was called from. */
static void call_site(Dwarf_Die *unit, Dwarf_Die *inlined, struct pt_symbol *caller)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0, index = 0;
    Dwarf_Files *files;
    size_t n_files;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0)
        caller->line = (pt_u32)line;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &index) == 0 &&
        dwarf_getsrcfiles(unit, &files, &n_files) == 0 && index < n_files)
        caller->source = dwarf_filesrc(files, index, NULL, NULL);
}

/* The functions around the address, from the innermost scope outwards. */
static pt_u32 walk_scopes(struct pt_symbol_file *file, Dwarf_Die *unit, pt_u64 address, struct pt_symbol *symbols)
{
    Dwarf_Die chain[PT_MAX_INLINED];
    const pt_u32 n = pt_unit_functions_at(&file->unit_functions, unit, address, chain, PT_MAX_INLINED);
    for (pt_u32 i = 0; i < n; i++) {
        symbols[i].function = function_name(&chain[i]);
        if (i + 1 < PT_MAX_INLINED && dwarf_tag(&chain[i]) == DW_TAG_inlined_subroutine)
            call_site(unit, &chain[i], &symbols[i + 1]);
    }
    return n;
}

static pt_u32 find_in_dwarf(struct pt_symbol_file *file, pt_u64 address, struct pt_symbol *symbols)
{
    Dwarf_Die unit;
    if (!file->dwarf || !find_unit(file, address, &unit))
        return 0;
    Dwarf_Line *const line = dwarf_getsrc_die(&unit, address);
    int number = 0;
    if (line) {
        symbols[0].source = dwarf_linesrc(line, NULL, NULL);
        if (dwarf_lineno(line, &number) == 0 && number > 0)
            symbols[0].line = (pt_u32)number;
    }
    const pt_u32 n = walk_scopes(file, &unit, address, symbols);
    if (n)
        return n;
    symbols[1] = (struct pt_symbol){0};
    return symbols[0].source ? 1 : 0;
}

pt_u32 pt_symbol_file_find(struct pt_symbol_file *file, pt_u64 address, struct pt_symbol ret_symbols[PT_MAX_INLINED])
{
    memset(ret_symbols, 0, PT_MAX_INLINED * sizeof *ret_symbols);
    pt_u32 n = find_in_dwarf(file, address, ret_symbols);
    const struct function_symbol *found = find_function(file, address);
    if (!n && !found) {
        ret_symbols[0].near = near_export(file, address);
        return ret_symbols[0].near ? 1 : 0;
    }
    n = n ? n : 1;
    /* Units in assembler have lines and no functions. */
    if (!ret_symbols[n - 1].function && found)
        ret_symbols[n - 1].function = found->name;
    return n;
}

/* ---- open ---- */

static bool has_section(Elf *elf, const char *wanted)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names) < 0)
        return false;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && !strcmp(name, wanted) && header.sh_type != SHT_NOBITS)
            return true;
    }
    return false;
}

static bool has_dwarf(Elf *elf)
{
    return has_section(elf, ".debug_info") || has_section(elf, ".zdebug_info");
}

/* What several debug files share is in a separate file. It is searched by build-id only: libdw would open any path
 * that the debug file names. Without it, the debug information is not used. */
static bool load_shared(struct pt_symbol_file *file)
{
    const char *name;
    const void *build_id;
    const ssize_t bytes = dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &build_id);
    if (bytes == 0)
        return true;
    if (bytes < 0 || !pt_elf_image_open_debug(&file->shared, build_id, (pt_u32)bytes))
        return false;
    file->shared_dwarf = dwarf_begin_elf(file->shared.elf, DWARF_C_READ, NULL);
    if (!file->shared_dwarf)
        return false;
    dwarf_setalt(file->dwarf, file->shared_dwarf);
    return true;
}

/* Of the C library a name says all that helps: nobody mends a line of malloc.c. Its debug information (libc6-dbg) is
 * compressed, and unpacking it took a quarter of the time of a training's report. */
static bool names_are_enough(const char *path)
{
    const char *name = pt_base_name(path);
    return !strncmp(name, "libc.so.", 8) || !strncmp(name, "ld-linux", 8);
}

static void load_dwarf(struct pt_symbol_file *file, const char *path, const pt_u8 *build_id, pt_u32 build_id_bytes)
{
    Elf *from = has_dwarf(file->main.elf) ? file->main.elf : NULL;
    if (!from && (pt_elf_image_open_debug(&file->debug, build_id, build_id_bytes) ||
                  pt_debuginfod_open(&file->debug, build_id, build_id_bytes)))
        from = file->debug.elf;
    if (!from || names_are_enough(path) || !has_dwarf(from))
        return;
    file->dwarf = dwarf_begin_elf(from, DWARF_C_READ, NULL);
    if (!file->dwarf)
        return;
    if (load_shared(file)) {
        load_units(file);
        return;
    }
    dwarf_end(file->dwarf);
    file->dwarf = NULL;
}

struct pt_symbol_file *pt_symbol_file_open(const char *path, const pt_u8 *build_id, pt_u32 build_id_bytes)
{
    struct pt_elf_image image;
    if (!pt_elf_image_open(&image, path, build_id, build_id_bytes))
        return NULL;
    struct pt_symbol_file *file = pt_calloc(1, sizeof *file);
    file->main = image;
    load_dwarf(file, path, build_id, build_id_bytes);
    file->has_only_exports = !file->dwarf;
    load_symbols(file, file->main.elf);
    load_symbols(file, file->debug.elf);
    sort_functions(file->functions.items, file->functions.n);
    return file;
}

void pt_symbol_file_close(struct pt_symbol_file *file)
{
    if (!file)
        return;
    if (file->dwarf)
        dwarf_end(file->dwarf);
    if (file->shared_dwarf)
        dwarf_end(file->shared_dwarf);
    pt_elf_image_close(&file->main);
    pt_elf_image_close(&file->debug);
    pt_elf_image_close(&file->shared);
    free(file->functions.items);
    free(file->units.items);
    pt_unit_functions_fini(&file->unit_functions);
    free(file);
}
