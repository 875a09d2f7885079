/* SPDX-License-Identifier: MIT
 *
 * injection.c - sets CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH and INTEL_LIBITTNOTIFY64 to this library.
 *
 * Entered by the constructor only; what it finds never changes afterwards. Children inherit them, and in this process
 * CUDA, NVTX and ITT read them when they are first used. Never changes a variable that names another tool's library:
 * each can name only one.
 */
#include "injection.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proftrace/cuda.h"
#include "proftrace/events.h"
#include "proftrace/limits.h"
#include "core/file/area.h"
#include "core/file/image_state.h"
#include "core/names/define.h"
#include "core/names/intern.h"
#include "core/real/may_be_missing.h"
#include "core/real/next.h"
#include "emit.h"
#include "options.h"
#include "sys.h"
#include "text.h"

#define CUDA_VARIABLE "CUDA_INJECTION64_PATH"

const char *pt_own_path = "";
int pt_own_folder_is_searched;
int pt_of_nsight;

static int is_our_name(const char *path)
{
    return pt_text_starts(pt_text_base_name(path), PT_LIBRARY_NAME);
}

static const struct link_map *map_of(const void *address)
{
    Dl_info info;
    struct link_map *map = 0;
    return dladdr1 && dladdr1(address, &info, (void **)(void *)&map, RTLD_DL_LINKMAP) ? map : 0;
}

static const struct link_map *own_map(void)
{
    const struct link_map *map = pt_next_own_map();
    return map ? map : map_of((const void *)(pt_u64)&own_map); /* in a namespace of its own */
}

/* RTLD_DEFAULT would find our own symbol first, because we are linked with -Bsymbolic: the program's scope is asked by
 * its handle. */
static int is_there_another(void)
{
    void *program = dlopen ? dlopen(0, RTLD_LAZY | RTLD_NOLOAD) : 0;
    const void *found = program ? dlsym(program, "proftrace_v1_active") : 0;
    return found && map_of(found) != own_map();
}

int pt_own_folder_is_in(const char *list)
{
    const pt_u64 bytes = (pt_u64)(pt_text_base_name(pt_own_path) - pt_own_path) - 1; /* without its slash */
    while (list && *list) {
        const pt_u64 length = strcspn(list, ":;");
        pt_u64 without_slashes = length;
        while (without_slashes > 1 && list[without_slashes - 1] == '/')
            without_slashes--;
        if (without_slashes == bytes && !memcmp(list, pt_own_path, bytes))
            return 1;
        list += length + (list[length] != 0);
    }
    return 0;
}

enum pt_arrival pt_injection_arrival(void)
{
    const struct link_map *own = own_map();
    if (own && own->l_name)
        pt_own_path = own->l_name;
    pt_own_folder_is_searched = *pt_own_path == '/' && !strpbrk(pt_own_path, " :$") &&
                                pt_own_folder_is_in(pt_text_value(environ, "LD_LIBRARY_PATH"));
    /* Preloaded libraries come before those that the program needs; dlopen appends. */
    int is_behind_another = 0;
    for (const struct link_map *map = own; map; map = map->l_prev) {
        const char *name = map->l_name ? pt_text_base_name(map->l_name) : "";
        if (pt_text_equal(name, "libc.so.6"))
            return is_there_another() ? PT_ARRIVAL_SECOND : PT_ARRIVAL_INJECTED;
        is_behind_another |= map != own && is_our_name(name);
    }
    /* LD_PRELOAD names two installations: each would record what the program does, and all would be there twice. */
    return is_behind_another ? PT_ARRIVAL_SECOND : PT_ARRIVAL_PRELOADED;
}

void pt_injection_note_hooks_blind(void)
{
    /* the header's first text is the executable */
    pt_define_untraced(pt_intern_string(pt_first_text()),
                       "started without the library; only what CUDA, NVTX or ITT tell is in its trace");
}

/* The absolute path without links: a library that is opened by it is found to be loaded already, and there is one set
 * of globals. 0 when it cannot be known, as in a chroot without /proc or after the file was deleted. */
