/* SPDX-License-Identifier: MIT
 *
 * target.c - find the program behind a path, follow scripts to their interpreters, remember what was found.
 *
 * Entered by the exec and spawn hooks, also in vfork children. Works in a mapping of its own (a path and a page of a
 * file do not fit on a host's small stack), opens files only where no other thread can see the descriptor, and never
 * changes a start when in doubt.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/emit.h"
#include "core/file/space.h"
#include "core/names/define.h"
#include "core/names/intern.h"
#include "core/names/path.h"
#include "core/options.h"
#include "core/private.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "core/text.h"

#define SCRIPT_DEPTH 4

struct search {
    int dir;
    int flags;
    const char *path;
    enum pt_verdict verdict;
    int is_of_mount; /* the verdict: by another mount of its file system the same file may have another one */
    char found[4096];
    struct stat status;
    struct pt_elf_check elf;
    /* Of our short-lived clone, where the caller has recorded nothing yet: unjudged, a 32-bit program would be started
     * with LD_PRELOAD, and ld.so would print an error into it. */
    char spare_stack[PT_INNER_STACK_BYTES] __attribute__((aligned(16)));
};

static int has_no_new_privs(void)
{
    return pt_syscall6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1;
}

/* Verdicts by identity of the file: hash above, verdict in the low byte. A lost race only costs another check. */
#define CACHE_SLOTS 256u
static pt_u64 cache[CACHE_SLOTS];

/* Of the file, and of the caller's rights: a server that starts as root and becomes another user would go on with what
 * held for root, who gains no rights by a setuid program. Three short calls, a thousandth of what a start takes. */
static pt_u64 identity_of(const struct stat *status)
{
    const pt_u64 user = (pt_u32)pt_syscall0(SYS_geteuid), group = (pt_u32)pt_syscall0(SYS_getegid);
    const pt_u64 identity[] = {
        status->st_dev,          status->st_ino,     (pt_u64)status->st_ctim.tv_sec, (pt_u64)status->st_ctim.tv_nsec,
        (pt_u64)status->st_size, user << 32 | group, (pt_u64)has_no_new_privs()};
    pt_u64 hash = 0;
    for (unsigned i = 0; i < sizeof identity / sizeof *identity; i++)
        hash = (hash ^ identity[i]) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 29;
    return hash & ~0xffull;
}

static enum pt_verdict cached(pt_u64 identity)
{
    const pt_u64 entry = __atomic_load_n(&cache[identity >> 8 & (CACHE_SLOTS - 1)], __ATOMIC_RELAXED);
    return (entry & ~0xffull) == identity ? (enum pt_verdict)(entry & 0xff) : 0;
}

static void remember(pt_u64 identity, enum pt_verdict verdict)
{
    __atomic_store_n(&cache[identity >> 8 & (CACHE_SLOTS - 1)], identity | (pt_u64)verdict, __ATOMIC_RELAXED);
}

/* The file system may be mounted so that it gives nobody any. */
static int gives_no_rights(int fd)
{
    struct statfs of;
    return fd >= 0 && pt_syscall2(SYS_fstatfs, fd, &of) == 0 && of.f_flags & ST_NOSUID;
}

/* Would the kernel give the program rights that the caller does not have? Then ld.so ignores us, sometimes with a
 * message. */
static int gains_rights(struct search *search, int fd, const struct stat *status)
{
    const int set_user = (status->st_mode & S_ISUID) && (long)status->st_uid != pt_syscall0(SYS_geteuid);
    const int set_group =
        (status->st_mode & S_ISGID) && (status->st_mode & S_IXGRP) && (long)status->st_gid != pt_syscall0(SYS_getegid);
    const int capable =
        fd >= 0 && pt_syscall0(SYS_geteuid) != 0 && pt_syscall4(SYS_fgetxattr, fd, "security.capability", 0, 0) > 0;
    if ((!set_user && !set_group && !capable) || has_no_new_privs())
        return 0;
    search->is_of_mount = 1;
    return !gives_no_rights(fd);
}

