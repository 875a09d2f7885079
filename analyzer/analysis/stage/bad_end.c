/* SPDX-License-Identifier: MIT
 *
 * Owns: which signals mean a crash. Threads: any. State: none. Never: calls it a crash that a program ends its helpers.
 */
#include "bad_end.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static bool is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGABRT ||
           number == SIGSYS || number == SIGTRAP;
}

/* Not: somebody ended it, or its time ran out, or it became a program whose end nobody saw. */
static bool has_failed(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    struct pt_process *root = profile->stages.items[stage].root;
    if (run && run->status)
        return !strcmp(run->status, "failed") && !(run->reason && strstr(run->reason, "interrupted"));
    const struct pt_process *last = root ? pt_process_last_image(profile->session, root) : NULL;
    if (last && last->state == PT_PROCESS_EXECED)
        return last->next_status > 0;
    const bool is_open = last && last->wait_status < 0 && (last->is_out_of_sight || last->is_beginning);
    return last && !last->is_running && !is_open && (last->state != PT_PROCESS_EXITED || last->exit_status);
}

bool pt_process_ended_badly(const struct pt_profile *profile, const struct pt_process *process)
{
    if (process->wait_status < 0 || !WIFSIGNALED(process->wait_status))
        return false;
    const int number = WTERMSIG(process->wait_status);
    return is_fault(number) || (number == SIGKILL && has_failed(profile, pt_profile_stage_of(profile, process)));
}
