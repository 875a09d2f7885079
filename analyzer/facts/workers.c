/* SPDX-License-Identifier: MIT
 *
 * Owns: which process is a worker. Threads: any. Never: counts a command that a program runs as a worker.
 */
#include "workers.h"

#include <string.h>

#include "python.h"
#include "util/mem.h"
#include "util/text/path.h"

static bool has_argument(const struct pt_process *process, const char *text)
{
    for (int i = 1; i < process->argc && i < 8; i++)
        if (strstr(process->argv[i], text))
            return true;
    return false;
}

/* As "multiprocessing.spawn", or that of multiprocess, as data sets of Hugging Face use it. */
static bool runs_module(const struct pt_process *process, const char *of_multiprocessing, const char *of_multiprocess)
{
    return has_argument(process, of_multiprocessing) || has_argument(process, of_multiprocess);
}

/* Not its resource tracker. */
static bool is_spawned_by_multiprocessing(const struct pt_process *process)
{
    return has_argument(process, "--multiprocessing-fork") ||
           runs_module(process, "multiprocessing.spawn", "multiprocess.spawn") ||
           has_argument(process, "loky.backend.popen_loky"); /* joblib's, scikit-learn's */
}

/* Its copies, which are the workers, have its arguments. */
static bool is_forkserver(const struct pt_process *process)
{
    static const char name[] = "multiprocessing.forkserver", other_name[] = "multiprocess.forkserver";
    return runs_module(process, name, other_name) && process->parent && !runs_module(process->parent, name, other_name);
}

bool pt_is_of_multiprocessing(const struct pt_process *process)
{
    return is_forkserver(process) ||
           runs_module(process, "multiprocessing.resource_tracker", "multiprocess.resource_tracker") ||
           has_argument(process, "loky.backend.resource_tracker");
}

const struct pt_process *pt_maker_of(const struct pt_process *process)
{
    const struct pt_process *parent = process->parent;
    return parent && is_forkserver(parent) ? parent->parent : parent;
}

/* A copy has its parent's arguments; the program's path is not compared: links on the way to it may be resolved. */
static bool has_arguments_of(const struct pt_process *process, const struct pt_process *parent)
{
    if (process->argc != parent->argc || process->true_argc != parent->true_argc || !process->argc)
        return false;
    for (int i = 0; i < process->argc; i++)
        if (strcmp(process->argv[i], parent->argv[i]))
            return false;
    return true;
}

bool pt_find_worker(const struct pt_process *process)
{
    const struct pt_process *parent = process->parent;
    if (!parent || parent->pid == process->pid || process->state == PT_PROCESS_EXECED)
        return false;
    if (is_spawned_by_multiprocessing(process)) /* by vfork, as a rule: then there is no image before */
        return true;
    return !process->previous_image && !process->left_image && has_arguments_of(process, parent);
}

/* The store of a launcher of ranks, where they meet. */
static bool is_rank_of(const struct pt_process *process, const struct pt_process *launcher)
{
    return process->parent == launcher && process->rank >= 0 && launcher->rank < 0;
}

static bool are_same_program(const struct pt_process *one, const struct pt_process *other)
{
    return has_arguments_of(one, other) && !strcmp(one->exe ? one->exe : "", other->exe ? other->exe : "?");
}

bool pt_are_peers(const struct pt_process *one, const struct pt_process *other)
{
    if (is_rank_of(one, other) || is_rank_of(other, one))
        return true;
    if (one->pid == other->pid || other->parent == one || one->parent == other)
        return false;
    const bool are_siblings = one->parent && one->parent == other->parent;
    return (are_siblings && pt_is_worker(one) && pt_is_worker(other)) || are_same_program(one, other);
}

bool *pt_have_workers(const struct pt_session *session)
{
    bool *have = pt_calloc(session->n_processes + 1, sizeof *have);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *maker =
            pt_is_worker(session->processes[i]) ? pt_maker_of(session->processes[i]) : NULL;
        if (maker)
            have[maker->index] = true;
    }
    return have;
}

bool pt_runs_scripts(const struct pt_process *process)
{
    static const char *const names[] = {"sh", "dash", "bash", "zsh", "ksh", "mksh", "ash", "busybox", "xargs", "find"};
    const char *name = pt_base_name(process->exe ? process->exe : process->comm ? process->comm : "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

bool pt_is_pause(const struct pt_process *process)
{
    static const char name[] = "sleep";
    return process->exe && !strcmp(pt_base_name(process->exe), name) && process->argc > 0 &&
           !strcmp(pt_base_name(process->argv[0]), name);
}

static bool names_a_script(const char *word)
{
    static const char *const ends[] = {".py", ".sh", ".pl", ".rb", ".R", ".js", ".jl"};
    const char *dot = strrchr(word, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(dot, ends[i]))
            return true;
    return false;
}

/* "gcc-12" is gcc, "git-remote-https" git. */
static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strncmp(name, *names, strlen(*names))) {
            const char next = name[strlen(*names)];
            if (!next || strchr("-.0123456789", next))
                return true;
        }
    return false;
}

bool pt_has_steps_of_its_own(const struct pt_process *process)
{
    static const char *const names[] = {"cmake", "git", "dpkg", "apt",   "rsync",   "cc",
                                        "c++",   "gcc", "g++",  "clang", "clang++", NULL};
    return is_one_of(pt_base_name(process->exe ? process->exe : ""), names);
}

const char *pt_script_of(const struct pt_process *process)
{
    const char *first = NULL;
    for (int i = 1; i < process->argc && i < 8; i++) {
        const char *word = process->argv[i];
        if (names_a_script(word))
            return word;
        if (!first && (!strcmp(word, "-m") || !strcmp(word, "-c")) && i + 1 < process->argc)
            return process->argv[i + 1];
        if (!first && *word != '-')
            first = word;
    }
    /* A command that a package has installed is a script of Python without that in its name. */
    const bool is_python = process->exe && !strncmp(pt_base_name(process->exe), "python", 6);
    return is_python && first ? first : "";
}

static double waited_for_children_ns(const struct pt_process *process)
{
    return (double)pt_totals_of(process->totals, PT_KIND_wait_child)->ns;
}

enum { MOST_GENERATIONS = 16 }; /* a trace may say anything of who is whose parent */

/* Of a command that is a script of a shell the shell can say no more than who called it. */
bool *pt_wait_for_waiters(const struct pt_session *session)
{
    bool *waits = pt_calloc(session->n_processes + 1, sizeof *waits);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i], *parent = process->parent;
        const double ns = waited_for_children_ns(process);
        if (!ns || !(pt_is_worker(process) || pt_process_has_python(process)))
            continue;
        for (int n = 0; parent && n < MOST_GENERATIONS && ns > waited_for_children_ns(parent) / 2; n++) {
            waits[parent->index] = true;
            parent = parent->parent;
        }
    }
    return waits;
}
