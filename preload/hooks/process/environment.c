/* SPDX-License-Identifier: MIT
 *
 * environment.c - whether an environment loads this library and its file is there, and a copy of it that does not, for
 * programs that would break or print errors with it.
 *
 * Entered by the exec and spawn hooks, also in vfork children. Never reads through a pointer of the host that the
 * kernel has not checked yet. The copy lies in a mapping of its own; the caller's vector and strings are never changed.
 */
#include "environment.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proftrace/limits.h"
#include "core/file/reserve.h"
#include "core/injection.h"
#include "core/private.h"
#include "core/names/readable.h"
#include "core/session.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"

#define PRELOAD "LD_PRELOAD="
#define SEARCHED "LD_LIBRARY_PATH="
enum { MOST_VARIABLES = 100000, MOST_STRING_BYTES = 128 << 10 /* the kernel's limit of one string */ };

/* Variables that only we set. Those of the user stay, PROFTRACE_PIPELINE_CONFIG among them. */
static int is_ours(const char *variable)
{
    return pt_text_starts(variable, "PROFTRACE_SESSION=") || pt_text_starts(variable, "PROFTRACE_FILTERS=") ||
           ((pt_text_starts(variable, "CUDA_INJECTION64_PATH=") || pt_text_starts(variable, "NVTX_INJECTION64_PATH=") ||
             pt_text_starts(variable, "INTEL_LIBITTNOTIFY64=")) &&
            strstr(variable, PT_LIBRARY_NAME));
}

static int names_us(const char *item, pt_u64 length)
{
    const void *slash = memrchr(item, '/', length);
    const char *base = slash ? (const char *)slash + 1 : item;
    return (pt_u64)(item + length - base) >= sizeof PT_LIBRARY_NAME - 1 && pt_text_starts(base, PT_LIBRARY_NAME);
}

/* ---- what does an environment load? ---- */

/* By the real user, without capabilities that the exec takes away: with those rights the loader will open it; where the
 * effective user is another one, it ignores us. What the kernel does not answer is taken for "yes". */
static int can_be_opened(const char *path)
{
    const long error = pt_syscall3(SYS_faccessat, AT_FDCWD, path, R_OK);
    return error != -ENOENT && error != -ENOTDIR && error != -EACCES && error != -ELOOP;
}

/* The program may run in another root directory (chroot, containers), in another folder where the name is relative, or
 * as a user who may not read the file. A bare name, and one with the loader's own variables, stand for the file that
 * was found for this process. */
static int is_item_there(const char *item, pt_u64 length)
{
    enum { MOST_BYTES = 4096 };
    if (!memchr(item, '/', length) || memchr(item, '$', length))
        return !strchr(pt_own_path, '/') || can_be_opened(pt_own_path);
    if (!item[length])
        return can_be_opened(item);
    char *path = length < MOST_BYTES ? pt_sys_memory(MOST_BYTES) : 0;
    if (!path)
        return 1;
    memcpy(path, item, length);
    const int is_there = can_be_opened(path);
    pt_syscall2(SYS_munmap, path, MOST_BYTES);
    return is_there;
}

/* Asked only where the user or the root directory was changed. The program joins no run of another user; what the
 * caller may do there says nothing, for the exec takes capabilities away that setpriv has kept until then. */
static int is_locked_out(void)
{
    struct stat run;
    if (!pt_reserve_was_needed())
        return 0;
    const long error = pt_syscall4(SYS_newfstatat, AT_FDCWD, pt_session_path, &run, 0);
    return error == 0 ? (long)run.st_uid != pt_syscall0(SYS_geteuid)
                      : error == -ENOENT || error == -ENOTDIR || error == -EACCES;
}

static enum pt_loading loading_of_items(const char *items)
{
    enum pt_loading loading = PT_LOADING_NOTHING;
    while (*items) {
        const pt_u64 length = strcspn(items, " :");
        if (length && names_us(items, length)) {
            if (!is_item_there(items, length))
                return PT_LOADING_MISSING;
            loading = is_locked_out() ? PT_LOADING_LOCKED_OUT : PT_LOADING_US;
        }
        items += length + (items[length] != 0);
    }
    return loading;
}

static int is_bare(const char *item, pt_u64 length)
{
    return names_us(item, length) && !memchr(item, '/', length);
}

static int has_bare_item(const char *items)
{
    while (*items) {
        const pt_u64 length = strcspn(items, " :");
        if (is_bare(items, length))
            return 1;
        items += length + (items[length] != 0);
    }
    return 0;
}

/* The first variable that begins so, which the loader takes: `*ret` is its value, NULL when there is none. -1 = a part
 * of the environment cannot be read. */
static int find_value(char *const *vector, const char *name, long name_bytes, const char **ret)
{
    struct pt_reader of_vector = {1}, of_text = {1};
    *ret = 0;
    for (pt_u64 i = 0; vector && i < MOST_VARIABLES; i++) {
        if (!pt_is_readable(&of_vector, vector + i))
            return -1;
        if (!vector[i])
            break;
        if (pt_readable_length(&of_text, vector[i], name_bytes) < name_bytes || !pt_text_starts(vector[i], name))
            continue;
        const long length = pt_readable_length(&of_text, vector[i], MOST_STRING_BYTES);
        if (length < 0 || length == MOST_STRING_BYTES) /* no end: behind it there may be no page */
            return -1;
        *ret = vector[i] + name_bytes;
        break;
    }
    return 0;
}

