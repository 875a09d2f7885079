/* SPDX-License-Identifier: MIT
 *
 * fd_table.c - the table of descriptors, and the look into /proc for those that no hook saw opened.
 *
 * Entered from any hook. Plain 32-bit loads and stores: when close and open race here, they race in the program itself.
 * Never keeps a descriptor open.
 */
#include "fd_table.h"

#include <fcntl.h>

#include "core/file/attach.h"
#include "core/private.h"
#include "core/process.h"
#include "core/sandbox.h"
#include "core/start_memory.h"
#include "core/sys.h"
#include "core/text.h"
#include "intern.h"
#include "path.h"
#include "socket_name.h"

#define SOCKET_NAME_ROOM 256

struct pt_fd_table pt_fd_table;

int pt_fd_table_make(void)
{
    enum { DESCRIPTORS = PT_FD_TABLE_BYTES / (2 * sizeof(pt_u32)) };
    pt_u32 *memory = pt_start_memory(PT_FD_TABLE_BYTES);
    if (memory)
        pt_fd_table = (struct pt_fd_table){memory, memory + DESCRIPTORS, DESCRIPTORS};
    return memory ? 0 : -1;
}

/* The kernel calls a socket by a number; its other side says more. `target` has room for one more name behind it. */
static pt_u32 name_of(int fd, char *target, pt_u64 length)
{
    struct pt_text text = {target + length, 0, SOCKET_NAME_ROOM};
    if (pt_switches.net && length > 7 && __builtin_memcmp(target, "socket:", 7) == 0 && length < 64 &&
        pt_socket_describe(&text, fd))
        return pt_intern_bytes(text.bytes, text.length);
    return pt_intern_bytes(target, length);
}

PT_COLD pt_u32 pt_fd_resolve(int fd)
{
    struct pt_tracer_thread *t = pt_may_call() ? pt_thread_attached() : 0;
    if (!t || t->busy)
        return 0;
    const pt_u64 mask = pt_signals_block();
    const pt_u64 length = pt_path_of_fd(fd, t->priv->text, sizeof t->priv->text - SOCKET_NAME_ROOM);
    pt_u32 id = 0;
    if (length > 0)
        id = name_of(fd, t->priv->text, length);
    else if (pt_syscall3(SYS_fcntl, fd, F_GETFD, 0) >= 0)
        id = pt_intern_string("?");   /* open, but there is no /proc: do not ask again */
    if (!pt_process_is_vfork_child()) /* its descriptors are its own, the table is its parent's */
        pt_fd_set(fd, id);
    pt_signals_restore(mask);
    return id;
}

void pt_fd_clear_range(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd <= last && fd < pt_fd_table.size; fd++)
        if (pt_fd_table.paths[fd]) /* do not touch pages for nothing */
            pt_fd_table.paths[fd] = 0;
}

void pt_fd_count_entry(int fd)
{
    if ((unsigned)fd < pt_fd_table.size)
        pt_fd_table.entries_read[fd]++;
}

pt_u64 pt_fd_take_entries(int fd)
{
    if ((unsigned)fd >= pt_fd_table.size)
        return 0;
    const pt_u32 entries = pt_fd_table.entries_read[fd];
    pt_fd_table.entries_read[fd] = 0;
    return entries;
}
