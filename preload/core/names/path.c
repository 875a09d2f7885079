/* SPDX-License-Identifier: MIT
 *
 * path.c - names that are relative to a working directory that is no longer the first one.
 *
 * Entered from any hook. Where threads have working directories of their own (unshare with CLONE_FS), each name is of
 * the thread's. Where another thread moves between a call and the recording of it, the name is of the new directory:
 * nobody could tell. Never makes a system call for a name in a process that did not move.
 */
#include "path.h"

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

/* Asked for each name: half a microsecond, where keeping the directory would need an order between threads. */
static PT_COLD pt_u32 intern_absolute(const char *path)
{
    struct pt_tracer_thread *t = pt_may_call() ? pt_thread_attached() : 0;
    if (!t || t->busy)
        return pt_intern_string(path);
    const pt_u64 mask = pt_signals_block(); /* the text buffer is the thread's */
    struct pt_text text = {t->priv->text, 0, sizeof t->priv->text};
    const long length = pt_syscall2(SYS_getcwd, text.bytes, text.room); /* counts the terminator */
    pt_u32 id;
    if (length > 1 && text.bytes[0] == '/') { /* not "(unreachable)" */
        text.length = (pt_u64)length - 1;
        pt_text_add(&text, "/");
        pt_text_add(&text, path);
        id = pt_intern_bytes(text.bytes, text.length);
    } else
        id = pt_intern_string(path);
    pt_signals_restore(mask);
    return id;
}

pt_u32 pt_intern_path(const char *path)
{
    if (pt_likely(!__atomic_load_n(&pt_is_elsewhere, __ATOMIC_RELAXED)) || !path || path[0] == '/')
        return pt_intern_string(path);
    return intern_absolute(path);
}
