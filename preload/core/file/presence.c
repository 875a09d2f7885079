/* SPDX-License-Identifier: MIT
 *
 * presence.c - finds out that somebody truncated the trace file, and gives up its pages.
 *
 * Entered at slow paths, in any thread. A store into a page that the file no longer has is a SIGBUS, and we have no
 * handler for it; the kernel can be asked (pt_sys_read_at, 0.2 us; MADV_POPULATE_READ takes 3 us, as it also puts the
 * CPU's new pages in order).
 * Memory takes the place of such pages, because hooks do not look at any switch before each of their stores. What is
 * stored between the truncation and the next slow path still kills: docs/decisions/0031-truncated-files.md.
 */
#include "presence.h"

#include "core/sandbox.h"
#include "core/session_page.h"
#include "core/state.h"
#include "core/sys.h"
#include "area.h"
#include "image_state.h"

static pt_u64 first_page(const void *bytes)
{
    return (pt_u64)bytes & ~(pt_u64)(PT_PAGE_BYTES - 1);
}

static pt_u64 pages_of(const void *bytes, pt_u64 count)
{
    return ((pt_u64)bytes + count - first_page(bytes) + PT_PAGE_BYTES - 1) & ~(pt_u64)(PT_PAGE_BYTES - 1);
}

/* Who may not ask is believed. */
static int is_there(pt_u64 address)
{
    return pt_sys_read_at(address) != -EFAULT;
}

/* A file is cut at its end, so that the first and the last page say it of all. */
int pt_is_mapped_and_there(const void *bytes, pt_u64 count)
{
    if (pt_switches.frozen || !count) /* frozen: may not ask */
        return 1;
    return is_there((pt_u64)bytes) && (pages_of(bytes, count) == PT_PAGE_BYTES || is_there((pt_u64)bytes + count - 1));
}

static pt_u64 chunk_bytes(const struct pt_tracer_thread *t)
{
    return !t->chunk ? 0 : t->chunk_count == 1 ? PT_OWN_CHUNK_BYTES : pt_image->ring[t->chunk_index].bytes;
}

/* A file is cut at its end: the last pages say it of all. */
static int is_whole(const struct pt_tracer_thread *t)
{
    const pt_u64 chunk = chunk_bytes(t);
    return pt_is_mapped_and_there(pt_image->header, 1) &&
           pt_is_mapped_and_there(t->records.end - 1, t->records.end ? 1 : 0) &&
           pt_is_mapped_and_there(t->heap.end - 1, t->heap.end ? 1 : 0) &&
           pt_is_mapped_and_there((char *)t->chunk + chunk - 1, chunk ? 1 : 0);
}

static void replace(const void *bytes, pt_u64 count)
{
    if (!pt_is_mapped_and_there(bytes, count))
        pt_syscall6(SYS_mmap, (long)first_page(bytes), (long)pages_of(bytes, count), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

static void replace_pages_of(const struct pt_tracer_thread *t)
{
    if (!t->area)
        return;
    replace(t->area, PT_THREAD_HEADER_BYTES);
    replace(t->records.base, (pt_u64)(t->records.end - t->records.base));
    replace(t->heap.base, (pt_u64)(t->heap.end - t->heap.base));
    replace(t->chunk, chunk_bytes(t));
    replace(t->defs_cursor, (pt_u64)(t->defs_end - t->defs_cursor));
}

static void give_up(void)
{
    const pt_u32 made = __atomic_load_n(&pt_image->n_threads, __ATOMIC_ACQUIRE);
    replace(pt_image->header, PT_HEAD_BYTES);
    replace(pt_first_text(), pt_image->header->text_bytes);
    for (pt_u32 i = 0; i < made && i < PT_MAX_THREADS; i++)
        replace_pages_of(&pt_image->threads[i]);
    pt_session_refuse(PT_REFUSAL_damaged);
}

int pt_file_is_there(const struct pt_tracer_thread *t)
{
    if (pt_switches.frozen)
        return 1;
    if (__atomic_load_n(&pt_image->is_gone, __ATOMIC_ACQUIRE))
        return 0;
    if (is_whole(t))
        return 1;
    if (!__atomic_exchange_n(&pt_image->is_gone, 1, __ATOMIC_ACQ_REL))
        give_up();
    return 0;
}

void pt_file_look(void)
{
    if (pt_image && __atomic_load_n(&pt_image->state, __ATOMIC_ACQUIRE) == PT_IMAGE_LIVE && pt_local_is_ours() &&
        pt_may_call())
        pt_file_is_there(pt_self);
}
