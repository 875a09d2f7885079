/* SPDX-License-Identifier: MIT
 *
 * path.c - names that are relative to a working directory that is no longer the first one, or to a descriptor.
 *
 * Entered from any hook. Where threads have working directories of their own (unshare with CLONE_FS), each name is of
 * the thread's. Where another thread moves between a call and the recording of it, the name is of the new directory:
 * nobody could tell. Never makes a system call for a name in a process that did not move.
 */
#include "path.h"

#include <fcntl.h>

#include "core/file/attach.h"
#include "core/file/image.h"
#include "core/private.h"
#include "core/process.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "core/text.h"
#include "intern.h"

int pt_path_moved(void)
{
    if (!pt_may_call() || pt_process_is_vfork_child()) /* which has a directory of its own, and its parent's memory */
        return 0;
    __atomic_store_n(&pt_is_elsewhere, 1, __ATOMIC_RELAXED);
    return 1;
}

static long read_link(const char *folder, int fd, char *out, pt_u64 room)
{
    char link[32];
    struct pt_text name = {link, 0, sizeof link};
    pt_text_add(&name, folder);
    pt_text_number(&name, (pt_u32)fd, 0);
    return pt_syscall3(SYS_readlink, link, out, room);
}

/* /proc/self is the main thread, which has no descriptors any more when it has ended. The kernel makes the entries of
 * a thread anew for each: they are asked for only then. */
pt_u64 pt_path_of_fd(int fd, char *out, pt_u64 room)
{
    long length = read_link("/proc/self/fd/", fd, out, room);
    if (length == -ENOENT && pt_syscall3(SYS_fcntl, fd, F_GETFD, 0) >= 0)
        length = read_link("/proc/thread-self/fd/", fd, out, room);
    return length > 0 ? (pt_u64)length : 0;
}

/* The directory's own name is added to the text; 0 = nobody may ask, or it has none. */
static int add_directory(struct pt_text *text, int dir)
{
    if (dir == AT_FDCWD) {
        const long length = pt_syscall2(SYS_getcwd, text->bytes, text->room); /* counts the terminator */
        text->length = length > 1 ? (pt_u64)length - 1 : 0;
    } else
        text->length = pt_path_of_fd(dir, text->bytes, text->room);
    return text->length && text->bytes[0] == '/'; /* not "(unreachable)" */
}

/* Asked for each name: half a microsecond, where keeping the directory would need an order between threads. */
static PT_COLD pt_u32 intern_absolute(int dir, const char *path)
{
    struct pt_tracer_thread *t = pt_may_call() ? pt_thread_attached() : 0;
    if (!t || t->busy)
        return pt_intern_string(path);
    const pt_u64 mask = pt_signals_block(); /* the text buffer is the thread's */
    struct pt_text text = {t->priv->text, 0, sizeof t->priv->text};
    pt_u32 id;
    if (add_directory(&text, dir)) {
        const int has_slash = text.bytes[text.length - 1] == '/'; /* the root's name ends with one */
        pt_text_add(&text, has_slash || !path[0] ? "" : "/");
        pt_text_add(&text, path);
        id = pt_intern_bytes(text.bytes, text.length);
    } else
        id = pt_intern_string(path);
    pt_signals_restore(mask);
    return id;
}

pt_u32 pt_intern_path_in(const char *folder, const char *name)
{
    struct pt_tracer_thread *t = pt_may_call() ? pt_thread_attached() : 0;
    if (!t || t->busy)
        return 0;
    const pt_u64 mask = pt_signals_block(); /* the text buffer is the thread's */
    struct pt_text text = {t->priv->text, 0, sizeof t->priv->text};
    pt_text_add(&text, folder);
    pt_text_add(&text, name);
    const pt_u32 id = pt_intern_bytes(text.bytes, text.length);
    pt_signals_restore(mask);
    return id;
}

pt_u32 pt_intern_path_at(int dir, const char *path)
{
    return path && path[0] != '/' && dir >= 0 ? intern_absolute(dir, path) : pt_intern_string(path);
}

pt_u32 pt_intern_path(const char *path)
{
    if (pt_likely(!__atomic_load_n(&pt_is_elsewhere, __ATOMIC_RELAXED)) || !path || path[0] == '/' || !path[0])
        return pt_intern_string(path); /* an empty one names nothing, wherever it is */
    return intern_absolute(AT_FDCWD, path);
}
