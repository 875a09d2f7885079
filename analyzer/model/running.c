/* SPDX-License-Identifier: MIT
 *
 * running.c - Owns: the proof that a process is still alive: it is on this machine and has its trace file mapped, which
 * a later process with the same pid has not; and what speaks for it where it has no pid here. Threads: one. Never:
 * takes an equal pid alone for the same process.
 */
#include "running.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/small_heads.h"
#include "source/trace_file.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/process_stat.h"
#include "util/small_file.h"
#include "util/vec.h"
#include "notes.h"

/* From an offset on: its head, where the file is shared by many. */
static bool has_mapped(pt_u32 pid, const char *trace_path, pt_u64 offset)
{
    enum { LONGEST_LINE = 4096 + 100 }; /* a longer one is none of ours: it is read as two lines */
    char name[32], line[LONGEST_LINE];
    snprintf(name, sizeof name, "/proc/%u/maps", pid);
    PT_AUTO(pt_fclosep) FILE *maps = fopen(name, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        line[strcspn(line, "\n")] = 0;
        const char *path = strchr(line, '/');
        unsigned long long from;
        if (path && !strcmp(path, trace_path) && sscanf(line, "%*s %*s %llx", &from) == 1 && from == offset)
            return true;
    }
    return false;
}

bool pt_trace_is_mapped(const char *path, pt_u64 offset, pt_u32 pid)
{
    const char *head = pt_small_head_of(path);
    PT_AUTO(pt_freep) char *name = pt_asprintf("%.*s", (int)(head ? (size_t)(head - path) : strlen(path)), path);
    PT_AUTO(pt_freep) char *whole = realpath(name, NULL);
    return whole && has_mapped(pt_living_thread(pid), whole, offset);
}

static bool has_thread(pt_u32 pid, pt_u32 tid)
{
    char name[48];
    snprintf(name, sizeof name, "/proc/%u/task/%u", pid, tid);
    return access(name, F_OK) == 0;
}

/* The call that its main thread is in now is in no trace yet. What is asleep now may have computed until a moment ago:
 * its CPU time, too, has to be small. */
static bool sleeps_now(pt_u32 pid, pt_u64 lived_ns)
{
    enum { BUSY_SHARE = 10 /* a tenth */ };
    struct pt_process_stat stat;
    return pt_process_stat_of_thread((pid_t)pid, (pid_t)pid, &stat) && stat.state == 'S' &&
           (double)stat.own_ticks / (double)sysconf(_SC_CLK_TCK) < (double)lived_ns / 1e9 / BUSY_SHARE;
}

/* Until now, by the clock of its trace. */
static void live_until(struct pt_process *process, pt_i64 now_ns)
{
    enum { HALF_A_YEAR_S = 15768000 };
    if (now_ns < process->end_ns || now_ns - process->end_ns > HALF_A_YEAR_S * 1000000000ll)
        return; /* its clock is not this machine's */
    process->end_ns = process->alive_ns = now_ns;
    for (pt_u32 i = 0; i < process->n_threads; i++)
        if (process->threads[i].tid < PT_DEVICE_TID && has_thread(process->pid, process->threads[i].tid))
            process->threads[i].end_ns = now_ns;
}

/* ---- bare preload in a container, or on another node: no run.json says that it goes on ---- */

/* A clock may be ahead of ours. */
static bool is_recent(pt_u64 now_ns, pt_u64 then_ns)
{
    return now_ns - then_ns + PT_MOST_QUIET_NS <= 2 * PT_MOST_QUIET_NS;
}

/* A process of a namespace within ours, which containers have. */
struct nested {
    pt_u32 pid, inner_pid, uid;
};

struct here {
    char boot_id[48], host[256];
    pt_u64 monotonic_ns, realtime_ns;
    bool sees_all; /* whatever runs on this machine */
    bool has_looked;
    struct {
        PT_VEC(struct nested);
    } nested;
};

static void add_nested(struct here *here, pt_u32 pid)
{
    static const char owner_key[] = "\nUid:";
    char text[4096];
    if (pt_small_file_peek(text, sizeof text, "/proc/%u/status", pid) <= 0)
        return;
    const char *owner = strstr(text, owner_key);
    pt_u32 inner_pid = 0;
    if (pt_inner_pid(text, &inner_pid) > 1)
        pt_vec_push(&here->nested, ((struct nested){
                                       .pid = pid,
                                       .inner_pid = inner_pid,
                                       .uid = owner ? (pt_u32)strtoul(owner + sizeof owner_key - 1, NULL, 10) : 0,
                                   }));
}

