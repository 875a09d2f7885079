/* SPDX-License-Identifier: MIT
 *
 * python/stacks.c - Owns: the walk from an interpreter to its threads, and from a thread to its frames. Threads: main
 * only. Never: walks for ever; stops a thread: a stack that changes under the walk is read once more, or not at all.
 */
#include "stacks.h"

#include <errno.h>
#include <string.h>

#include "util/clock.h"
#include "members.h"

enum {
    THREAD_BYTES_MAX = 1024,
    FRAME_BYTES_MAX = 256,
    THREADS_MOST = 4096,
    FRAMES_WALKED_MOST = 20000, /* the outermost ones of a deep recursion are passed over */
    NO_FRAME_OF_PYTHON = 3,     /* owners from here on: the interpreter's own entries */
    PTHREAD_TID = 720,          /* glibc, x86-64: since it has native threads */
    LIST_NS = 10000000,         /* between two readings of the list of threads for one that was not in it */
    LIST_OF_EACH_NS = 1000000,  /* and as much more for each that it had */
    DEAD_MOST = 4096,           /* that are remembered beside the living, and threads that run no Python */
};

struct frame {
    pt_u64 code, instruction;
    bool was_entered;
};

static pt_u32 thread_bytes(const struct pt_python_layout *at)
{
    const pt_u32 ids = pt_python_bytes_with(pt_python_bytes_with(0, at->thread_native_id, 8), at->thread_pthread_id, 8);
    return pt_python_bytes_with(pt_python_bytes_with(ids, at->thread_next, 8), at->thread_frame, 8);
}

static pt_u32 frame_bytes(const struct pt_python_layout *at)
{
    const pt_u32 links = pt_python_bytes_with(pt_python_bytes_with(0, at->frame_code, 8), at->frame_previous, 8);
    return pt_python_bytes_with(pt_python_bytes_with(links, at->frame_instruction, 8), at->frame_owner, 1);
}

bool pt_python_process_open(struct pt_python_process *process, pt_u32 pid, const struct pt_python_header *header,
                            const struct pt_python_process *parent)
{
    const struct pt_python_layout *at = &header->layout;
    const pt_u16 needed[] = {at->interpreter_threads, at->thread_next,    at->thread_frame,
                             at->frame_code,          at->frame_previous, at->frame_instruction};
    *process = (struct pt_python_process){0};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!pt_python_has_member(needed[i]))
            return false;
    return header->interpreter && thread_bytes(at) <= THREAD_BYTES_MAX && frame_bytes(at) <= FRAME_BYTES_MAX &&
           (pt_python_has_member(at->thread_native_id) || pt_python_has_member(at->thread_pthread_id)) &&
           pt_python_codes_open(&process->codes, pid, header, parent ? &parent->codes : NULL);
}

void pt_python_process_close(struct pt_python_process *process)
{
    pt_python_codes_close(&process->codes);
    pt_map_fini(&process->threads);
}

/* ---- threads ---- */

/* Before 3.11 the interpreter knows threads by their pthread_t only, where glibc keeps the tid. */
static pt_u32 tid_of(const struct pt_python_process *process, const pt_u8 *thread)
{
    const struct pt_python_layout *at = &process->codes.header.layout;
    pt_u32 tid = 0;
    if (pt_python_has_member(at->thread_native_id))
        return (pt_u32)pt_python_word_at(thread, at->thread_native_id);
    return pt_remote_read(process->codes.pid, pt_python_word_at(thread, at->thread_pthread_id) + PTHREAD_TID, &tid,
                          sizeof tid)
               ? tid
               : 0;
}

static void list_threads(struct pt_python_process *process)
{
    const struct pt_python_header *header = &process->codes.header;
    const struct pt_python_layout *at = &header->layout;
    pt_u8 thread[THREAD_BYTES_MAX];
    pt_u64 address = 0;
    /* A server with a thread for each request has had a million: to go through them takes longer than to ask again. */
    if (process->threads.n > process->n_living + DEAD_MOST)
        pt_map_fini(&process->threads);
    for (size_t i = 0; i < process->threads.n; i++)
        process->threads.entries[i].value = 0;
    process->n_living = 0;
    errno = 0;
    if (!pt_remote_read(process->codes.pid, header->interpreter + at->interpreter_threads, &address, sizeof address))
        return;
    for (int i = 0; address && i < THREADS_MOST; i++, address = pt_python_word_at(thread, at->thread_next)) {
        if (!pt_remote_read(process->codes.pid, address, thread, thread_bytes(at)))
            return;
        const pt_u32 tid = tid_of(process, thread);
        process->n_living++;
        if (tid)
            *pt_map_at(&process->threads, tid) = address;
    }
}

const struct pt_map *pt_python_threads(struct pt_python_process *process, pt_u64 now_ns)
{
    if (now_ns >= process->listed_ns + LIST_NS + (pt_u64)process->n_living * LIST_OF_EACH_NS) {
        process->listed_ns = now_ns;
        list_threads(process);
    }
    return &process->threads;
}

