/* SPDX-License-Identifier: MIT
 *
 * workers.h - processes that work for their parent: forked copies of it (DataLoader workers, pools), or what
 * multiprocessing starts in their place.
 */
#ifndef PT_FACTS_WORKERS_H
#define PT_FACTS_WORKERS_H

#include "profile/profile.h"

/* Looks at it, which pt_is_worker does once. */
bool pt_find_worker(const struct pt_process *process);
static inline bool pt_is_worker(const struct pt_process *process)
{
    return pt_process_answer(process, PT_QUESTION_IS_WORKER, pt_find_worker);
}
/* What Python's multiprocessing starts for itself, and no code of the program: the server that forks its workers, and
 * the one that removes what they leave behind. No worker, and no command. */
bool pt_is_of_multiprocessing(const struct pt_process *process);
/* A shell, or what runs commands in its place: its copies are parts of a script, $(...) and pipelines. */
bool pt_runs_scripts(const struct pt_process *process);
/* A tool that runs other commands in an order of its own, and has no option for more of them at once: who reads the
 * report can change nothing about that. */
bool pt_has_steps_of_its_own(const struct pt_process *process);
/* The command sleep: whoever waits for it pauses. */
bool pt_is_pause(const struct pt_process *process);
/* What an interpreter was told to run: the script, the module after -m, or the text after -c; "" = not known. */
const char *pt_script_of(const struct pt_process *process);
/* Whom a worker works for: its parent, or who started the forkserver that is its parent. NULL = not known. */
const struct pt_process *pt_maker_of(const struct pt_process *process);
/* By index of a process: whether it is the maker of any worker. To be freed. */
bool *pt_have_workers(const struct pt_session *session);
/* Whether two processes do the same job beside each other, as the ranks of a training: one program with the same
 * arguments, or workers of one parent; neither started the other. Or a rank and its
 * launcher. */
bool pt_are_peers(const struct pt_process *one, const struct pt_process *other);
static inline bool pt_is_main_thread(const struct pt_event *event)
{
    return event->thread->tid == event->process->pid;
}

/* By index of a process: whether it waits for children mostly because a worker or a program in Python among them waits
 * for its own, which says better where commands are run. To be freed. */
bool *pt_wait_for_waiters(const struct pt_session *session);

#endif
