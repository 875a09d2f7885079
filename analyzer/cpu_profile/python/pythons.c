/* SPDX-License-Identifier: MIT
 *
 * python/pythons.c - Owns: interpreters by process, and the stacks that were read last. Threads: main only. Never:
 * reads a process again that it was not allowed to read.
 */
#include "pythons.h"

#include <errno.h>
#include <stdlib.h>

#include "util/clock.h"
#include "util/mem.h"

enum { READS_KEPT = 512, LOOKED_BACK = 16 };

#define HOPE_NS 1000000000u
#define FIRST_LOOK_NS 5000000u
#define LAST_LOOK_NS 1000000000u
#define NEAR_NS 25000000u /* between a sample and a stack that can still be taken for it */

struct pt_python_entry {
    struct pt_python_process process;
    bool is_open, is_refused;
    pt_u64 next_look_ns, rest_ns; /* for its header */
};

struct pt_python_read {
    pt_u64 t_ns, read_ns; /* of the sample, and when its stack was read */
    pt_u32 tid;
    struct pt_python_stack stack;
};

void pt_pythons_open(struct pt_pythons *pythons, int directory_fd)
{
    *pythons = (struct pt_pythons){.files = {.directory_fd = directory_fd}};
}

static void close_entry(struct pt_pythons *pythons, struct pt_python_entry *entry)
{
    if (!entry->is_open)
        return;
    pythons->n_running--;
    pt_python_process_close(&entry->process);
    entry->is_open = false;
}

void pt_pythons_close(struct pt_pythons *pythons)
{
    for (size_t i = 0; i < pythons->by_pid.n; i++)
        pt_pythons_end(pythons, (pt_u32)pythons->by_pid.entries[i].key);
    pt_map_fini(&pythons->by_pid);
    pt_trace_files_fini(&pythons->files);
    pt_python_names_fini(&pythons->names);
    free(pythons->scratch);
    free(pythons->reads);
}

/* ---- processes ---- */

static struct pt_python_entry *entry_of(struct pt_pythons *pythons, pt_u32 pid)
{
    pt_u64 *slot = pt_map_at(&pythons->by_pid, pid);
    if (!*slot)
        *slot = (uintptr_t)pt_calloc(1, sizeof(struct pt_python_entry));
    return (struct pt_python_entry *)(uintptr_t)*slot;
}

static void open_entry(struct pt_pythons *pythons, struct pt_python_entry *entry, pt_u32 pid,
                       const struct pt_python_header *header, const struct pt_python_process *parent)
{
    entry->is_open = pt_python_process_open(&entry->process, pid, header, parent);
    entry->is_refused = !entry->is_open;
    pythons->n_running += entry->is_open;
}

void pt_pythons_exec(struct pt_pythons *pythons, pt_u32 pid, pt_u64 now_ns)
{
    pt_pythons_end(pythons, pid);
    pythons->hope_until_ns = now_ns + HOPE_NS;
}

void pt_pythons_fork(struct pt_pythons *pythons, pt_u32 parent, pt_u32 child)
{
    const struct pt_python_entry *from = pt_map_pointer(&pythons->by_pid, parent);
    pt_pythons_end(pythons, child);
    if (from && from->is_open)
        open_entry(pythons, entry_of(pythons, child), child, &from->process.codes.header, &from->process);
}

void pt_pythons_take(struct pt_pythons *pythons, pt_u32 pid, const struct pt_python_header *header)
{
    pt_pythons_end(pythons, pid);
    open_entry(pythons, entry_of(pythons, pid), pid, header, NULL);
}

void pt_pythons_end(struct pt_pythons *pythons, pt_u32 pid)
{
    pt_u64 *slot = pt_map_find(&pythons->by_pid, pid);
    struct pt_python_entry *entry = slot ? (struct pt_python_entry *)(uintptr_t)*slot : NULL;
    if (!entry)
        return;
    close_entry(pythons, entry);
    free(entry);
    *slot = 0;
}

