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

/* The directory's own name is added to the text; 0 = nobody may ask, or it has none. */
static int add_directory(struct pt_text *text, int dir)
{
    char link[32];
    struct pt_text name = {link, 0, sizeof link};
    if (dir == AT_FDCWD) {
        const long length = pt_syscall2(SYS_getcwd, text->bytes, text->room); /* counts the terminator */
        text->length = length > 1 ? (pt_u64)length - 1 : 0;
    } else {
        pt_text_add(&name, "/proc/self/fd/");
        pt_text_number(&name, (pt_u32)dir, 0);
        const long length = pt_syscall3(SYS_readlink, link, text->bytes, text->room);
        text->length = length > 0 ? (pt_u64)length : 0;
    }
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
        pt_text_add(&text, text.bytes[text.length - 1] == '/' ? "" : "/"); /* the root's name ends with one */
        pt_text_add(&text, path);
        id = pt_intern_bytes(text.bytes, text.length);
    } else
        id = pt_intern_string(path);
    pt_signals_restore(mask);
    return id;
}

pt_u32 pt_intern_path_at(int dir, const char *path)
{
    return path && path[0] != '/' && dir >= 0 ? intern_absolute(dir, path) : pt_intern_string(path);
}

pt_u32 pt_intern_path(const char *path)
{
    if (pt_likely(!__atomic_load_n(&pt_is_elsewhere, __ATOMIC_RELAXED)) || !path || path[0] == '/')
        return pt_intern_string(path);
    return intern_absolute(AT_FDCWD, path);
}