/* "#! /usr/bin/python3 -s" -> search->found; 0 when the file is no script. */
static int is_script(struct search *search)
{
    const char *head = search->elf.head, *end = head + search->elf.head_bytes;
    if (end - head < 4 || head[0] != '#' || head[1] != '!')
        return 0;
    for (head += 2; head < end && (*head == ' ' || *head == '\t'); head++)
        ;
    char *out = search->found, *last = out + sizeof search->found - 1;
    for (; head < end && out < last && *head && !strchr(" \t\n", *head); head++)
        *out++ = *head;
    *out = 0;
    return 1;
}

static enum pt_verdict verdict_of_open_file(struct search *search, int fd)
{
    if (pt_syscall2(SYS_fstat, fd, &search->status) < 0 || !S_ISREG(search->status.st_mode))
        return PT_VERDICT_UNKNOWN;
    search->elf.fd = fd;
    const long got = pt_syscall4(SYS_pread64, fd, search->elf.head, sizeof search->elf.head, 0);
    search->elf.head_bytes = got > 0 ? (pt_u32)got : 0;
    if (is_script(search)) /* of which the kernel heeds no such bit: that of its interpreter counts */
        return 0;
    return gains_rights(search, fd, &search->status) ? PT_VERDICT_PRIVILEGED : pt_elf_verdict(&search->elf);
}