struct pt_python_process *pt_pythons_process(struct pt_pythons *pythons, pt_u32 pid, pt_u64 now_ns)
{
    struct pt_python_header header;
    struct pt_python_entry *entry = entry_of(pythons, pid);
    if (entry->is_refused || (!entry->is_open && now_ns < entry->next_look_ns))
        return NULL;
    if (!entry->is_open) {
        const bool is_young = now_ns < pythons->hope_until_ns;
        entry->rest_ns = is_young || !entry->rest_ns ? FIRST_LOOK_NS : entry->rest_ns * 2;
        entry->rest_ns = entry->rest_ns < LAST_LOOK_NS ? entry->rest_ns : LAST_LOOK_NS;
        entry->next_look_ns = now_ns + entry->rest_ns;
        if (pt_trace_files_python(&pythons->files, pid, now_ns, &header))
            open_entry(pythons, entry, pid, &header, NULL);
    }
    return entry->is_open ? &entry->process : NULL;
}

bool pt_pythons_want_samples(const struct pt_pythons *pythons, pt_u64 now_ns)
{
    return pythons->n_running || now_ns < pythons->hope_until_ns;
}

/* ---- stacks ---- */

static void refuse(struct pt_pythons *pythons, pt_u32 pid, int reason)
{
    struct pt_python_entry *entry = entry_of(pythons, pid);
    close_entry(pythons, entry);
    entry->is_refused = true;
    if (pythons->refused_pid)
        return;
    pythons->refused_pid = pid;
    pythons->refused_errno = reason;
}

static bool read_stack(struct pt_pythons *pythons, pt_u32 pid, pt_u32 tid, struct pt_python_stack *ret_stack)
{
    struct pt_python_process *process = pt_pythons_process(pythons, pid, pt_monotonic_ns());
    if (!process)
        return false;
    if (!pythons->scratch)
        pythons->scratch = pt_malloc(sizeof *pythons->scratch);
    if (pt_python_stack_read(process, pythons->scratch, &pythons->names, tid, ret_stack))
        return true;
    if (errno == EPERM || errno == ENOSYS)
        refuse(pythons, pid, errno);
    return false;
}

void pt_pythons_meet(struct pt_pythons *pythons, pt_u32 pid, pt_u32 tid, pt_u64 t_ns)
{
    if (!pythons->reads)
        pythons->reads = pt_calloc(READS_KEPT, sizeof *pythons->reads);
    struct pt_python_read *read = &pythons->reads[pythons->n_reads % READS_KEPT];
    read->tid = 0;
    if (!read_stack(pythons, pid, tid, &read->stack))
        return;
    read->tid = tid;
    read->t_ns = t_ns;
    read->read_ns = pt_monotonic_ns();
    pythons->n_reads++;
}

void pt_pythons_left(struct pt_pythons *pythons, pt_u32 tid, pt_u64 t_ns)
{
    const pt_u64 n = pythons->n_reads < LOOKED_BACK ? pythons->n_reads : LOOKED_BACK;
    for (pt_u64 i = 1; i <= n; i++) {
        struct pt_python_read *read = &pythons->reads[(pythons->n_reads - i) % READS_KEPT];
        if (read->read_ns <= t_ns) /* as are all that were read before */
            break;
        if (read->tid == tid && read->t_ns < t_ns)
            read->tid = 0;
    }
}

const struct pt_python_stack *pt_pythons_stack_at(const struct pt_pythons *pythons, pt_u32 tid, pt_u64 t_ns)
{
    const struct pt_python_read *nearest = NULL;
    pt_u64 nearest_ns = NEAR_NS;
    const pt_u64 n = pythons->n_reads < READS_KEPT ? pythons->n_reads : READS_KEPT;
    for (pt_u64 i = 1; i <= n && nearest_ns; i++) {
        const struct pt_python_read *read = &pythons->reads[(pythons->n_reads - i) % READS_KEPT];
        const pt_u64 apart_ns = read->t_ns > t_ns ? read->t_ns - t_ns : t_ns - read->t_ns;
        if (read->tid != tid || apart_ns >= nearest_ns)
            continue;
        nearest = read;
        nearest_ns = apart_ns;
    }
    return nearest ? &nearest->stack : NULL;
}

const struct pt_python_stack *pt_pythons_stack_now(struct pt_pythons *pythons, pt_u32 pid, pt_u32 tid)
{
    return read_stack(pythons, pid, tid, &pythons->now) ? &pythons->now : NULL;
}