enum pt_loading pt_environment_loading(char *const *vector)
{
    const char *items;
    if (find_value(vector, PRELOAD, sizeof PRELOAD - 1, &items) < 0)
        return PT_LOADING_US;
    return items ? loading_of_items(items) : PT_LOADING_NOTHING;
}

int pt_environment_needs_path(char *const *vector)
{
    const char *items, *searched;
    return pt_own_folder_is_searched && find_value(vector, PRELOAD, sizeof PRELOAD - 1, &items) == 0 && items &&
           has_bare_item(items) && find_value(vector, SEARCHED, sizeof SEARCHED - 1, &searched) == 0 &&
           !pt_own_folder_is_in(searched);
}

/* ---- an environment without us, or with our path ---- */

/* LD_PRELOAD's items are separated by spaces and colons. `path` stands once for our name; NULL = we are left out.
 * Returns the end of what was written, `out` when nothing is left. */
static char *write_preload(char *out, const char *items, const char *path)
{
    char *at = out;
    int kept = 0;
    memcpy(at, PRELOAD, sizeof PRELOAD - 1);
    at += sizeof PRELOAD - 1;
    while (*items) {
        const pt_u64 length = strcspn(items, " :");
        const char *item = names_us(items, length) ? path : items;
        const pt_u64 item_bytes = item == items ? length : item ? strlen(item) : 0;
        if (item_bytes) {
            if (kept)
                *at++ = ':';
            memcpy(at, item, item_bytes);
            at += item_bytes;
            kept = 1;
        }
        path = item == path ? 0 : path;
        items += length + (items[length] != 0);
    }
    if (!kept)
        return out;
    *at++ = 0;
    return at;
}

/* How many variables there are; -1 = the vector or one of them cannot be read. `*ret_bytes`: of all LD_PRELOAD, each
 * with room for a path of so many bytes. */
static long measure(char *const *vector, pt_u64 path_bytes, pt_u64 *ret_bytes)
{
    struct pt_reader of_vector = {1}, of_text = {1};
    *ret_bytes = 0;
    for (long count = 0; count < MOST_VARIABLES; count++) {
        if (!pt_is_readable(&of_vector, vector + count))
            return -1;
        if (!vector[count])
            return count;
        const long length = pt_readable_length(&of_text, vector[count], MOST_STRING_BYTES);
        if (length < 0 || length == MOST_STRING_BYTES)
            return -1;
        if (pt_text_starts(vector[count], PRELOAD))
            *ret_bytes += (pt_u64)length + 1 + path_bytes;
    }
    return -1;
}

/* `path`: what stands for us; NULL = we are left out, and our variables with us. */
static struct pt_environment changed(char *const *vector, const char *path)
{
    struct pt_environment unchanged = {vector, 0};
    pt_u64 bytes;
    const long count = vector ? measure(vector, path ? strlen(path) + 1 : 0, &bytes) : -1;
    if (count < 0)
        return unchanged;
    bytes += (pt_u64)(count + 1) * sizeof *vector;
    char **copy = pt_sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!copy)
        return unchanged;
    char *text = (char *)(copy + count + 1);
    pt_u64 kept = 0;
    for (long i = 0; i < count; i++) {
        if (!path && is_ours(vector[i]))
            continue;
        if (!pt_text_starts(vector[i], PRELOAD)) {
            copy[kept++] = vector[i];
            continue;
        }
        char *end = write_preload(text, vector[i] + sizeof PRELOAD - 1, path);
        if (end != text)
            copy[kept++] = text;
        text = end;
    }
    copy[kept] = 0;
    return (struct pt_environment){copy, bytes};
}

struct pt_environment pt_environment_without_us(char *const *vector)
{
    return changed(vector, 0);
}

struct pt_environment pt_environment_by_path(char *const *vector)
{
    return changed(vector, pt_own_path);
}

/* What vfork children have left behind, by the thread that made them: not in its slot, for a process that records
 * nothing has none, and starts programs all the same. A new thread often has the memory of one that has ended, and what
 * that left. One more than there is room for leaves its copies for good. */
enum { MOST_LEFT = 1024, MOST_PROBES = 16 };
static struct left {
    const void *thread; /* atomic: its thread-local storage; NULL = free. Only that thread, or its child while it waits,
                           touches the rest. */
    struct pt_environment copy;
} all_left[MOST_LEFT];

static struct left *left_of_caller(int may_take)
{
    const void *self = &pt_local;
    const pt_u64 first = (pt_u64)self * 0x9e3779b97f4a7c15ull >> 54;
    for (pt_u64 i = 0; i < MOST_PROBES; i++) {
        struct left *left = &all_left[(first + i) % MOST_LEFT];
        const void *whose = __atomic_load_n(&left->thread, __ATOMIC_RELAXED);
        if (whose == self ||
            (!whose && may_take &&
             __atomic_compare_exchange_n(&left->thread, &whose, self, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
            return left;
    }
    return 0;
}

void pt_environment_leave(const struct pt_environment *environment)
{
    struct left *left = environment->bytes && pt_local_is_ours() ? left_of_caller(1) : 0;
    if (!left)
        return;
    const struct pt_environment before = left->copy;
    left->copy = *environment;
    if (before.bytes)
        pt_syscall2(SYS_munmap, before.vector, before.bytes);
}

void pt_environment_release(const struct pt_environment *environment)
{
    if (!environment->bytes)
        return;
    struct left *left = pt_local_is_ours() ? left_of_caller(0) : 0;
    if (left && left->copy.vector == environment->vector)
        left->copy = (struct pt_environment){0};
    pt_syscall2(SYS_munmap, environment->vector, environment->bytes);
}
