/* SPDX-License-Identifier: MIT
 *
 * exec.c - hooks of the exec family and of posix_spawn.
 *
 * Entered by any thread, in forked children and in vfork children that run in their parent's memory. All that is known
 * of the process is in the file before the call, because a successful exec does not return. Never changes the
 * environment, except for a program that would break or print an error with our library in it.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include "core/names/fd_table.h"
#include "core/process.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "hooks/file/sandbox.h"
#include "hooks/hook.h"
#include "exec.h"
#include "spawn_place.h"

CUSTOM_RAW(int, execve, (const char *path, char *const *argv, char *const *envp), (path, argv, envp))
CUSTOM_RAW(int, execv, (const char *path, char *const *argv), (path, argv))
CUSTOM_RAW(int, execvp, (const char *name, char *const *argv), (name, argv))
CUSTOM_RAW(int, execvpe, (const char *name, char *const *argv, char *const *envp), (name, argv, envp))
CUSTOM_RAW(int, fexecve, (int fd, char *const *argv, char *const *envp), (fd, argv, envp))
CUSTOM_RAW(int, execveat, (int dir, const char *path, char *const *argv, char *const *envp, int flags),
           (dir, path, argv, envp, flags))
CUSTOM_RAW(int, posix_spawn,
           (pid_t * pid, const char *path, const void *actions, const void *attributes, char *const *argv,
            char *const *envp),
           (pid, path, actions, attributes, argv, envp))
CUSTOM_RAW(int, posix_spawnp,
           (pid_t * pid, const char *name, const void *actions, const void *attributes, char *const *argv,
            char *const *envp),
           (pid, name, actions, attributes, argv, envp))

void pt_exec_find_functions(void)
{
    PT_RESOLVE(execve);
    PT_RESOLVE(execv);
    PT_RESOLVE(execvp);
}

/* What has to be undone if the exec returns. */
struct attempt {
    struct pt_environment environment;
    pt_u32 path;
    int fd;
    int speaks_for_process;
    int leaves_sandbox; /* as a vfork child that has one of its own */
};

static struct pt_environment environment_for(const struct pt_target *target, char *const *envp)
{
    const int needs_clean = pt_target_needs_clean_environment(target);
    const int is_asked = !needs_clean && pt_may_call();
    const enum pt_loading loading = is_asked ? pt_environment_loading(envp) : PT_LOADING_US;
    pt_target_report(target, loading);
    if (needs_clean || loading == PT_LOADING_MISSING)
        return pt_environment_without_us(envp);
    if (is_asked && pt_environment_needs_path(envp))
        return pt_environment_by_path(envp);
    return (struct pt_environment){envp, 0};
}

static PT_NOINLINE struct attempt exec_begins(struct pt_target target, int fd, char *const *envp)
{
    const int is_vfork_child = pt_sandbox_is_of_vfork_child() || pt_process_is_vfork_child();
    struct attempt attempt = {environment_for(&target, envp), target.path, fd, !is_vfork_child, 0};
    if (pt_switches.io)
        pt_point(PT_EV_proc_exec, 0, fd, pt_words(attempt.path, 0), 0);
    if (is_vfork_child || pt_process_may_be_vfork_child())
        pt_environment_leave(&attempt.environment);
    if (attempt.speaks_for_process)
        pt_process_note_end(PT_PROCESS_EXECED, 0);
    else
        pt_fd_vfork_child_leaves();
    attempt.leaves_sandbox = pt_sandbox_vfork_child_leaves();
    return attempt;
}

static PT_NOINLINE int exec_failed(const struct attempt *attempt, int ret)
{
    if (attempt->leaves_sandbox)
        pt_sandbox_vfork_child_stays();
    if (attempt->speaks_for_process)
        pt_process_note_alive();
    if (pt_switches.io)
        pt_point(PT_EV_proc_exec_failed, 0, attempt->fd, pt_words((pt_u32)-pt_errno(), attempt->path), 0);
    pt_environment_release(&attempt->environment);
    return ret;
}

int hook_execve(const char *path, char *const *argv, char *const *envp)
{
    if (pt_unlikely(!pt_switches.starts))
        return real_execve(path, argv, envp);
    const struct attempt attempt = exec_begins(pt_target_at(AT_FDCWD, path, 0), -1, envp);
    return exec_failed(&attempt, real_execve(path, argv, attempt.environment.vector));
}

int hook_execv(const char *path, char *const *argv)
{
    if (pt_unlikely(!pt_switches.starts))
        return real_execv(path, argv);
    const struct attempt attempt = exec_begins(pt_target_at(AT_FDCWD, path, 0), -1, environ);
    if (attempt.environment.bytes)
        return exec_failed(&attempt, real_execve(path, argv, attempt.environment.vector));
    return exec_failed(&attempt, real_execv(path, argv));
}

