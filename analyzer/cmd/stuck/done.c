/* SPDX-License-Identifier: MIT
 *
 * Owns: steps, bytes and programs of a run that goes on. Threads: main only. Never: makes a system call in a traced
 * program: their files are read.
 */
#include "done.h"

#include "facts/call_class.h"
#include "profile/open.h"
#include "in_phase.h"

/* Single characters of stdio are only counted: those that are read are with them. */
static pt_u64 written_bytes(const struct pt_totals_by_kind *totals)
{
    return pt_call_class_sum(totals, PT_CALL_WRITE).bytes + pt_call_class_sum(totals, PT_CALL_COPY).bytes +
           pt_call_class_sum(totals, PT_CALL_STDIO_WRITE).bytes + pt_totals_of(totals, PT_KIND_stdio_char)->calls;
}

static bool read_done(void *path, struct pt_launch_done *ret_done)
{
    struct pt_run run = {0};
    struct pt_error ignored = {0};
    const bool is_open = pt_run_open(path, &run, &ignored) == 0;
    const bool is_read = is_open && run.session;
    *ret_done = (struct pt_launch_done){0};
    for (pt_u32 i = 0; is_read && i < run.session->n_processes; i++) {
        const struct pt_process *process = run.session->processes[i];
        ret_done->steps += pt_totals_of(process->totals, PT_KIND_step)->calls;
        ret_done->phases += pt_totals_of(process->totals, PT_KIND_phase_begin)->calls +
                            pt_totals_of(process->totals, PT_KIND_phase_end)->calls;
        ret_done->network_bytes += pt_call_class_sum(process->totals, PT_CALL_NETWORK).bytes;
        ret_done->written_bytes += written_bytes(process->totals);
    }
    ret_done->images = is_read ? run.session->n_processes : 0;
    pt_run_close(&run);
    return is_read;
}

static bool is_in_step(void *path, pt_u64 window_ns)
{
    return pt_stuck_is_in_phase(path, window_ns);
}

struct pt_launch_reader pt_stuck_reader(const char *path)
{
    return (struct pt_launch_reader){read_done, is_in_step, (void *)(size_t)path};
}