static bool read_thread(const struct pt_python_process *process, pt_u64 address, pt_u32 tid, pt_u8 *thread)
{
    const struct pt_python_layout *at = &process->codes.header.layout;
    return pt_remote_read(process->codes.pid, address, thread, thread_bytes(at)) &&
           (!pt_python_has_member(at->thread_native_id) ||
            (pt_u32)pt_python_word_at(thread, at->thread_native_id) == tid);
}

/* Its PyThreadState; false = it has none. What was known may be that of a thread that is gone. */
static bool find_thread(struct pt_python_process *process, pt_u32 tid, pt_u8 *thread)
{
    const pt_u64 *known = pt_map_find(&process->threads, tid);
    if (known && *known && read_thread(process, *known, tid, thread))
        return true;
    if (!known) { /* never heard of: it began a moment ago */
        process->listed_ns = 0;
        *pt_map_at(&process->threads, tid) = 0;
    }
    pt_python_threads(process, pt_monotonic_ns());
    known = pt_map_find(&process->threads, tid);
    return known && *known && read_thread(process, *known, tid, thread);
}

/* ---- frames ---- */

/* Until 3.10 each function is a call of the interpreter; 3.11 has a byte for it before the owner, and since 3.12 an
 * entry of the interpreter's own lies outside of what ran in one call. */
static bool was_entered(const struct pt_python_header *header, const pt_u8 *frame)
{
    enum { V3_11 = 0x030b, V3_12 = 0x030c };
    const pt_u32 version = header->version >> 16;
    if (!pt_python_has_member(header->layout.frame_owner) || header->layout.frame_owner == 0)
        return version < V3_11;
    return version < V3_12 && frame[header->layout.frame_owner - 1] != 0;
}

/* Returns how many, innermost first; `ret_is_cut`: there are more. */
static pt_u32 walk(const struct pt_python_process *process, struct pt_remote_window *window, pt_u64 address,
                   struct frame *ret_frames, bool *ret_is_cut)
{
    const struct pt_python_layout *at = &process->codes.header.layout;
    const pt_u32 n_bytes = frame_bytes(at);
    pt_u32 n = 0;
    window->n_bytes = 0;
    for (int i = 0; address && n < PT_PYTHON_DEPTH_MAX && i < FRAMES_WALKED_MOST; i++) {
        const pt_u8 *frame = pt_remote_look(window, process->codes.pid, address, n_bytes);
        if (!frame)
            return 0;
        const bool is_entry = pt_python_has_member(at->frame_owner) && frame[at->frame_owner] >= NO_FRAME_OF_PYTHON;
        pt_u32 index;
        memcpy(&index, frame + at->frame_instruction, sizeof index);
        if (!is_entry)
            ret_frames[n++] = (struct frame){
                pt_python_word_at(frame, at->frame_code) & ~(pt_u64)7,
                pt_python_has_member(at->code_instructions) ? pt_python_word_at(frame, at->frame_instruction) : index,
                was_entered(&process->codes.header, frame),
            };
        else if (n)
            ret_frames[n - 1].was_entered = true;
        address = pt_python_word_at(frame, at->frame_previous);
    }
    *ret_is_cut = address != 0;
    return n;
}

static bool read_once(struct pt_python_process *process, struct pt_python_scratch *scratch,
                      struct pt_python_names *names, pt_u32 tid, struct pt_python_stack *ret_stack)
{
    const struct pt_python_layout *at = &process->codes.header.layout;
    const pt_u32 head_bytes = process->codes.head_bytes;
    struct frame frames[PT_PYTHON_DEPTH_MAX];
    pt_u64 codes[PT_PYTHON_DEPTH_MAX];
    pt_u8 thread[THREAD_BYTES_MAX];
    ret_stack->n = 0;
    if (!find_thread(process, tid, thread))
        return false;
    pt_u64 address = pt_python_word_at(thread, at->thread_frame);
    if (pt_python_has_member(at->cframe_frame) && address &&
        !pt_remote_read(process->codes.pid, address + at->cframe_frame, &address, sizeof address))
        return false;
    const pt_u32 n = walk(process, &scratch->frames, address, frames, &ret_stack->is_cut);
    for (pt_u32 i = 0; i < n; i++)
        codes[i] = frames[i].code;
    if (pt_remote_gather(process->codes.pid, codes, n, head_bytes, scratch->codes) < n)
        return false;
    for (pt_u32 i = 0; i < n; i++) {
        const pt_u32 name = pt_python_code_name(&process->codes, names, frames[i].code,
                                                scratch->codes + (size_t)i * head_bytes, frames[i].instruction);
        if (!name)
            return false;
        ret_stack->was_entered[ret_stack->n] = frames[i].was_entered;
        ret_stack->names[ret_stack->n++] = name;
    }
    return n > 0;
}

bool pt_python_stack_read(struct pt_python_process *process, struct pt_python_scratch *scratch,
                          struct pt_python_names *names, pt_u32 tid, struct pt_python_stack *ret_stack)
{
    for (int i = 0; i < 2; i++) {
        errno = 0;
        if (read_once(process, scratch, names, tid, ret_stack))
            return true;
        if (errno == EPERM || errno == ENOSYS)
            return false;
    }
    errno = 0;
    return false;
}