/* What is open only as a path cannot be read by its descriptor: systemd starts programs so. */
static long readable(struct search *search)
{
    const long flags = pt_syscall3(SYS_fcntl, search->dir, F_GETFL, 0);
    if (flags < 0 || !(flags & O_PATH))
        return search->dir;
    struct pt_text name = {search->found, 0, sizeof search->found};
    pt_text_add(&name, "/proc/self/fd/");
    pt_text_number(&name, (pt_u32)search->dir, 0);
    return pt_syscall4(SYS_openat, AT_FDCWD, search->found, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

/* Leaves the path of a script's interpreter. */
static void look_at_descriptor(struct search *search)
{
    const long fd = readable(search);
    search->verdict = fd < 0 ? PT_VERDICT_UNKNOWN : verdict_of_open_file(search, (int)fd);
    if (fd >= 0 && fd != search->dir)
        pt_syscall1(SYS_close, fd);
    search->dir = AT_FDCWD;
    search->path = search->found;
}

/* In pt_private_files: nothing opened here is seen by another thread. All is closed again: where there is none, these
 * are the host's own descriptors. */
static void look(void *argument)
{
    struct search *search = argument;
    if (search->flags & AT_EMPTY_PATH)
        look_at_descriptor(search);
    search->flags = 0;
    for (int depth = 0; !search->verdict && depth < SCRIPT_DEPTH; depth++) {
        const int open_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
        const long fd = pt_syscall4(SYS_openat, search->dir, search->path, open_flags, 0);
        if (fd < 0) {
            search->verdict = PT_VERDICT_UNKNOWN;
            return;
        }
        search->verdict = verdict_of_open_file(search, (int)fd);
        pt_syscall1(SYS_close, fd);
        search->path = search->found;
    }
}

/* A file that may be executed but not read still shows its mode. */
static enum pt_verdict judge(struct search *search, pt_u64 identity, const struct stat *status)
{
    search->verdict = 0;
    search->is_of_mount = 0;
    /* A signal to the process group must not run the host's handler in our short-lived clone, which shares its
     * memory. */
    const pt_u64 mask = pt_signals_block();
    const int looked = pt_private_files_on(search->spare_stack + sizeof search->spare_stack, look, search);
    pt_signals_restore(mask);
    if (looked < 0 || !search->verdict)
        return PT_VERDICT_UNKNOWN;
    if (search->verdict == PT_VERDICT_UNKNOWN && gains_rights(search, -1, status))
        search->verdict = PT_VERDICT_PRIVILEGED;
    if (!search->is_of_mount)
        remember(identity, search->verdict);
    return search->verdict;
}

static struct search *search_new(void)
{
    return pt_sys_map(sizeof(struct search), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void search_free(struct search *search)
{
    pt_syscall2(SYS_munmap, search, sizeof *search);
}

struct pt_target pt_target_at(int dir, const char *path, int flags)
{
    struct pt_target target = {PT_VERDICT_UNKNOWN, 0};
    if (!path || !pt_may_call()) /* with AT_EMPTY_PATH newer kernels take NULL for "" */
        return target;
    struct stat status;
    const long looked = pt_syscall4(SYS_newfstatat, dir, path, &status, flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
    if (looked == -EFAULT)
        return target;
    target.path = dir == AT_FDCWD ? pt_intern_path(path) : pt_intern_path_at(dir, path);
    if (looked != 0 || !S_ISREG(status.st_mode))
        return target;
    const pt_u64 identity = identity_of(&status);
    const enum pt_verdict known = cached(identity);
    struct search *search = known ? 0 : search_new();
    if (search) {
        search->dir = dir;
        search->flags = path[0] ? 0 : flags;
        search->path = path;
        target.verdict = judge(search, identity, &status);
        search_free(search);
    } else if (known) {
        target.verdict = known;
    }
    return target;
}

/* The next directory of PATH joined with the name; 0 at the end. An empty directory is the current one. */
static int next_candidate(struct search *search, const char **directories, const char *name)
{
    const char *at = *directories;
    if (!at)
        return 0;
    const char *colon = strchrnul(at, ':');
    *directories = *colon ? colon + 1 : 0;
    const pt_u64 directory_bytes = (pt_u64)(colon - at), name_bytes = strlen(name) + 1;
    if (directory_bytes + 1 + name_bytes > sizeof search->found)
        return 1;
    char *out = search->found;
    if (directory_bytes) {
        memcpy(out, at, directory_bytes);
        out[directory_bytes] = '/';
        out += directory_bytes + 1;
    }
    memcpy(out, name, name_bytes);
    return 1;
}

struct pt_target pt_target_search(const char *name)
{
    struct pt_target target = {PT_VERDICT_UNKNOWN, 0};
    if (!name || !*name || strchr(name, '/') || !pt_may_call())
        return pt_target_at(AT_FDCWD, name, 0);
    struct search *search = search_new();
    if (!search)
        return target;
    const char *directories = pt_text_value(environ, "PATH");
    if (!directories)
        directories = "/bin:/usr/bin";
    search->found[0] = 0;
    struct stat status;
    while (next_candidate(search, &directories, name)) {
        if (pt_syscall4(SYS_newfstatat, AT_FDCWD, search->found, &status, 0) < 0 || !S_ISREG(status.st_mode) ||
            pt_syscall3(SYS_faccessat, AT_FDCWD, search->found, X_OK) < 0)
            continue;
        target.path = pt_intern_string(search->found);
        search->dir = AT_FDCWD;
        search->flags = 0;
        search->path = search->found;
        const pt_u64 identity = identity_of(&status);
        target.verdict = cached(identity);
        if (!target.verdict)
            target.verdict = judge(search, identity, &status);
        break;
    }
    if (!target.path)
        target.path = pt_intern_string(name);
    search_free(search);
    return target;
}

void pt_target_report(const struct pt_target *target, enum pt_loading loading)
{
    static const char *const reasons[] = {
        [PT_VERDICT_STATIC] = "static program",
        [PT_VERDICT_32BIT] = "32-bit program",
        [PT_VERDICT_MACHINE] = "program for another machine",
        [PT_VERDICT_LIBC] = "not a glibc program",
        [PT_VERDICT_PRIVILEGED] = "gains rights when started (setuid, setgid or capabilities)",
        [PT_VERDICT_SANITIZER] = "built with a sanitizer that must be the first library",
    };
    const unsigned verdict = (unsigned)target->verdict;
    if (target->path && verdict < sizeof reasons / sizeof *reasons && reasons[verdict])
        pt_define_untraced(target->path, reasons[verdict]);
    else if (target->path && target->verdict == PT_VERDICT_TRACED && loading == PT_LOADING_MISSING)
        pt_define_untraced(target->path, "the library's file cannot be opened there: another root directory, another "
                                         "folder and a relative path in LD_PRELOAD, or no right to read it");
    else if (target->path && target->verdict == PT_VERDICT_TRACED && loading == PT_LOADING_LOCKED_OUT)
        pt_define_untraced(target->path, "started as another user or under another root directory, from where the run "
                                         "directory cannot be written");
    else if (target->path && target->verdict == PT_VERDICT_TRACED && pt_started_by_environment &&
             loading == PT_LOADING_NOTHING)
        pt_define_untraced(target->path, "its environment was cleared: LD_PRELOAD does not name the library there");
}
