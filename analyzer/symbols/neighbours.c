/* SPDX-License-Identifier: MIT
 *
 * neighbours.c - Threads: any. Never: believes a number of the file: its tables may be damaged.
 */
#include "neighbours.h"

#include <gelf.h>
#include <string.h>

/* How many functions may lie between. */
enum { MOST_BETWEEN = 2 };

static bool is_in(const GElf_Shdr *section, pt_u64 address)
{
    return address >= section->sh_addr && address - section->sh_addr < section->sh_size;
}

static bool share_code_section(Elf *elf, pt_u64 a, pt_u64 b)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR && is_in(&header, a) && is_in(&header, b))
            return true;
    }
    return false;
}

/* ---- .eh_frame_hdr: where each function begins ---- */

/* As all linkers write it: a pointer of 4 bytes, a count, and pairs of 4 bytes that count from the section. */
struct head {
    pt_u8 version, pointer_form, count_form, table_form;
    pt_i32 pointer;
    pt_u32 n;
};
static const pt_u8 usual_forms[] = {1, 0x1b, 0x03, 0x3b};

struct starts {
    const char *pairs;
    pt_u64 base;
    pt_u32 n;
};

static pt_u64 start_at(const struct starts *starts, pt_u32 i)
{
    pt_i32 offset;
    memcpy(&offset, starts->pairs + 8 * (size_t)i, sizeof offset);
    return starts->base + (pt_u64)(pt_i64)offset;
}

static struct starts find_starts(Elf *elf)
{
    size_t names;
    Elf_Scn *section = NULL;
    while (elf_getshdrstrndx(elf, &names) == 0 && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        struct head head;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        const Elf_Data *data = name && !strcmp(name, ".eh_frame_hdr") ? elf_rawdata(section, NULL) : NULL;
        if (!data || !data->d_buf || data->d_size < sizeof head)
            continue;
        memcpy(&head, data->d_buf, sizeof head);
        if (!memcmp(&head, usual_forms, sizeof usual_forms) && head.n <= (data->d_size - sizeof head) / 8)
            return (struct starts){(const char *)data->d_buf + sizeof head, header.sh_addr, head.n};
    }
    return (struct starts){0};
}

/* How many begin up to the address. */
static pt_u32 begun(const struct starts *starts, pt_u64 address)
{
    pt_u32 low = 0, high = starts->n;
    while (low < high) {
        const pt_u32 middle = low + (high - low) / 2;
        if (start_at(starts, middle) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool pt_are_neighbours(Elf *elf, pt_u64 address, pt_u64 next)
{
    const struct starts starts = find_starts(elf);
    const pt_u32 own = begun(&starts, address), to = begun(&starts, next);
    return own && to > own && to - own <= MOST_BETWEEN + 1 && share_code_section(elf, address, next);
}
