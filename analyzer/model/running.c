/* SPDX-License-Identifier: MIT
 *
 * running.c - Owns: the proof that a process is still alive: it is on this machine and has its trace file mapped, which
 * a later process with the same pid has not. Threads: one. Never: takes an equal pid alone for the same process.
 */
#include "running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/trace_file.h"
#include "util/auto.h"
#include "util/mem.h"
#include "notes.h"

static bool has_mapped(pt_u32 pid, const char *trace_path)
{
    enum { LONGEST_LINE = 4096 + 100 }; /* a longer one is none of ours: it is read as two lines */
    char name[32], line[LONGEST_LINE];
    snprintf(name, sizeof name, "/proc/%u/maps", pid);
    PT_AUTO(pt_fclosep) FILE *maps = fopen(name, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        line[strcspn(line, "\n")] = 0;
        const char *path = strchr(line, '/');
        if (path && !strcmp(path, trace_path))
            return true;
    }
    return false;
}

void pt_session_find_running(struct pt_session *session)
{
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_process *process = session->processes[i];
        if (process->state != PT_PROCESS_LIVE)
            continue;
        PT_AUTO(pt_freep) char *path = realpath(process->file->path, NULL);
        process->is_running = path && has_mapped(process->pid, path);
        n += process->is_running;
    }
    if (!n)
        return;
    PT_AUTO(pt_freep)
    char *note =
        pt_asprintf("%u process%s still running: this is what was recorded until now", n, n == 1 ? " is" : "es are");
    pt_session_note(session, note);
}