static void look_around(struct here *here)
{
    DIR *directory = here->has_looked ? NULL : opendir("/proc");
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            add_nested(here, (pt_u32)strtoul(entry->d_name, NULL, 10));
    if (directory)
        closedir(directory);
    here->has_looked = true;
}

/* By its inode: a container has other paths. -1 = nobody but its user may ask. */
static int has_inode_mapped(pt_u32 pid, const struct pt_trace_file *file)
{
    char name[32], line[512];
    snprintf(name, sizeof name, "/proc/%u/maps", pt_living_thread(pid));
    PT_AUTO(pt_fclosep) FILE *maps = fopen(name, "re");
    if (!maps)
        return errno == EACCES ? -1 : 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long long from, inode;
        if (sscanf(line, "%*x-%*x %*4s %llx %*x:%*x %llu", &from, &inode) == 2 && inode == file->inode &&
            from == file->base)
            return 1;
    }
    return 0;
}

/* In a namespace within ours; or it has our pids, and the run has another path there. Whoever may not be asked is it
 * only where the file is the same user's. */
static bool may_be_inside(struct here *here, const struct pt_process *process)
{
    if (has_inode_mapped(process->pid, process->file) > 0)
        return true;
    look_around(here);
    for (size_t i = 0; i < here->nested.n; i++) {
        const struct nested *nested = &here->nested.items[i];
        const int mapped = nested->inner_pid == process->pid ? has_inode_mapped(nested->pid, process->file) : 0;
        if (mapped > 0 || (mapped < 0 && nested->uid == process->file->uid))
            return true;
    }
    return false;
}

/* Of this boot the clock is ours. What is in another container than this one has another name of the machine. */
static bool is_out_of_sight(struct here *here, const struct pt_process *process)
{
    const char *boot_id = process->file->header->boot_id;
    const size_t most = sizeof process->file->header->boot_id;
    const pt_u64 alive_ns = (pt_u64)process->alive_ns;
    const bool is_boot_known = boot_id[0] && here->boot_id[0]; /* not where there was no session.bin */
    if (is_boot_known && strncmp(boot_id, here->boot_id, most) != 0)
        return is_recent(here->realtime_ns, process->session->start_realtime_ns + alive_ns);
    if (!is_recent(here->monotonic_ns, process->start_monotonic_ns + alive_ns - (pt_u64)process->start_ns))
        return false;
    return (!here->sees_all && *process->host && strcmp(process->host, here->host) != 0) ||
           may_be_inside(here, process);
}

/* The first namespace of the machine shows all, unless /proc hides those of others. */
static bool sees_all(void)
{
    char name[48] = "";
    return readlink("/proc/self/ns/pid", name, sizeof name - 1) > 0 && !strcmp(name, "pid:[4026531836]") &&
           access("/proc/1/status", R_OK) == 0;
}

static void find_out_of_sight(struct pt_session *session)
{
    struct here here = {.monotonic_ns = pt_monotonic_ns(), .realtime_ns = pt_clock_ns(CLOCK_REALTIME)};
    pt_boot_id(here.boot_id, sizeof here.boot_id);
    if (gethostname(here.host, sizeof here.host - 1) < 0)
        here.host[0] = 0;
    here.sees_all = sees_all();
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_process *process = session->processes[i];
        process->is_out_of_sight =
            process->state == PT_PROCESS_LIVE && !process->is_running && is_out_of_sight(&here, process);
    }
    free(here.nested.items);
}

void pt_session_note_out_of_sight(struct pt_session *session)
{
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_process *process = session->processes[i];
        process->is_out_of_sight &= process->wait_status < 0 && process->gone_ns == PT_NEVER_NS;
        n += process->is_out_of_sight;
    }
    if (!n)
        return;
    PT_AUTO(pt_freep)
    char *note = pt_asprintf("%u process%s may go on in a container or on another machine: this is what was recorded "
                             "until now",
                             n, n == 1 ? "" : "es");
    pt_session_note(session, note);
}

void pt_session_find_running(struct pt_session *session)
{
    const pt_u64 now_ns = pt_monotonic_ns();
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_process *process = session->processes[i];
        if (process->state != PT_PROCESS_LIVE)
            continue;
        process->is_running = pt_trace_is_mapped(process->file->path, process->file->base, process->pid);
        n += process->is_running;
        if (!process->is_running)
            continue;
        process->is_asleep = process->has_children && sleeps_now(process->pid, now_ns - process->start_monotonic_ns);
        live_until(process, process->start_ns + (pt_i64)(now_ns - process->start_monotonic_ns));
    }
    find_out_of_sight(session);
    if (!n)
        return;
    PT_AUTO(pt_freep)
    char *note =
        pt_asprintf("%u process%s still running: this is what was recorded until now", n, n == 1 ? " is" : "es are");
    pt_session_note(session, note);
}
