/* SPDX-License-Identifier: MIT
 *
 * stacks/outside.c - Owns: how an interpreter is found from outside. Threads: main only. State: none. Never: believes
 * what looks like an interpreter unless the threads that it names are those of the process.
 */
#include "outside.h"

#include <gelf.h>
#include <stdio.h>
#include <string.h>

#include "proftrace/python_walk.h"
#include "cpu_profile/python/remote.h"
#include "symbols/elf_image.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/mem.h"

/* Where its interpreters are in _PyRuntime differs from version to version, but it is among the first words. */
enum { RUNTIME_BYTES_SEARCHED = 8192 };

struct symbols {
    pt_u64 runtime, runtime_end, code_type, version;
};

/* ---- the file ---- */

static pt_u64 first_address(const struct pt_elf_image *image)
{
    size_t n = 0;
    GElf_Phdr segment;
    elf_getphdrnum(image->elf, &n);
    for (size_t i = 0; i < n; i++)
        if (gelf_getphdr(image->elf, (int)i, &segment) && segment.p_type == PT_LOAD)
            return segment.p_vaddr - segment.p_offset;
    return 0;
}

static bool read_symbols(pt_u32 pid, const struct pt_look_interpreter *interpreter, struct symbols *ret)
{
    struct pt_elf_image image = {0};
    pt_u64 end;
    *ret = (struct symbols){0};
    PT_AUTO(pt_freep) char *here = pt_code_path_here((pid_t)pid, interpreter->path, interpreter->inode);
    if (!pt_elf_image_open(&image, here, NULL, PT_ELF_ANY_BUILD))
        return false;
    const pt_u64 moved = interpreter->start - first_address(&image);
    const bool is_found = pt_elf_image_find_variable(&image, "_PyRuntime", &ret->runtime, &ret->runtime_end) &&
                          pt_elf_image_find_variable(&image, "PyCode_Type", &ret->code_type, &end);
    if (pt_elf_image_find_variable(&image, "Py_Version", &ret->version, &end))
        ret->version += moved;
    ret->runtime += moved;
    ret->runtime_end += moved;
    ret->code_type += moved;
    pt_elf_image_close(&image);
    return is_found;
}

/* 3.11 and later say it; before, the name of the file does: python3.8, libpython3.8.so.1.0. */
static pt_u32 version_of(pt_u32 pid, const struct symbols *symbols, const char *path)
{
    pt_u64 version;
    unsigned minor;
    const char *slash = strrchr(path, '/'), *name = slash ? strstr(slash, "python3.") : NULL;
    if (symbols->version && pt_remote_read(pid, symbols->version, &version, sizeof version))
        return (pt_u32)version;
    return name && sscanf(name, "python3.%u", &minor) == 1 && minor < 256 ? 3u << 24 | minor << 16 : 0;
}

/* ---- its memory ---- */

static bool has_our_threads(const struct pt_look_process *process, const struct pt_python_header *header)
{
    struct pt_python_process python;
    bool is_ours = false;
    if (!pt_python_process_open(&python, process->pid, header, NULL))
        return false;
    const struct pt_map *found = pt_python_threads(&python, pt_monotonic_ns());
    for (size_t i = 0; i < process->threads.n && !is_ours; i++)
        is_ours = pt_map_find(found, process->threads.items[i]->inner_tid) != NULL;
    pt_python_process_close(&python);
    return is_ours;
}

static bool find_interpreter(const struct pt_look_process *process, const struct symbols *symbols,
                             struct pt_python_header *header)
{
    const pt_u64 all = symbols->runtime_end - symbols->runtime;
    const pt_u64 n = (all < RUNTIME_BYTES_SEARCHED ? all : RUNTIME_BYTES_SEARCHED) / 8;
    PT_AUTO(pt_freep) pt_u64 *words = pt_malloc(RUNTIME_BYTES_SEARCHED);
    if (!pt_remote_read(process->pid, symbols->runtime, words, n * 8))
        return false;
    for (pt_u64 i = 0; i < n; i++) {
        header->interpreter = words[i];
        if (words[i] > 65536 && words[i] % 8 == 0 && has_our_threads(process, header))
            return true;
    }
    return false;
}

static const char *read_layout(pt_u32 pid, const struct symbols *symbols, struct pt_python_header *header)
{
    pt_u8 runtime[PT_PYTHON_RUNTIME_BYTES];
    const bool is_read = pt_remote_read(pid, symbols->runtime, runtime, sizeof runtime);
    return pt_python_layout_of(&header->layout, header->version, is_read ? runtime : NULL);
}

static const char *find(struct pt_look *look, struct pt_look_process *process,
                        const struct pt_look_interpreter *interpreter)
{
    struct symbols symbols;
    struct pt_python_header header = {.state = PT_PYTHON_READY};
    if (!read_symbols(process->seen_by, interpreter, &symbols))
        return "its interpreter exports no symbols, or its file is not here (another container)";
    header.version = version_of(process->pid, &symbols, interpreter->path);
    header.code_type = symbols.code_type;
    const char *why = read_layout(process->pid, &symbols, &header);
    if (why)
        return pt_look_text(look, "its interpreter cannot be read from outside: %s", why);
    if (!find_interpreter(process, &symbols, &header))
        return "no interpreter that can be read runs in it (yet)";
    pt_pythons_take(&process->pythons, process->pid, &header);
    return NULL;
}

void pt_outside_find_python(struct pt_look *look, struct pt_look_process *process)
{
    process->why_no_python = "its interpreter was not found";
    for (size_t i = 0; i < process->interpreters.n && process->why_no_python; i++)
        process->why_no_python = find(look, process, &process->interpreters.items[i]);
}
