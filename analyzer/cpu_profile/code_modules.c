/* SPDX-License-Identifier: MIT
 *
 * code_modules.c - Owns: modules and their open tables. Threads: main only. Never: opens a file before there is a
 * sample in it.
 */
#include "code_modules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cpu_file/format.h"
#include "util/auto.h"
#include "util/hash.h"
#include "util/mem.h"

static struct pt_code_module *module_at(struct pt_code_modules *modules, pt_u64 *known, const char *path, pt_u64 inode)
{
    if (*known)
        return (struct pt_code_module *)(uintptr_t)*known;
    struct pt_code_module *module = pt_calloc(1, sizeof *module);
    module->path = path;
    module->inode = inode;
    module->seen_s = time(NULL);
    pt_vec_push(modules, module);
    *known = (uintptr_t)module;
    return module;
}

/* Two files of one path that are mapped by turns would make modules without end, for which there are no numbers: from
 * then on the known one is taken. */
enum { MOST_OF_ONE_PATH = 64 };

/* Whether the file that has this inode now may be a new one: where a file system has no generations (NFS, FUSE), it may
 * have got the number of an earlier one, whose tables would be read for it. */
static bool may_be_new(struct pt_code_modules *modules, pt_u64 place)
{
    pt_u64 *n_anew = pt_map_at(&modules->n_anew, place);
    return *n_anew < MOST_OF_ONE_PATH && ++*n_anew;
}

struct pt_code_module *pt_code_module_of_file(struct pt_code_modules *modules, const char *path, pt_u64 device,
                                              pt_u64 inode, pt_u64 generation)
{
    const char *interned = pt_intern_text(&modules->paths, path);
    const pt_u64 place = pt_hash_pair((uintptr_t)interned, device);
    pt_u64 *known = pt_map_at(&modules->by_file, pt_hash_pair(place, pt_hash_pair(inode, generation)));
    pt_u64 *newest = pt_map_at(&modules->newest, place);
    if (!generation && *known && *known != *newest && may_be_new(modules, place))
        *known = 0;
    struct pt_code_module *module = module_at(modules, known, interned, inode);
    *newest = (uintptr_t)module;
    return module;
}

struct pt_code_module *pt_code_module_of(struct pt_code_modules *modules, const char *path, pt_u64 inode)
{
    const char *interned = pt_intern_text(&modules->paths, path);
    return module_at(modules, pt_map_at(&modules->by_file, pt_hash_pair((uintptr_t)interned, inode)), interned, inode);
}

static bool is_inode(const char *path, pt_u64 inode)
{
    struct stat status;
    return stat(path, &status) == 0 && (pt_u64)status.st_ino == inode;
}

static bool is_other(const char *ours, const char *theirs)
{
    struct stat our, their;
    return stat(ours, &our) == 0 && stat(theirs, &their) == 0 &&
           (our.st_dev != their.st_dev || our.st_ino != their.st_ino);
}

/* One that has ended, or may not be asked, counts as seeing what we see: so do most. */
static bool is_in_other_namespace(pid_t pid)
{
    char namespace[64];
    snprintf(namespace, sizeof namespace, "/proc/%d/ns/mnt", pid);
    return is_other("/proc/self/ns/mnt", namespace);
}

const char *pt_code_path_below_root(pid_t pid, const char *path)
{
    char link[64], root[4096];
    snprintf(link, sizeof link, "/proc/%d/root", pid);
    const ssize_t n = readlink(link, root, sizeof root);
    const bool is_below = n > 1 && n < (ssize_t)sizeof root && !strncmp(path, root, (size_t)n) && path[n] == '/';
    return is_below ? path + n : path;
}

char *pt_code_path_here(pid_t pid, const char *path, pt_u64 inode)
{
    if (!is_in_other_namespace(pid))
        return pt_strdup(path);
    PT_AUTO(pt_freep) char *theirs = pt_asprintf("/proc/%d/root%s", pid, pt_code_path_below_root(pid, path));
    return pt_strdup(access(theirs, F_OK) != 0 && is_inode(path, inode) ? path : theirs);
}

/* The same file, or one of another inode number (overlay file systems have two) that was not changed since it was
 * mapped. Only for a path as the process sees it: what is there for others may be any file, of any age. */
static bool is_file(const struct pt_code_module *module, const char *path)
{
    struct stat status;
    return is_inode(path, module->inode) || (stat(path, &status) == 0 && status.st_ctim.tv_sec < module->seen_s - 1);
}

static bool open_at(struct pt_code_module *module, const char *path, bool is_file_there)
{
    if (!is_file_there)
        return false;
    module->cfi = pt_cfi_open(path);
    module->file = module->cfi ? pt_strdup(path) : NULL;
    return module->cfi;
}

bool pt_code_module_bytes(const struct pt_code_module *module, pt_u64 file_offset, void *ret_bytes, size_t n)
{
    const char *path = module->number ? module->file : module->path;
    if (!path || path[0] != '/' || !is_file(module, path))
        return false;
    PT_AUTO(pt_closep) int fd = pt_cfi_open_file(path);
    return fd >= 0 && pread(fd, ret_bytes, n, (off_t)file_offset) == (ssize_t)n;
}

static void open_tables(struct pt_code_module *module, pid_t pid)
{
    const pt_u8 *build_id;
    if (!strcmp(module->path, "[vdso]"))
        module->cfi = pt_cfi_open_vdso();
    if (module->path[0] != '/')
        return;
    /* Where we may not look as the process does, only the number of the file says which it is. */
    PT_AUTO(pt_freep) char *here = pt_code_path_here(pid, module->path, module->inode);
    if (!open_at(module, here, is_file(module, here)) &&
        !open_at(module, module->path, is_inode(module->path, module->inode)))
        return;
    module->build_id_bytes = pt_cfi_build_id(module->cfi, &build_id);
    memcpy(module->build_id, build_id, module->build_id_bytes);
}

struct pt_cfi *pt_code_module_use(struct pt_code_modules *modules, struct pt_code_module *module, pid_t pid)
{
    if (module->number)
        return module->cfi;
    module->number = PT_CPU_MODULE__FIRST + (pt_u32)modules->used.n;
    pt_vec_push(&modules->used, module);
    open_tables(module, pid);
    return module->cfi;
}

void pt_code_modules_fini(struct pt_code_modules *modules)
{
    for (size_t i = 0; i < modules->n; i++) {
        pt_cfi_close(modules->items[i]->cfi);
        free((char *)(size_t)modules->items[i]->file);
        free(modules->items[i]);
    }
    free(modules->items);
    free(modules->used.items);
    pt_intern_fini(&modules->paths);
    pt_map_fini(&modules->by_file);
    pt_map_fini(&modules->newest);
    pt_map_fini(&modules->n_anew);
    pt_map_fini(&modules->calls);
}