static int real_path(const char *name, char *ret, pt_u64 room)
{
    struct stat by_name, by_path;
    char link[48];
    struct pt_text text = {link, 0, sizeof link};
    const long fd = pt_syscall3(SYS_open, name, O_PATH | O_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    pt_text_add(&text, "/proc/self/fd/");
    pt_text_number(&text, (pt_u64)fd, 1);
    const long length = pt_syscall3(SYS_readlink, link, ret, room - 1);
    const long error = pt_syscall2(SYS_fstat, fd, &by_name);
    pt_syscall1(SYS_close, fd);
    ret[length > 0 ? length : 0] = 0;
    return *ret == '/' && error == 0 && pt_syscall2(SYS_stat, ret, &by_path) == 0 && by_path.st_ino == by_name.st_ino &&
           by_path.st_dev == by_name.st_dev;
}

/* Another tool is named, or the user has set it to nothing so that no tool is loaded. A long value is cut, but the text
 * names the variable, so that the user can look.
 */
static void note_foreign(const char *variable, const char *value, int is_cuda)
{
    char reason[192];
    struct pt_text text = {reason, 0, sizeof reason};
    pt_text_add(&text, variable);
    if (pt_text_equal(value, "none"))
        pt_text_add(&text, " is set to no library");
    else {
        pt_text_add(&text, " is set by somebody else, to ");
        pt_text_add(&text, value);
    }
    if (is_cuda)
        pt_point(PT_EV_gpu_tracing, pt_intern_string(reason), PT_CUDA_TRACING_WRAPPED, 0, 0);
    else
        pt_point(PT_EV_mark, 0, 0, pt_words(pt_intern_string(reason), 0), 0);
}

/* Nsight Compute ends a program in which CUDA would load any library but its own, whoever set the variable: measured
 * with 2025.3.1. It sets a variable of its own for all that it starts, and is known itself by its name. */
static int is_of_nsight(void)
{
    static const char *const names[] = {"ncu", "nv-nsight-cu-cli"};
    const char *name = pt_text_base_name(pt_first_text());
    int is_itself = 0;
    for (pt_u64 i = 0; i < sizeof names / sizeof *names; i++)
        is_itself |= pt_text_equal(name, names[i]);
    return is_itself || pt_text_value(environ, "NV_TPS_LAUNCH_TOKEN") != 0;
}

static void leave_cuda_to_nsight(void)
{
    pt_of_nsight = 1;
    const char *value = pt_text_value(environ, CUDA_VARIABLE);
    if (value && is_our_name(value))
        unsetenv(CUDA_VARIABLE);
    pt_point(PT_EV_gpu_tracing, pt_intern_string("Nsight Compute has CUPTI: it allows no library beside its own"),
             PT_CUDA_TRACING_WRAPPED, 0, 0);
}

struct ours {
    const char *name; /* as the loader has it */
    char path[512];   /* the real path, made when it is needed */
    int is_known;
};

static void announce(struct ours *ours, const char *variable, int is_cuda)
{
    const char *value = pt_text_value(environ, variable);
    value = value && *value ? value : 0; /* an empty value names no library */
    if (value && !is_our_name(value)) {
        note_foreign(variable, value, is_cuda);
        return;
    }
    if (value && pt_text_equal(value, ours->name))
        return;
    if (!ours->is_known)
        ours->is_known = real_path(ours->name, ours->path, sizeof ours->path) ? 1 : -1;
    if (ours->is_known > 0 && !(value && pt_text_equal(value, ours->path)))
        setenv(variable, ours->path, 1);
}

void pt_injection_announce(void)
{
    struct ours ours = {.name = pt_own_path};
    if (pt_options.cuda && is_of_nsight())
        leave_cuda_to_nsight();
    else if (pt_options.cuda)
        announce(&ours, CUDA_VARIABLE, 1);
    if (pt_options.nvtx)
        announce(&ours, "NVTX_INJECTION64_PATH", 0);
    if (pt_options.itt)
        announce(&ours, "INTEL_LIBITTNOTIFY64", 0);
}
