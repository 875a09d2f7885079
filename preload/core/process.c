/* SPDX-License-Identifier: MIT
 *
 * process.c - how the process ended, as far as it can be seen from inside, and its rank.
 *
 * Entered by the exit and exec hooks, by those of setenv, putenv, unsetenv and clearenv, from Python, and by the
 * on_exit handler. Never needed for a readable trace: a killed process simply stays PT_PROCESS_LIVE in its header.
 */
#include "process.h"

#include "core/file/image.h"
#include "core/file/image_state.h"
#include "core/file/presence.h"
#include "core/file/thread_clock.h"
#include "rank.h"
#include "sandbox.h"
#include "state.h"
#include "sys.h"

extern int on_exit(void (*)(int, void *), void *) __attribute__((weak));
static int is_exit_watched;

static struct pt_image *live_image(void)
{
    struct pt_image *image = pt_image;
    return image && __atomic_load_n(&image->state, __ATOMIC_ACQUIRE) == PT_IMAGE_LIVE ? image : 0;
}

/* To be written to. Whether the file is there must be asked: not by a thread that may make no call. */
static struct pt_image *own_image(void)
{
    struct pt_image *image = live_image();
    return image && pt_may_call() && pt_file_is_there(&pt_no_thread) ? image : 0;
}

void pt_process_note_end(enum pt_process_state state, int status)
{
    struct pt_image *image = own_image();
    if (!image)
        return;
    pt_thread_clock_note_all();
    const pt_u64 mask = pt_signals_block();
    image->last_refresh = 0;
    pt_image_refresh();
    image->header->end_counter = pt_clock();
    image->header->exit_status = status;
    __atomic_store_n(&image->header->state, state, __ATOMIC_RELEASE);
    pt_signals_restore(mask);
}

static void note_exit(int status, void *unused)
{
    (void)unused;
    is_exit_watched = 0; /* called once, maybe for a vfork child: its parent's exit() comes later */
    if (!pt_process_is_vfork_child())
        pt_process_note_end(PT_PROCESS_EXITED, status & 0xff);
}

/* Not atexit(), which is a part of each library that calls it, with gcc's start files: we have none. */
int pt_process_at_exit(void (*call)(int status, void *unused))
{
    return on_exit && on_exit(call, 0) == 0 ? 0 : -1;
}

void pt_process_watch_exit(void)
{
    is_exit_watched = pt_process_at_exit(note_exit) == 0;
}

void pt_process_note_exit(int status)
{
    if (!is_exit_watched)
        pt_process_note_end(PT_PROCESS_EXITED, status & 0xff);
}

void pt_process_note_alive(void)
{
    struct pt_image *image = own_image();
    if (image) {
        image->header->end_counter = 0;
        __atomic_store_n(&image->header->state, PT_PROCESS_LIVE, __ATOMIC_RELEASE);
    }
}

int pt_process_is_vfork_child(void)
{
    const struct pt_image *image = live_image();
    return image && pt_may_call() && (pt_u32)pt_syscall0(SYS_getpid) != image->pid;
}

int pt_process_may_be_vfork_child(void)
{
    return pt_switches.off && pt_image && pt_may_call() && (pt_u32)pt_syscall0(SYS_getpid) != pt_image->pid;
}

/* The image copied the rank when it was made, which was before this. */
static void store_rank(void)
{
    struct pt_image *image = pt_rank.rank_plus_1 ? own_image() : 0;
    if (!image)
        return;
    image->header->local_rank_plus_1 = pt_rank.local_rank_plus_1;
    image->header->world_size = pt_rank.world_size;
    __atomic_store_n(&image->header->rank_plus_1, pt_rank.rank_plus_1, __ATOMIC_RELEASE);
}

void pt_process_note_variable(const char *entry, int replaces)
{
    pt_rank_note(entry, replaces);
    store_rank();
}

void pt_process_note_group(pt_u32 rank, pt_u32 size)
{
    pt_rank_note_group(rank, size);
    store_rank();
}
