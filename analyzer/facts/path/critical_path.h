/* SPDX-License-Identifier: MIT
 *
 * path/critical_path.h - the stage's critical process over time: its root, and while that one only waits for a child,
 * the child, and so on down the tree.
 *
 * The account, findings about waits and the headline of a stage are those of the main threads on this path: a shell, a
 * launcher of ranks or a runner of commands is not the program. Nor is a main thread that only waits for another thread
 * of its own.
 */
#ifndef PT_FACTS_PATH_CRITICAL_PATH_H
#define PT_FACTS_PATH_CRITICAL_PATH_H

#include "launchers.h"
#include "own_threads.h"

/* The main thread of a process is the critical one. */
struct pt_path_piece {
    const struct pt_process *process; /* an image */
    pt_i64 from_ns, until_ns;
};

struct pt_critical_paths {
    pt_u32 n_stages, n_processes;
    struct pt_critical_path {
        PT_VEC(struct pt_path_piece); /* in the order of time */
        bool has_launchers;
        const struct pt_process *longest; /* the process, its last image, with the most time on the path; NULL = none */
    } * stages;
    struct pt_path_process {
        struct pt_path_windows windows; /* of a launcher, on the path or not */
        struct pt_path_windows own;     /* when it is on the path; no child */
        pt_i64 on_path_ns;
        pt_i64 handed_ns;              /* of all windows */
        bool is_whole;                 /* nearly all of its life is on the path */
        struct pt_own_windows threads; /* when its main thread waits for another one */
        struct pt_path_helpers {
            PT_VEC(struct pt_path_helper {
                const struct pt_thread *thread;
                double share; /* of its life that is on the path */
            });
        } helpers;
    } * processes;
};

struct pt_critical_paths *pt_critical_paths_open(const struct pt_facts *facts);
void pt_critical_paths_close(struct pt_critical_paths *paths);

/* How much of [start, end) of a process's main thread is its waiting for a child, as a launcher. */
pt_i64 pt_path_handed_ns(const struct pt_critical_paths *paths, const struct pt_process *process, pt_i64 start_ns,
                         pt_i64 end_ns);
/* How much of it is on the critical path. */
pt_i64 pt_path_ns(const struct pt_critical_paths *paths, const struct pt_process *process, pt_i64 start_ns,
                  pt_i64 end_ns);
static inline bool pt_path_is_whole(const struct pt_critical_paths *paths, const struct pt_process *process)
{
    return paths->processes[process->index].is_whole;
}
static inline bool pt_path_has(const struct pt_critical_paths *paths, const struct pt_process *process)
{
    return paths->processes[process->index].on_path_ns > 0;
}
/* How much of its life that is, or is its waiting for children as a launcher. */
double pt_path_share(const struct pt_critical_paths *paths, const struct pt_process *process);
static inline bool pt_path_is_launcher(const struct pt_critical_paths *paths, const struct pt_process *process)
{
    return paths->processes[process->index].windows.n;
}
/* How much of [start, end) of a thread is on the path of its process: of the main one, but for what it waits for
 * another one; of another one, what the main thread waits for it. */
pt_i64 pt_path_own_ns(const struct pt_critical_paths *paths, const struct pt_thread *thread, pt_i64 start_ns,
                      pt_i64 end_ns);
/* Mostly on the path of its process. */
static inline bool pt_path_is_own(const struct pt_critical_paths *paths, const struct pt_event *event)
{
    return (event->thread->tid == event->process->pid && !paths->processes[event->process->index].threads.n) ||
           2 * pt_path_own_ns(paths, event->thread, event->start_ns, event->start_ns + event->duration_ns) >
               event->duration_ns;
}
/* The same of a process that is on it for a part of its life, or whose threads are. */
pt_i64 pt_path_critical_pieces_ns(const struct pt_critical_paths *paths, const struct pt_thread *thread,
                                  pt_i64 start_ns, pt_i64 end_ns);
/* How much of it is the stage's critical time: of the main thread while the process is on the path, but for what it
 * hands to another one; of that other one. */
static inline pt_i64 pt_path_critical_ns(const struct pt_critical_paths *paths, const struct pt_thread *thread,
                                         pt_i64 start_ns, pt_i64 end_ns)
{
    const struct pt_path_process *own = &paths->processes[thread->process->index];
    if (own->on_path_ns <= 0)
        return 0;
    if (own->is_whole && !own->threads.n)
        return thread == pt_main_thread(thread->process) ? end_ns - start_ns : 0;
    return pt_path_critical_pieces_ns(paths, thread, start_ns, end_ns);
}
/* How much of it the main thread hands to another one, on the stage's path: of the main one, all of that; of another
 * one, what is handed to it. */
pt_i64 pt_path_helper_ns(const struct pt_critical_paths *paths, const struct pt_thread *thread, pt_i64 start_ns,
                         pt_i64 end_ns);
/* Mostly waiting for a child, as a launcher does. */
static inline bool pt_path_is_handed(const struct pt_critical_paths *paths, const struct pt_event *event)
{
    const struct pt_path_process *process = &paths->processes[event->process->index];
    return process->windows.n &&
           2 * pt_path_handed_ns(paths, event->process, event->start_ns, event->start_ns + event->duration_ns) >
               event->duration_ns;
}

/* A thread of the CPU profile of a stage. */
struct pt_path_thread {
    const struct pt_process *process; /* whose main thread it is; NULL = of none that was traced */
    const struct pt_thread *helper;   /* it is another one, which works for a main thread; NULL = it is none */
    double share;                     /* of its life that is on the path or handed to children; 0 = none */
};
/* By number in the profile; the caller frees it. Where nothing of the stage was traced: the command's main thread. */
struct pt_path_thread *pt_path_threads(const struct pt_facts *facts, pt_u32 stage);
/* Is it critical at a time of that part? When a launcher waits for a child, its child is, but it is the launcher that
 * waits for one. */
bool pt_path_thread_is_critical(const struct pt_facts *facts, const struct pt_path_thread *thread, pt_i64 start_ns,
                                pt_i64 end_ns, enum pt_time_part part);

#endif