int hook_execvp(const char *name, char *const *argv)
{
    if (pt_unlikely(!pt_switches.starts))
        return real_execvp(name, argv);
    const struct attempt attempt = exec_begins(pt_target_search(name), -1, environ);
    if (attempt.environment.bytes)
        return exec_failed(&attempt, real_execvpe(name, argv, attempt.environment.vector));
    return exec_failed(&attempt, real_execvp(name, argv));
}

int hook_execvpe(const char *name, char *const *argv, char *const *envp)
{
    if (pt_unlikely(!pt_switches.starts))
        return real_execvpe(name, argv, envp);
    const struct attempt attempt = exec_begins(pt_target_search(name), -1, envp);
    return exec_failed(&attempt, real_execvpe(name, argv, attempt.environment.vector));
}

int hook_fexecve(int fd, char *const *argv, char *const *envp)
{
    if (pt_unlikely(!pt_switches.starts))
        return real_fexecve(fd, argv, envp);
    struct pt_target target = pt_target_at(fd, "", AT_EMPTY_PATH);
    target.path = pt_fd_path(fd);
    const struct attempt attempt = exec_begins(target, fd, envp);
    return exec_failed(&attempt, real_fexecve(fd, argv, attempt.environment.vector));
}

int hook_execveat(int dir, const char *path, char *const *argv, char *const *envp, int flags)
{
    if (pt_unlikely(!pt_switches.starts))
        return real_execveat(dir, path, argv, envp, flags);
    const struct attempt attempt = exec_begins(pt_target_at(dir, path, flags), pt_dir_tag(dir), envp);
    return exec_failed(&attempt, real_execveat(dir, path, argv, attempt.environment.vector, flags));
}

/* ---- execl, execlp, execle ---- */

static pt_u64 count_arguments(const char *first, va_list values)
{
    pt_u64 count = 0;
    for (const char *argument = first; argument; argument = va_arg(values, const char *))
        count++;
    return count;
}

/* Fills `vector` with the arguments and the NULL behind them. */
static void collect_arguments(char **vector, const char *first, va_list *values)
{
    const char *argument = first;
    for (; argument; argument = va_arg(*values, const char *))
        *vector++ = (char *)(pt_u64)argument;
    *vector = 0;
}

/* The arguments become a vector on the stack, however many they are. libc's own functions, which are not called, do
 * the same, so the host needs no more stack than without us. `call` may take one more argument from `values`. */
#define EXEC_LIST(name, call)                                                                                          \
    PT_EXPORT int hook_##name(const char *path, const char *first, ...) __asm__(#name);                                \
    int hook_##name(const char *path, const char *first, ...)                                                          \
    {                                                                                                                  \
        va_list values;                                                                                                \
        va_start(values, first);                                                                                       \
        const pt_u64 count = count_arguments(first, values);                                                           \
        va_end(values);                                                                                                \
        char **argv = __builtin_alloca((count + 1) * sizeof *argv);                                                    \
        va_start(values, first);                                                                                       \
        collect_arguments(argv, first, &values);                                                                       \
        const int ret = call;                                                                                          \
        va_end(values);                                                                                                \
        return ret;                                                                                                    \
    }

EXEC_LIST(execl, hook_execv(path, argv))
EXEC_LIST(execlp, hook_execvp(path, argv))
EXEC_LIST(execle, hook_execve(path, argv, va_arg(values, char *const *)))

/* ---- posix_spawn: returns the error; the child runs no hook, libc makes it ---- */

static PT_NOINLINE void spawned(pt_u64 start, pt_u64 end, const struct pt_target *target, const pid_t *pid, int error)
{
    const pt_i32 child = error ? -error : pid ? *pid : 0;
    if (pt_switches.io)
        pt_spent(PT_EV_proc_spawn, start, end, 0, pt_words((pt_u32)child, target->path), 0);
}

int hook_posix_spawn(pid_t *pid, const char *path, const void *actions, const void *attributes, char *const *argv,
                     char *const *envp)
{
    if (pt_unlikely(!pt_switches.starts))
        return real_posix_spawn(pid, path, actions, attributes, argv, envp);
    const struct pt_target target = pt_target_of_spawn(path, actions);
    const struct pt_environment environment = environment_for(&target, envp);
    const pt_u64 start = pt_clock();
    const int error = real_posix_spawn(pid, path, actions, attributes, argv, environment.vector);
    spawned(start, pt_clock(), &target, pid, error);
    pt_environment_release(&environment);
    return error;
}

int hook_posix_spawnp(pid_t *pid, const char *name, const void *actions, const void *attributes, char *const *argv,
                      char *const *envp)
{
    if (pt_unlikely(!pt_switches.starts))
        return real_posix_spawnp(pid, name, actions, attributes, argv, envp);
    const struct pt_target target = pt_target_of_spawn_search(name, actions);
    const struct pt_environment environment = environment_for(&target, envp);
    const pt_u64 start = pt_clock();
    const int error = real_posix_spawnp(pid, name, actions, attributes, argv, environment.vector);
    spawned(start, pt_clock(), &target, pid, error);
    pt_environment_release(&environment);
    return error;
}
