/* SPDX-License-Identifier: MIT
 *
 * code_modules.c - Owns: modules and their open tables. Threads: main only. Never: opens a file before a sample lies
 * in it.
 */
#include "code_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../util/auto.h"
#include "../util/cpu_format.h"
#include "../util/mem.h"

static bool is_same(const struct pt_code_module *module, const pt_u8 *build_id, pt_u32 build_id_bytes, pt_u64 inode)
{
    if (module->build_id_bytes && build_id_bytes)
        return module->build_id_bytes == build_id_bytes && !memcmp(module->build_id, build_id, build_id_bytes);
    return module->inode == inode;
}

struct pt_code_module *pt_code_module_of(struct pt_code_modules *modules, const char *path, const pt_u8 *build_id,
                                         pt_u32 build_id_bytes, pt_u64 inode)
{
    const char *interned = pt_intern_text(&modules->paths, path);
    pt_u64 *newest = pt_map_at(&modules->by_path, (uintptr_t)interned);
    struct pt_code_module *module = (struct pt_code_module *)(uintptr_t)*newest;
    if (module && is_same(module, build_id, build_id_bytes, inode))
        return module;
    module = pt_calloc(1, sizeof *module);
    module->path = interned;
    module->inode = inode;
    module->number = PT_CPU_MODULE__FIRST + (pt_u32)modules->n;
    module->build_id_bytes = build_id_bytes <= sizeof module->build_id ? build_id_bytes : 0;
    memcpy(module->build_id, build_id, module->build_id_bytes);
    pt_vec_push(modules, module);
    *newest = (uintptr_t)module;
    return module;
}

/* Without a build-id in the kernel's record, the file must at least be the same one. */
static bool is_file(const struct pt_code_module *module, const char *path)
{
    struct stat status;
    return module->build_id_bytes || (stat(path, &status) == 0 && (pt_u64)status.st_ino == module->inode);
}

static struct pt_cfi *open_at(const struct pt_code_module *module, const char *path)
{
    return is_file(module, path) ? pt_cfi_open(path, module->build_id, module->build_id_bytes) : NULL;
}

struct pt_cfi *pt_code_module_cfi(struct pt_code_module *module, pid_t pid)
{
    if (module->was_opened)
        return module->cfi;
    module->was_opened = true;
    if (!strcmp(module->path, "[vdso]")) {
        module->cfi = pt_cfi_open_vdso();
    } else if (module->path[0] == '/') {
        /* A process in another mount namespace sees other files under the same name. */
        PT_AUTO(pt_freep) char *theirs = pt_asprintf("/proc/%d/root%s", pid, module->path);
        module->cfi = open_at(module, module->path);
        if (!module->cfi)
            module->cfi = open_at(module, theirs);
    }
    const pt_u8 *build_id;
    if (module->cfi && !module->build_id_bytes) {
        module->build_id_bytes = pt_cfi_build_id(module->cfi, &build_id);
        memcpy(module->build_id, build_id, module->build_id_bytes);
    }
    return module->cfi;
}

void pt_code_modules_fini(struct pt_code_modules *modules)
{
    for (size_t i = 0; i < modules->n; i++) {
        pt_cfi_close(modules->items[i]->cfi);
        free(modules->items[i]);
    }
    free(modules->items);
    pt_intern_fini(&modules->paths);
    pt_map_fini(&modules->by_path);
}
